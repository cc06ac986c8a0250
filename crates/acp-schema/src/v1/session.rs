use std::path::PathBuf;

use agentwire_jsonrpc::Method;
use serde::{Deserialize, Serialize};

use super::{McpServer, SessionConfigOption, SessionModeState};
use crate::common::lenient::{lenient, null_as_empty, optional_items};
use crate::common::{Meta, SessionId, builder};

/// `session/new`: begin a conversation.
///
/// The agent may refuse with [`AUTH_REQUIRED`](super::error_code::AUTH_REQUIRED). See
/// <https://agentclientprotocol.com/protocol/v1/session-setup>.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NewSessionRequest {
    /// The directory to work in, an absolute path.
    pub cwd: PathBuf,
    /// Further roots of the workspace, absolute paths. They widen what may be touched; relative paths still start at
    /// [`cwd`](Self::cwd). Only where the agent has the capability `sessionCapabilities.additionalDirectories`.
    #[serde(default, deserialize_with = "null_as_empty", skip_serializing_if = "Vec::is_empty")]
    pub additional_directories: Vec<PathBuf>,
    /// The MCP servers to connect to. Always written, also when empty.
    #[serde(deserialize_with = "null_as_empty")]
    pub mcp_servers: Vec<McpServer>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    NewSessionRequest::new(cwd: PathBuf) {
        list additional_directories: PathBuf,
        list mcp_servers: McpServer,
        option meta: Meta,
    }
}

impl Method for NewSessionRequest {
    const NAME: &'static str = "session/new";
    type Response = NewSessionResponse;
}

/// The answer to `session/new`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NewSessionResponse {
    /// What every later message calls the session.
    pub session_id: SessionId,
    /// The modes, where the agent has any.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub modes: Option<SessionModeState>,
    /// The configuration options, where the agent has any.
    #[serde(default, deserialize_with = "optional_items", skip_serializing_if = "Option::is_none")]
    pub config_options: Option<Vec<SessionConfigOption>>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    NewSessionResponse::new(session_id: SessionId) {
        option modes: SessionModeState,
        option_list config_options: SessionConfigOption,
        option meta: Meta,
    }
}

/// `session/load`: take up an old conversation; the agent replays all of it as `session/update` before it answers.
///
/// Only where the agent has the capability `loadSession`. See
/// <https://agentclientprotocol.com/protocol/v1/session-setup#loading-sessions>.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoadSessionRequest {
    /// The MCP servers to connect to. Always written, also when empty.
    #[serde(deserialize_with = "null_as_empty")]
    pub mcp_servers: Vec<McpServer>,
    /// The directory to work in, an absolute path: the one that the session was made with.
    pub cwd: PathBuf,
    /// All further roots that the session has from now on, absolute paths.
    #[serde(default, deserialize_with = "null_as_empty", skip_serializing_if = "Vec::is_empty")]
    pub additional_directories: Vec<PathBuf>,
    /// The session.
    pub session_id: SessionId,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    LoadSessionRequest::new(session_id: SessionId, cwd: PathBuf) {
        list mcp_servers: McpServer,
        list additional_directories: PathBuf,
        option meta: Meta,
    }
}

impl Method for LoadSessionRequest {
    const NAME: &'static str = "session/load";
    type Response = LoadSessionResponse;
}

/// The answer to `session/load`: the replay is over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoadSessionResponse {
    /// The modes, where the agent has any.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub modes: Option<SessionModeState>,
    /// The configuration options, where the agent has any.
    #[serde(default, deserialize_with = "optional_items", skip_serializing_if = "Option::is_none")]
    pub config_options: Option<Vec<SessionConfigOption>>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    LoadSessionResponse::new() {
        option modes: SessionModeState,
        option_list config_options: SessionConfigOption,
        option meta: Meta,
    }
}

/// `session/resume`: take up an old conversation without a replay.
///
/// Only where the agent has the capability `sessionCapabilities.resume`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResumeSessionRequest {
    /// The session.
    pub session_id: SessionId,
    /// The directory to work in, an absolute path: the one that the session was made with.
    pub cwd: PathBuf,
    /// All further roots that the session has from now on, absolute paths.
    #[serde(default, deserialize_with = "null_as_empty", skip_serializing_if = "Vec::is_empty")]
    pub additional_directories: Vec<PathBuf>,
    /// The MCP servers to connect to.
    #[serde(default, deserialize_with = "null_as_empty", skip_serializing_if = "Vec::is_empty")]
    pub mcp_servers: Vec<McpServer>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    ResumeSessionRequest::new(session_id: SessionId, cwd: PathBuf) {
        list additional_directories: PathBuf,
        list mcp_servers: McpServer,
        option meta: Meta,
    }
}

impl Method for ResumeSessionRequest {
    const NAME: &'static str = "session/resume";
    type Response = ResumeSessionResponse;
}

/// The answer to `session/resume`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResumeSessionResponse {
    /// The modes, where the agent has any.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub modes: Option<SessionModeState>,
    /// The configuration options, where the agent has any.
    #[serde(default, deserialize_with = "optional_items", skip_serializing_if = "Option::is_none")]
    pub config_options: Option<Vec<SessionConfigOption>>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    ResumeSessionResponse::new() {
        option modes: SessionModeState,
        option_list config_options: SessionConfigOption,
        option meta: Meta,
    }
}
