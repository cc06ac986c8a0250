//! The params and results of `session/status` and `session/fork`. Also the session methods of version 2 with draft members in
//! params or results.

use agentwire_wire_derive::{Build, Wire};

use super::{McpServer, StateUpdate};
use crate::common::unstable::{
    ArchiveFilterAddition, ArchivedAddition, SessionStatus, WithAdditions, draft_requests, session_types,
};
use crate::common::{Meta, SessionId};
use crate::v2::{self, AbsolutePath, AvailableCommand, ContentBlock, SessionConfigOption, SessionListCursor};

session_types! { path: AbsolutePath }

/// The answer to `session/status`: how it was just now.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionStatusResponse {
    /// The place of the session: in memory or stored.
    #[wire(required)]
    pub status: SessionStatus,
    /// The activity of the agent in it, if the agent reports it.
    #[wire(lenient)]
    pub state: Option<StateUpdate>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The answer to `session/fork`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ForkSessionResponse {
    /// The new session's id.
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

draft_requests! {
    /// `session/new` with a system prompt.
    v2::NewSessionRequest + SystemPromptAddition -> v2::NewSessionResponse,
    /// `session/resume` with a system prompt.
    v2::ResumeSessionRequest + SystemPromptAddition -> v2::ResumeSessionResponse,
    /// `session/list` with a filter for archived sessions.
    v2::ListSessionsRequest + ArchiveFilterAddition -> ListSessionsResponse,
}

/// The answer to `session/list` that marks archived sessions: one page.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ListSessionsResponse {
    /// The sessions of this page.
    #[wire(required_items)]
    pub sessions: Vec<SessionInfo>,
    /// The cursor of the next page. `None` after the last page.
    #[wire(optional)]
    pub next_cursor: Option<SessionListCursor>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A session in a list, and whether it is archived.
pub type SessionInfo = WithAdditions<v2::SessionInfo, ArchivedAddition>;
