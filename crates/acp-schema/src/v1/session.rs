use std::path::PathBuf;

use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};

use super::{McpServer, SessionConfigOption, SessionModeState};
use crate::common::{Meta, SessionId};

/// `session/new`: begin a conversation.
///
/// The agent may refuse with [`AUTH_REQUIRED`](super::error_code::AUTH_REQUIRED). See
/// <https://agentclientprotocol.com/protocol/v1/session-setup>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct NewSessionRequest {
    /// The directory to work in, an absolute path.
    #[wire(required)]
    pub cwd: PathBuf,
    /// Further roots of the workspace, absolute paths. They widen what may be touched; relative paths still start at
    /// [`cwd`](Self::cwd). Only where the agent has the capability `sessionCapabilities.additionalDirectories`.
    #[wire(list)]
    pub additional_directories: Vec<PathBuf>,
    /// The MCP servers to connect to. Always written, also when empty.
    #[wire(required_list)]
    pub mcp_servers: Vec<McpServer>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for NewSessionRequest {
    const NAME: &'static str = "session/new";
    type Response = NewSessionResponse;
}

/// The answer to `session/new`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct NewSessionResponse {
    /// What every later message calls the session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The modes, where the agent has any.
    #[wire(lenient)]
    pub modes: Option<SessionModeState>,
    /// The configuration options, where the agent has any.
    #[wire(optional_items)]
    pub config_options: Option<Vec<SessionConfigOption>>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// `session/load`: take up an old conversation; the agent replays all of it as `session/update` before it answers.
///
/// Only where the agent has the capability `loadSession`. See
/// <https://agentclientprotocol.com/protocol/v1/session-setup#loading-sessions>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct LoadSessionRequest {
    /// The MCP servers to connect to. Always written, also when empty.
    #[wire(required_list)]
    pub mcp_servers: Vec<McpServer>,
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// All further roots that the session has from now on, absolute paths.
    #[wire(list)]
    pub additional_directories: Vec<PathBuf>,
    /// The directory to work in, an absolute path: the one that the session was made with.
    #[wire(required)]
    pub cwd: PathBuf,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for LoadSessionRequest {
    const NAME: &'static str = "session/load";
    type Response = LoadSessionResponse;
}

/// The answer to `session/load`: the replay is over.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct LoadSessionResponse {
    /// The modes, where the agent has any.
    #[wire(lenient)]
    pub modes: Option<SessionModeState>,
    /// The configuration options, where the agent has any.
    #[wire(optional_items)]
    pub config_options: Option<Vec<SessionConfigOption>>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// `session/resume`: take up an old conversation without a replay.
///
/// Only where the agent has the capability `sessionCapabilities.resume`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ResumeSessionRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The directory to work in, an absolute path: the one that the session was made with.
    #[wire(required)]
    pub cwd: PathBuf,
    /// All further roots that the session has from now on, absolute paths.
    #[wire(list)]
    pub additional_directories: Vec<PathBuf>,
    /// The MCP servers to connect to.
    #[wire(list)]
    pub mcp_servers: Vec<McpServer>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for ResumeSessionRequest {
    const NAME: &'static str = "session/resume";
    type Response = ResumeSessionResponse;
}

/// The answer to `session/resume`.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ResumeSessionResponse {
    /// The modes, where the agent has any.
    #[wire(lenient)]
    pub modes: Option<SessionModeState>,
    /// The configuration options, where the agent has any.
    #[wire(optional_items)]
    pub config_options: Option<Vec<SessionConfigOption>>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
