//! The endpoints of the authorization server.

pub(crate) mod authorize;
pub(crate) mod client_auth;
pub(crate) mod dpop;
pub(crate) mod grants;
pub(crate) mod keys;
pub(crate) mod metadata;
pub(crate) mod register;
pub(crate) mod status;
pub(crate) mod token;
