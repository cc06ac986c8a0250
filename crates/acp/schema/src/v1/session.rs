//! The params and results of `session/new`, `session/load` and `session/resume`.

pub(crate) mod config_option;
pub(crate) mod list;
pub(crate) mod mode;
pub(crate) mod set_config_option;

use std::path::PathBuf;

use agentwire_wire_derive::{Build, Wire};

use super::{McpServer, SessionConfigOption, SessionModeState};
use crate::common::{Meta, SessionId};

/// `session/new`: begins a session.
///
/// The agent may refuse with [`AUTH_REQUIRED`](super::error_code::AUTH_REQUIRED). See
/// <https://agentclientprotocol.com/protocol/v1/session-setup>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct NewSessionRequest {
    /// The directory to work in, an absolute path.
    #[wire(required)]
    pub cwd: PathBuf,
    /// Further roots of the workspace, absolute paths. They widen the accessible files; relative paths still start at
    /// [`cwd`](Self::cwd). Only where the agent has the capability `sessionCapabilities.additionalDirectories`.
    #[wire(list)]
    pub additional_directories: Vec<PathBuf>,
    /// The MCP servers to connect to. Always written, also when empty.
    #[wire(required_list)]
    pub mcp_servers: Vec<McpServer>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The answer to `session/new`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct NewSessionResponse {
    /// The session's id.
    #[wire(required)]
    pub session_id: SessionId,
    /// The modes, if the agent has any.
    #[wire(lenient)]
    pub modes: Option<SessionModeState>,
    /// The configuration options, if the agent has any.
    #[wire(optional_items)]
    pub config_options: Option<Vec<SessionConfigOption>>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// `session/load`: continues a stored session. The agent replays the whole conversation as `session/update` before it answers.
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
    /// The directory to work in, an absolute path: the one with which the session began.
    #[wire(required)]
    pub cwd: PathBuf,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The answer to `session/load`: the replay has ended.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct LoadSessionResponse {
    /// The modes, if the agent has any.
    #[wire(lenient)]
    pub modes: Option<SessionModeState>,
    /// The configuration options, if the agent has any.
    #[wire(optional_items)]
    pub config_options: Option<Vec<SessionConfigOption>>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// `session/resume`: continues a stored session without a replay.
///
/// Only where the agent has the capability `sessionCapabilities.resume`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ResumeSessionRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The directory to work in, an absolute path: the one with which the session began.
    #[wire(required)]
    pub cwd: PathBuf,
    /// All further roots that the session has from now on, absolute paths.
    #[wire(list)]
    pub additional_directories: Vec<PathBuf>,
    /// The MCP servers to connect to.
    #[wire(list)]
    pub mcp_servers: Vec<McpServer>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The answer to `session/resume`.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ResumeSessionResponse {
    /// The modes, if the agent has any.
    #[wire(lenient)]
    pub modes: Option<SessionModeState>,
    /// The configuration options, if the agent has any.
    #[wire(optional_items)]
    pub config_options: Option<Vec<SessionConfigOption>>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
