//! The state of a connection of version 1.

use std::sync::OnceLock;

use agentwire_acp_schema::v1::{ClientCapabilities, InitializeRequest, InitializeResponse};

use crate::turns::Turns;

/// The state of a connection, shared by all its handles.
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    /// Empty until `initialize` has succeeded.
    pub(crate) handshake: OnceLock<Handshake>,
    pub(crate) turns: Turns,
}

/// The params and the answer of `initialize`.
#[derive(Debug)]
pub(crate) struct Handshake {
    pub(crate) client: InitializeRequest,
    pub(crate) agent: InitializeResponse,
}

impl Handshake {
    /// Returns the capabilities of the client.
    pub(crate) fn client_capabilities(&self) -> &ClientCapabilities {
        &self.client.client_capabilities
    }
}
