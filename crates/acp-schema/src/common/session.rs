use agentwire_jsonrpc::Method;

use crate::common::SessionId;
use crate::wire::{empty_object, marker_capability, object};

object! {
    /// `session/delete`: take a conversation off the list. One that is not there should be no error.
    ///
    /// Only where the agent says in its capabilities for sessions that it can.
    DeleteSessionRequest {
        /// The session.
        required session_id: SessionId,
        meta,
    }
}

impl Method for DeleteSessionRequest {
    const NAME: &'static str = "session/delete";
    type Response = DeleteSessionResponse;
}

object! {
    /// `session/close`: stop what the session does, as `session/cancel` would, and free what it holds.
    ///
    /// In version 1 only where the agent has the capability `sessionCapabilities.close`; in version 2 every agent with sessions
    /// can.
    CloseSessionRequest {
        /// The session.
        required session_id: SessionId,
        meta,
    }
}

impl Method for CloseSessionRequest {
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
