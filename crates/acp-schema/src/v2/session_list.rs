use agentwire_jsonrpc::Method;

use super::AbsolutePath;
use crate::common::SessionId;
use crate::wire::{object, string_id};

string_id! {
    /// Where a page of a list begins. Only the agent knows what it means; the empty one is as good as any.
    SessionListCursor,
}

object! {
    /// `session/list`: which conversations there are.
    ListSessionsRequest {
        /// Only sessions with this working directory.
        optional cwd: Option<AbsolutePath>,
        /// Where to go on: what the page before said in [`ListSessionsResponse::next_cursor`].
        optional cursor: Option<SessionListCursor>,
        meta,
    }
}

impl Method for ListSessionsRequest {
    const NAME: &'static str = "session/list";
    type Response = ListSessionsResponse;
}

object! {
    /// The answer to `session/list`: one page.
    ListSessionsResponse {
        /// The sessions of this page.
        required_items sessions: Vec<SessionInfo>,
        /// Where the next page begins; none after the last.
        optional next_cursor: Option<SessionListCursor>,
        meta,
    }
}

object! {
    /// A session in a list.
    SessionInfo {
        /// The session.
        required session_id: SessionId,
        /// The directory it works in.
        required cwd: AbsolutePath,
        /// All its further roots in their order.
        list additional_directories: Vec<AbsolutePath>,
        /// What to call it in front of people.
        lenient title: Option<String>,
        /// When something last happened in it, in RFC 3339.
        #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
        lenient updated_at: Option<String>,
        meta,
    }
}
