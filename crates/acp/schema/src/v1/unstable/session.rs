//! The params and results of `session/status` and `session/fork`. Also the session methods of version 1 with draft members in
//! params or results.

use std::path::PathBuf;

use agentwire_wire_derive::{Build, Wire};

use super::McpServer;
use crate::common::unstable::{
    ArchiveFilterAddition, ArchivedAddition, SessionStatus, Unchanged, UsageAddition, WithAdditions,
    draft_requests, session_types,
};
use crate::common::{Meta, SessionId};
use crate::v1::{self, ContentBlock, SessionConfigOption, SessionModeState};

session_types! { path: PathBuf }

/// The answer to `session/status`: how it was just now.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionStatusResponse {
    /// The place of the session: in memory or stored.
    #[wire(required)]
    pub status: SessionStatus,
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

draft_requests! {
    /// `session/new` with a system prompt.
    v1::NewSessionRequest + SystemPromptAddition -> v1::NewSessionResponse,
    /// `session/load` with a system prompt.
    v1::LoadSessionRequest + SystemPromptAddition -> v1::LoadSessionResponse,
    /// `session/resume` with a system prompt.
    v1::ResumeSessionRequest + SystemPromptAddition -> v1::ResumeSessionResponse,
    /// `session/list` with a filter for archived sessions.
    v1::ListSessionsRequest + ArchiveFilterAddition -> ListSessionsResponse,
    /// `session/prompt` unchanged, for an answer with the number of used tokens.
    v1::PromptRequest + Unchanged -> PromptResponse,
}

/// The answer to `session/list` that marks archived sessions: one page.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ListSessionsResponse {
    /// The sessions of this page.
    #[wire(required_items)]
    pub sessions: Vec<SessionInfo>,
    /// The cursor of the next page. `None` after the last page. The cursor is opaque to clients.
    #[wire(lenient)]
    pub next_cursor: Option<String>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A session in a list, and whether it is archived.
pub type SessionInfo = WithAdditions<v1::SessionInfo, ArchivedAddition>;

/// The answer to `session/prompt` with the number of tokens that the turn has used.
pub type PromptResponse = WithAdditions<v1::PromptResponse, UsageAddition>;
