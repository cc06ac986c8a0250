//! The state of a connection of version 2.

use std::sync::OnceLock;

use agentwire_acp_schema::v2::{InitializeRequest, InitializeResponse};

use super::sessions::Sessions;

/// The state of a connection, shared by all its handles.
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    /// Empty until `initialize` has succeeded.
    pub(crate) handshake: OnceLock<Handshake>,
    pub(crate) sessions: Sessions,
}

/// The params and the answer of `initialize`.
#[derive(Debug)]
pub(crate) struct Handshake {
    pub(crate) client: InitializeRequest,
    pub(crate) agent: InitializeResponse,
}
