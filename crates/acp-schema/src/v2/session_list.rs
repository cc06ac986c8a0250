use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};

use super::AbsolutePath;
use crate::common::{Meta, SessionId, string_id};

string_id! {
    /// Where a page of a list begins. Only the agent knows what it means; the empty one is as good as any.
    SessionListCursor,
}

/// `session/list`: which conversations there are.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ListSessionsRequest {
    /// Only sessions with this working directory.
    #[wire(optional)]
    pub cwd: Option<AbsolutePath>,
    /// Where to go on: what the page before said in [`ListSessionsResponse::next_cursor`].
    #[wire(optional)]
    pub cursor: Option<SessionListCursor>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for ListSessionsRequest {
    const NAME: &'static str = "session/list";
    type Response = ListSessionsResponse;
}

/// The answer to `session/list`: one page.
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
    /// What to call it in front of people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// When something last happened in it, in RFC 3339.
    #[wire(lenient, schema(extend("format" = "date-time")))]
    pub updated_at: Option<String>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
