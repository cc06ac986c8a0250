//! Checks of a client up to its first session: messages, initialization and authentication.

pub(super) mod authentication;
mod fields;
pub(super) mod initialization;
pub(super) mod jsonrpc;
pub(super) mod lenient;
pub(super) mod transport;
