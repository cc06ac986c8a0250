//! Checks of an agent up to its first session: messages, initialization and authentication.

pub(super) mod authentication;
pub(super) mod initialization;
pub(crate) mod jsonrpc;
pub(super) mod transport;
