//! The params and results of `session/delete` and `session/close`, and two session capabilities that both versions share.

pub(crate) mod config_option;
pub(crate) mod mcp_server;

use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, SessionId, empty_object, marker_capability};

/// `session/delete`: removes a session from the list. An unknown session should be no error.
///
/// Only if the agent has the capability `delete` for sessions.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct DeleteSessionRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for DeleteSessionRequest {
    const NAME: &'static str = "session/delete";
    type Response = DeleteSessionResponse;
}

/// `session/close`: stops the session's work, as `session/cancel` does, and frees its resources.
///
/// In version 1 only if the agent has the capability `sessionCapabilities.close`. In version 2 every agent with sessions
/// answers it.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CloseSessionRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for CloseSessionRequest {
    const NAME: &'static str = "session/close";
    type Response = CloseSessionResponse;
}

empty_object! {
    /// The answer to `session/delete`.
    DeleteSessionResponse,
    /// The answer to `session/close`.
    CloseSessionResponse,
}

marker_capability! {
    /// The agent answers `session/delete`.
    SessionDeleteCapabilities,
    /// The agent accepts further roots.
    SessionAdditionalDirectoriesCapabilities,
}
