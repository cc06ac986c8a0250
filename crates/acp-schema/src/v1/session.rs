use std::path::PathBuf;

use agentwire_jsonrpc::Method;

use super::{McpServer, SessionConfigOption, SessionModeState};
use crate::common::SessionId;
use crate::wire::object;

object! {
    /// `session/new`: begin a conversation.
    ///
    /// The agent may refuse with [`AUTH_REQUIRED`](super::error_code::AUTH_REQUIRED). See
    /// <https://agentclientprotocol.com/protocol/v1/session-setup>.
    NewSessionRequest {
        /// The directory to work in, an absolute path.
        required cwd: PathBuf,
        /// Further roots of the workspace, absolute paths. They widen what may be touched; relative paths still start at
        /// [`cwd`](Self::cwd). Only where the agent has the capability `sessionCapabilities.additionalDirectories`.
        list additional_directories: Vec<PathBuf>,
        /// The MCP servers to connect to. Always written, also when empty.
        required_list mcp_servers: Vec<McpServer>,
        meta,
    }
}

impl Method for NewSessionRequest {
    const NAME: &'static str = "session/new";
    type Response = NewSessionResponse;
}

object! {
    /// The answer to `session/new`.
    NewSessionResponse {
        /// What every later message calls the session.
        required session_id: SessionId,
        /// The modes, where the agent has any.
        lenient modes: Option<SessionModeState>,
        /// The configuration options, where the agent has any.
        optional_items config_options: Option<Vec<SessionConfigOption>>,
        meta,
    }
}

object! {
    /// `session/load`: take up an old conversation; the agent replays all of it as `session/update` before it answers.
    ///
    /// Only where the agent has the capability `loadSession`. See
    /// <https://agentclientprotocol.com/protocol/v1/session-setup#loading-sessions>.
    LoadSessionRequest {
        /// The MCP servers to connect to. Always written, also when empty.
        required_list mcp_servers: Vec<McpServer>,
        /// The session.
        required session_id: SessionId,
        /// All further roots that the session has from now on, absolute paths.
        list additional_directories: Vec<PathBuf>,
        /// The directory to work in, an absolute path: the one that the session was made with.
        required cwd: PathBuf,
        meta,
    }
}

impl Method for LoadSessionRequest {
    const NAME: &'static str = "session/load";
    type Response = LoadSessionResponse;
}

object! {
    /// The answer to `session/load`: the replay is over.
    LoadSessionResponse {
        /// The modes, where the agent has any.
        lenient modes: Option<SessionModeState>,
        /// The configuration options, where the agent has any.
        optional_items config_options: Option<Vec<SessionConfigOption>>,
        meta,
    }
}

object! {
    /// `session/resume`: take up an old conversation without a replay.
    ///
    /// Only where the agent has the capability `sessionCapabilities.resume`.
    ResumeSessionRequest {
        /// The session.
        required session_id: SessionId,
        /// The directory to work in, an absolute path: the one that the session was made with.
        required cwd: PathBuf,
        /// All further roots that the session has from now on, absolute paths.
        list additional_directories: Vec<PathBuf>,
        /// The MCP servers to connect to.
        list mcp_servers: Vec<McpServer>,
        meta,
    }
}

impl Method for ResumeSessionRequest {
    const NAME: &'static str = "session/resume";
    type Response = ResumeSessionResponse;
}

object! {
    /// The answer to `session/resume`.
    ResumeSessionResponse {
        /// The modes, where the agent has any.
        lenient modes: Option<SessionModeState>,
        /// The configuration options, where the agent has any.
        optional_items config_options: Option<Vec<SessionConfigOption>>,
        meta,
    }
}
