use std::path::PathBuf;

use agentwire_jsonrpc::Method;

use crate::common::SessionId;
use crate::wire::object;

object! {
    /// `session/list`: which conversations there are.
    ///
    /// Only where the agent has the capability `sessionCapabilities.list`. See
    /// <https://agentclientprotocol.com/protocol/v1/session-list>.
    ListSessionsRequest {
        /// Only sessions with this working directory, an absolute path.
        optional cwd: Option<PathBuf>,
        /// Where to go on: what the page before said in [`ListSessionsResponse::next_cursor`].
        optional cursor: Option<String>,
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
        /// Where the next page begins; none after the last. Only the agent knows what it means.
        lenient next_cursor: Option<String>,
        meta,
    }
}

object! {
    /// A session in a list.
    SessionInfo {
        /// The session.
        required session_id: SessionId,
        /// The directory it works in, an absolute path.
        required cwd: PathBuf,
        /// All its further roots in their order, absolute paths.
        items additional_directories: Vec<PathBuf>,
        /// What to call it in front of people.
        lenient title: Option<String>,
        /// When something last happened in it, in ISO 8601.
        lenient updated_at: Option<String>,
        meta,
    }
}
