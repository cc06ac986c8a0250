use std::path::PathBuf;

use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};

use super::McpServer;
use crate::common::unstable::{
    ArchiveFilterAddition, ArchivedAddition, Draft, SessionStatus, Unchanged, UsageAddition, session_types,
};
use crate::common::{Meta, SessionId};
use crate::v1::{self, ContentBlock, SessionConfigOption, SessionModeState};

session_types! {}

/// The answer to `session/status`: how it was just now.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionStatusResponse {
    /// Whether the agent has it in memory.
    #[wire(required)]
    pub status: SessionStatus,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// `session/fork`: begin a conversation with all that an old one has in its context, and leave the old one as it is.
///
/// Only where the agent has the capability `sessionCapabilities.fork`. A draft.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ForkSessionRequest {
    /// The old session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The directory to work in, an absolute path.
    #[wire(required)]
    pub cwd: PathBuf,
    /// All further roots that the new session has, absolute paths.
    #[wire(list)]
    pub additional_directories: Vec<PathBuf>,
    /// The MCP servers to connect to.
    #[wire(list)]
    pub mcp_servers: Vec<McpServer>,
    /// Instructions for the new session. Send those that the old one was made with.
    #[wire(optional)]
    pub system_prompt: Option<SystemPrompt>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for ForkSessionRequest {
    const NAME: &'static str = "session/fork";
    type Response = ForkSessionResponse;
}

/// The answer to `session/fork`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ForkSessionResponse {
    /// What every later message calls the new session.
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

/// `session/new` with a system prompt.
pub type NewSessionRequest = Draft<v1::NewSessionRequest, SystemPromptAddition>;

impl RequestMethod for NewSessionRequest {
    const NAME: &'static str = v1::NewSessionRequest::NAME;
    type Response = v1::NewSessionResponse;
}

/// `session/load` with a system prompt.
pub type LoadSessionRequest = Draft<v1::LoadSessionRequest, SystemPromptAddition>;

impl RequestMethod for LoadSessionRequest {
    const NAME: &'static str = v1::LoadSessionRequest::NAME;
    type Response = v1::LoadSessionResponse;
}

/// `session/resume` with a system prompt.
pub type ResumeSessionRequest = Draft<v1::ResumeSessionRequest, SystemPromptAddition>;

impl RequestMethod for ResumeSessionRequest {
    const NAME: &'static str = v1::ResumeSessionRequest::NAME;
    type Response = v1::ResumeSessionResponse;
}

/// `session/list` with a filter for archived sessions.
pub type ListSessionsRequest = Draft<v1::ListSessionsRequest, ArchiveFilterAddition>;

impl RequestMethod for ListSessionsRequest {
    const NAME: &'static str = v1::ListSessionsRequest::NAME;
    type Response = ListSessionsResponse;
}

/// The answer to `session/list` that tells which sessions are archived: one page.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ListSessionsResponse {
    /// The sessions of this page.
    #[wire(required_items)]
    pub sessions: Vec<SessionInfo>,
    /// Where the next page begins; none after the last. Only the agent knows what it means.
    #[wire(lenient)]
    pub next_cursor: Option<String>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A session in a list, and whether it is archived.
pub type SessionInfo = Draft<v1::SessionInfo, ArchivedAddition>;

/// `session/prompt` as it is, for an answer that tells how many tokens were used.
pub type PromptRequest = Draft<v1::PromptRequest, Unchanged>;

impl RequestMethod for PromptRequest {
    const NAME: &'static str = v1::PromptRequest::NAME;
    type Response = PromptResponse;
}

/// The answer to `session/prompt` that tells how many tokens the turn has used.
pub type PromptResponse = Draft<v1::PromptResponse, UsageAddition>;
