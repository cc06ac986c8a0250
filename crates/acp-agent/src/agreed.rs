use std::sync::OnceLock;

use agentwire_acp_schema::v1::{ClientCapabilities, InitializeRequest, InitializeResponse};

use crate::turns::Turns;

/// What a connection knows.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// None until `initialize` has succeeded.
    pub(crate) agreed: OnceLock<Agreed>,
    pub(crate) turns: Turns,
}

/// What both sides have said in `initialize`.
#[derive(Debug)]
pub(crate) struct Agreed {
    pub(crate) client: InitializeRequest,
    pub(crate) agent: InitializeResponse,
}

impl Agreed {
    pub(crate) fn client_can(&self) -> &ClientCapabilities {
        &self.client.client_capabilities
    }
}
