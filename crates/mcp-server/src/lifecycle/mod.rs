//! Decides about requests, in the two forms of the protocol: sessions, and requests that stand alone.

pub(crate) mod stateful;
pub(crate) mod stateless;
