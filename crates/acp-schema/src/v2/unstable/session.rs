use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};

use super::{McpServer, StateUpdate};
use crate::common::unstable::{ArchiveFilterAddition, ArchivedAddition, Draft, SessionStatus, session_types};
use crate::common::{Meta, SessionId};
use crate::v2::{self, AbsolutePath, AvailableCommand, ContentBlock, SessionConfigOption, SessionListCursor};

session_types! {}

/// The answer to `session/status`: how it was just now.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionStatusResponse {
    /// Whether the agent has it in memory.
    #[wire(required)]
    pub status: SessionStatus,
    /// Whether the agent is busy in it, where the agent says so.
    #[wire(lenient)]
    pub state: Option<StateUpdate>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// `session/fork`: begin a conversation with all that an old one has in its context, and leave the old one as it is.
///
/// Only where the agent has the capability `session.fork`. A draft.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ForkSessionRequest {
    /// The old session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The directory to work in.
    #[wire(required)]
    pub cwd: AbsolutePath,
    /// All further roots that the new session has.
    #[wire(list)]
    pub additional_directories: Vec<AbsolutePath>,
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
    /// The configuration options, until an update replaces them.
    #[wire(items)]
    pub config_options: Vec<SessionConfigOption>,
    /// The commands, until an update replaces them.
    #[wire(items)]
    pub available_commands: Vec<AvailableCommand>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// `session/new` with a system prompt.
pub type NewSessionRequest = Draft<v2::NewSessionRequest, SystemPromptAddition>;

impl RequestMethod for NewSessionRequest {
    const NAME: &'static str = v2::NewSessionRequest::NAME;
    type Response = v2::NewSessionResponse;
}

/// `session/resume` with a system prompt.
pub type ResumeSessionRequest = Draft<v2::ResumeSessionRequest, SystemPromptAddition>;

impl RequestMethod for ResumeSessionRequest {
    const NAME: &'static str = v2::ResumeSessionRequest::NAME;
    type Response = v2::ResumeSessionResponse;
}

/// `session/list` with a filter for archived sessions.
pub type ListSessionsRequest = Draft<v2::ListSessionsRequest, ArchiveFilterAddition>;

impl RequestMethod for ListSessionsRequest {
    const NAME: &'static str = v2::ListSessionsRequest::NAME;
    type Response = ListSessionsResponse;
}

/// The answer to `session/list` that tells which sessions are archived: one page.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ListSessionsResponse {
    /// The sessions of this page.
    #[wire(required_items)]
    pub sessions: Vec<SessionInfo>,
    /// Where the next page begins; none after the last.
    #[wire(optional)]
    pub next_cursor: Option<SessionListCursor>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A session in a list, and whether it is archived.
pub type SessionInfo = Draft<v2::SessionInfo, ArchivedAddition>;
