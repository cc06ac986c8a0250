//! The params and result of `session/list`, one page at a time.

use std::path::PathBuf;

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, SessionId};

/// `session/list`: lists the sessions.
///
/// Only where the agent has the capability `sessionCapabilities.list`. See
/// <https://agentclientprotocol.com/protocol/v1/session-list>.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ListSessionsRequest {
    /// Only sessions with this working directory, an absolute path.
    #[wire(optional)]
    pub cwd: Option<PathBuf>,
    /// The cursor of the page: the [`ListSessionsResponse::next_cursor`] of the page before.
    #[wire(optional)]
    pub cursor: Option<String>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The answer to `session/list`: one page.
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

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The directory it works in, an absolute path.
    #[wire(required)]
    pub cwd: PathBuf,
    /// All its further roots in their order, absolute paths.
    #[wire(items)]
    pub additional_directories: Vec<PathBuf>,
    /// The name to show to people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// When its content last changed, in ISO 8601.
    #[wire(lenient)]
    pub updated_at: Option<String>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
