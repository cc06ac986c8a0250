use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, SessionId, empty_object, marker_capability};

/// `session/delete`: take a conversation off the list. One that is not there should be no error.
///
/// Only where the agent says in its capabilities for sessions that it can.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct DeleteSessionRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for DeleteSessionRequest {
    const NAME: &'static str = "session/delete";
    type Response = DeleteSessionResponse;
}

/// `session/close`: stop what the session does, as `session/cancel` would, and free what it holds.
///
/// In version 1 only where the agent has the capability `sessionCapabilities.close`; in version 2 every agent with sessions
/// can.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CloseSessionRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// Free room: its keys belong to whoever sent them.
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
    /// That an agent answers `session/delete`.
    SessionDeleteCapabilities,
    /// That an agent takes further roots.
    SessionAdditionalDirectoriesCapabilities,
}
