use agentwire_jsonrpc::Method;

use super::{McpServer, StateUpdate};
use crate::common::SessionId;
use crate::common::unstable::{ArchiveFilterAddition, ArchivedAddition, Draft, SessionStatus, session_types};
use crate::v2::{self, AbsolutePath, AvailableCommand, ContentBlock, SessionConfigOption, SessionListCursor};
use crate::wire::object;

session_types! {}

object! {
    /// The answer to `session/status`: how it was just now.
    SessionStatusResponse {
        /// Whether the agent has it in memory.
        required status: SessionStatus,
        /// Whether the agent is busy in it, where the agent says so.
        lenient state: Option<StateUpdate>,
        meta,
    }
}

object! {
    /// `session/fork`: begin a conversation with all that an old one has in its context, and leave the old one as it is.
    ///
    /// Only where the agent has the capability `session.fork`. A draft.
    ForkSessionRequest {
        /// The old session.
        required session_id: SessionId,
        /// The directory to work in.
        required cwd: AbsolutePath,
        /// All further roots that the new session has.
        list additional_directories: Vec<AbsolutePath>,
        /// The MCP servers to connect to.
        list mcp_servers: Vec<McpServer>,
        /// Instructions for the new session. Send those that the old one was made with.
        optional system_prompt: Option<SystemPrompt>,
        meta,
    }
}

impl Method for ForkSessionRequest {
    const NAME: &'static str = "session/fork";
    type Response = ForkSessionResponse;
}

object! {
    /// The answer to `session/fork`.
    ForkSessionResponse {
        /// What every later message calls the new session.
        required session_id: SessionId,
        /// The configuration options, until an update replaces them.
        items config_options: Vec<SessionConfigOption>,
        /// The commands, until an update replaces them.
        items available_commands: Vec<AvailableCommand>,
        meta,
    }
}

/// `session/new` with a system prompt.
pub type NewSessionRequest = Draft<v2::NewSessionRequest, SystemPromptAddition>;

impl Method for NewSessionRequest {
    const NAME: &'static str = v2::NewSessionRequest::NAME;
    type Response = v2::NewSessionResponse;
}

/// `session/resume` with a system prompt.
pub type ResumeSessionRequest = Draft<v2::ResumeSessionRequest, SystemPromptAddition>;

impl Method for ResumeSessionRequest {
    const NAME: &'static str = v2::ResumeSessionRequest::NAME;
    type Response = v2::ResumeSessionResponse;
}

/// `session/list` with a filter for archived sessions.
pub type ListSessionsRequest = Draft<v2::ListSessionsRequest, ArchiveFilterAddition>;

impl Method for ListSessionsRequest {
    const NAME: &'static str = v2::ListSessionsRequest::NAME;
    type Response = ListSessionsResponse;
}

object! {
    /// The answer to `session/list` that tells which sessions are archived: one page.
    ListSessionsResponse {
        /// The sessions of this page.
        required_items sessions: Vec<SessionInfo>,
        /// Where the next page begins; none after the last.
        optional next_cursor: Option<SessionListCursor>,
        meta,
    }
}

/// A session in a list, and whether it is archived.
pub type SessionInfo = Draft<v2::SessionInfo, ArchivedAddition>;
