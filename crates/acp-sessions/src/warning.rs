use agentwire_acp_schema::v1::SessionId;
use agentwire_mcp_hub::ServerState;

use crate::store::StoreWarning;

/// What went wrong without being anybody's error.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Warning {
    /// The store found something wrong and got over it.
    Store(StoreWarning),
    /// A record in a session's journal is no update that this crate knows how to read. The session is opened without it.
    #[non_exhaustive]
    Record {
        /// The session.
        session_id: SessionId,
        /// Which record, counted from 1.
        number: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A record in a session's journal is longer than a client takes. It stays as it is, and the client that loads the
    /// session is sent less of it.
    #[non_exhaustive]
    LongRecord {
        /// The session.
        session_id: SessionId,
        /// Which record, counted from 1.
        number: u64,
        /// How long it is, in bytes of JSON.
        bytes: usize,
        /// How long it may be.
        limit: usize,
        /// Whether the client is sent a shortened form, rather than nothing.
        shortened: bool,
    },
    /// An MCP server of a session could not be connected to, or has died. The session goes on without it.
    #[non_exhaustive]
    McpServer {
        /// The session.
        session_id: SessionId,
        /// The server.
        server: String,
        /// How it is.
        state: ServerState,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Store(warning) => warning.fmt(f),
            Self::Record { session_id, number, reason } => {
                write!(f, "session {session_id}: record {number} is passed over: {reason}")
            }
            Self::LongRecord { session_id, number, bytes, limit, shortened } => {
                let fate = if *shortened { "shortened" } else { "left out" };
                write!(
                    f,
                    "session {session_id}: record {number} is {fate}: it has {bytes} bytes, and the limit is {limit}"
                )
            }
            Self::McpServer { session_id, server, state } => {
                write!(f, "session {session_id}: MCP server {server}: {state}")
            }
        }
    }
}
