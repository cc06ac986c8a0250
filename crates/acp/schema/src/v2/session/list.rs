//! The params and result of `session/list`, one page at a time, with an opaque cursor type.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, SessionId, string_id};
use crate::v2::AbsolutePath;

string_id! {
    /// The beginning of a page of a list. It is opaque to clients, and may be empty.
    SessionListCursor,
}

/// `session/list`: lists the sessions.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ListSessionsRequest {
    /// Only sessions with this working directory.
    #[wire(optional)]
    pub cwd: Option<AbsolutePath>,
    /// The cursor of the page: the [`ListSessionsResponse::next_cursor`] of the page before.
    #[wire(optional)]
    pub cursor: Option<SessionListCursor>,
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
    /// The cursor of the next page. `None` after the last page.
    #[wire(optional)]
    pub next_cursor: Option<SessionListCursor>,
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
    /// The directory it works in.
    #[wire(required)]
    pub cwd: AbsolutePath,
    /// All its further roots in their order.
    #[wire(list)]
    pub additional_directories: Vec<AbsolutePath>,
    /// The name to show to people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// When its content last changed, in RFC 3339.
    #[wire(lenient, schema(extend("format" = "date-time")))]
    pub updated_at: Option<String>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
