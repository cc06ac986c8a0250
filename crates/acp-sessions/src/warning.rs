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
            Self::McpServer { session_id, server, state } => {
                write!(f, "session {session_id}: MCP server {server}: {state}")
            }
        }
    }
}
