use agentwire_jsonrpc::Method;

use super::{AbsolutePath, AvailableCommand, McpServer, SessionConfigOption};
use crate::common::SessionId;
use crate::wire::{empty_object, object, tagged_union};

object! {
    /// `session/new`: begin a conversation.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/session-setup#creating-a-session>.
    NewSessionRequest {
        /// The directory to work in.
        required cwd: AbsolutePath,
        /// Further roots of the workspace. They widen what may be touched; relative paths still start at [`cwd`](Self::cwd).
        /// Only where the agent has the capability `session.additionalDirectories`.
        list additional_directories: Vec<AbsolutePath>,
        /// The MCP servers to connect to.
        list mcp_servers: Vec<McpServer>,
        meta,
    }
}

impl Method for NewSessionRequest {
    const NAME: &'static str = "session/new";
    type Response = NewSessionResponse;
}

object! {
    /// The answer to `session/new`. The session is idle unless an update, perhaps before this answer, says otherwise.
    NewSessionResponse {
        /// What every later message calls the session.
        required session_id: SessionId,
        /// The configuration options, until an update replaces them.
        items config_options: Vec<SessionConfigOption>,
        /// The commands, until an update replaces them.
        items available_commands: Vec<AvailableCommand>,
        meta,
    }
}

object! {
    /// `session/resume`: take up an old conversation, with or without a replay of what was said.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/session-setup#current-state-synchronization>.
    ResumeSessionRequest {
        /// The session.
        required session_id: SessionId,
        /// The directory to work in: the one that the session was made with.
        required cwd: AbsolutePath,
        /// All further roots that the session has from now on.
        list additional_directories: Vec<AbsolutePath>,
        /// All MCP servers that the session has from now on.
        list mcp_servers: Vec<McpServer>,
        /// Where the replay begins; none for no replay. What the agent cannot do or read it refuses with
        /// [`INVALID_PARAMS`](super::error_code::INVALID_PARAMS).
        optional replay_from: Option<ReplayFrom>,
        meta,
    }
}

impl Method for ResumeSessionRequest {
    const NAME: &'static str = "session/resume";
    type Response = ResumeSessionResponse;
}

tagged_union! {
    /// Where a replay begins. What it names is replayed too.
    ReplayFrom by "type" {
        /// At the start of all that the agent has kept.
        "start" => Start(ReplayFromStart) from ReplayFromStart,
    }
    else {
        /// Somewhere that this version does not know: the whole object. An agent refuses it, and begins nowhere else instead.
        Unknown
    }
}

impl ReplayFrom {
    /// From the start.
    #[must_use]
    pub fn start() -> Self {
        ReplayFromStart::new().into()
    }
}

empty_object! {
    /// At the start of all that the agent has kept.
    ReplayFromStart,
}

object! {
    /// The answer to `session/resume`: the replay is over. Before it, the agent tells the session's state in an update, also
    /// without a replay.
    ResumeSessionResponse {
        /// The configuration options, until an update replaces them.
        items config_options: Vec<SessionConfigOption>,
        /// The commands, until an update replaces them.
        items available_commands: Vec<AvailableCommand>,
        meta,
    }
}
