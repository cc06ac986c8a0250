//! The params and results of `session/delete` and `session/close`, and two session capabilities that both versions share.

pub(crate) mod config_option;
pub(crate) mod mcp_server;

use crate::common::{empty_object, marker_capability, session_params};

session_params! {
    /// `session/delete`: removes a session from the list. An unknown session should be no error.
    ///
    /// Only if the agent has the capability `delete` for sessions.
    DeleteSessionRequest,
    /// `session/close`: stops the session's work, as `session/cancel` does, and frees its resources.
    ///
    /// In version 1 only if the agent has the capability `sessionCapabilities.close`. In version 2 every agent with sessions
    /// answers it.
    CloseSessionRequest,
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
