//! Decides about requests, in the two forms of the protocol: sessions, and modern requests.

pub(crate) mod legacy;
pub(crate) mod modern;
pub(crate) mod subscription;
