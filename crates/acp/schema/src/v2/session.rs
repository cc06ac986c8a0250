//! The params and results of `session/new` and `session/resume`. `replayFrom` selects whether the agent replays the
//! conversation.

pub(crate) mod config_option;
pub(crate) mod list;
pub(crate) mod set_config_option;

use agentwire_wire_derive::{Build, Wire};

use super::{AbsolutePath, AvailableCommand, McpServer, SessionConfigOption};
use crate::common::{Meta, SessionId, empty_object};

/// `session/new`: begins a session.
///
/// See <https://agentclientprotocol.com/protocol/v2/session-setup#creating-a-session>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct NewSessionRequest {
    /// The directory to work in.
    #[wire(required)]
    pub cwd: AbsolutePath,
    /// Further roots of the workspace. They widen the accessible files; relative paths still start at [`cwd`](Self::cwd).
    /// Only where the agent has the capability `session.additionalDirectories`.
    #[wire(list)]
    pub additional_directories: Vec<AbsolutePath>,
    /// The MCP servers to connect to.
    #[wire(list)]
    pub mcp_servers: Vec<McpServer>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The answer to `session/new`. The session is idle unless an update, which may precede this answer, has another state.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct NewSessionResponse {
    /// The session's id.
    #[wire(required)]
    pub session_id: SessionId,
    /// The configuration options, until an update replaces them.
    #[wire(items)]
    pub config_options: Vec<SessionConfigOption>,
    /// The commands, until an update replaces them.
    #[wire(items)]
    pub available_commands: Vec<AvailableCommand>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// `session/resume`: continues a stored session, with or without a replay of the conversation.
///
/// See <https://agentclientprotocol.com/protocol/v2/session-setup#current-state-synchronization>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ResumeSessionRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The directory to work in: the one with which the session began.
    #[wire(required)]
    pub cwd: AbsolutePath,
    /// All further roots that the session has from now on.
    #[wire(list)]
    pub additional_directories: Vec<AbsolutePath>,
    /// All MCP servers that the session has from now on.
    #[wire(list)]
    pub mcp_servers: Vec<McpServer>,
    /// The beginning of the replay. `None` for no replay. The agent refuses an unknown or unsupported beginning with
    /// [`INVALID_PARAMS`](super::error_code::INVALID_PARAMS).
    #[wire(optional)]
    pub replay_from: Option<ReplayFrom>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The beginning of a replay, inclusive.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum ReplayFrom {
    /// At the start of the stored conversation.
    #[wire("start", from)]
    Start(ReplayFromStart),
    /// A beginning that this version does not know: the whole object. An agent refuses it.
    #[wire(unknown)]
    Unknown(Meta),
}

impl ReplayFrom {
    /// Begins at the start.
    #[must_use]
    pub fn start() -> Self {
        ReplayFromStart::new().into()
    }
}

empty_object! {
    /// At the start of the stored conversation.
    ReplayFromStart,
}

/// The answer to `session/resume`: the replay has ended. Before it, the agent sends the session's state in an update, also
/// without a replay.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ResumeSessionResponse {
    /// The configuration options, until an update replaces them.
    #[wire(items)]
    pub config_options: Vec<SessionConfigOption>,
    /// The commands, until an update replaces them.
    #[wire(items)]
    pub available_commands: Vec<AvailableCommand>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
