//! Warnings: problems that fail no request.

use agentwire_acp_schema::v1::SessionId;
use agentwire_jsonrpc::{Printable, Skipped};
use agentwire_mcp_hub::ServerState;

use crate::store::StoreWarning;

/// A problem that did not fail a request.
///
/// ```
/// use agentwire_acp_sessions::{Turn, Warning, agent, schema::StopReason};
///
/// let agent = agent(async |_turn: Turn| Ok(StopReason::EndTurn)).on_warning(|warning| match warning {
///     Warning::McpServer { server, state, .. } => eprintln!("{server}: {state}"),
///     warning => eprintln!("{warning}"),
/// });
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Warning {
    /// The store found a fault and recovered from it.
    Store(StoreWarning),
    /// A record in a session's journal cannot be read as an update. The session is opened without it.
    #[non_exhaustive]
    Record {
        /// The session.
        session_id: SessionId,
        /// The number of the record, counted from 1.
        number: u64,
        /// The fault of the record.
        reason: String,
    },
    /// A record in a session's journal is over the limit. It stays as it is; a client that loads the session receives a
    /// shortened form or nothing.
    #[non_exhaustive]
    LongRecord {
        /// The session.
        session_id: SessionId,
        /// The number of the record, counted from 1.
        number: u64,
        /// The length of the record, in bytes of JSON.
        bytes: usize,
        /// The limit, in bytes of JSON.
        limit: usize,
        /// Whether the client receives a shortened form.
        shortened: bool,
    },
    /// Parts of a prompt cannot be read. The turn runs without them.
    #[non_exhaustive]
    Prompt {
        /// The parts.
        skipped: Skipped,
    },
    /// An MCP server of a session could not be reached, or has ended. The session continues without it.
    #[non_exhaustive]
    McpServer {
        /// The session.
        session_id: SessionId,
        /// The name of the server.
        server: String,
        /// The state of the server.
        state: ServerState,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Store(warning) => warning.fmt(f),
            Self::Record { session_id, number, reason } => {
                write!(
                    f,
                    "session {}: record {number} is passed over: {}",
                    Printable::display(session_id),
                    Printable::display(reason)
                )
            }
            Self::LongRecord { session_id, number, bytes, limit, shortened } => {
                let fate = if *shortened { "shortened" } else { "left out" };
                write!(
                    f,
                    "session {session_id}: record {number} is {fate}: it has {bytes} bytes, and the limit is {limit}"
                )
            }
            Self::Prompt { skipped } => write!(f, "session/prompt: left out: {skipped}"),
            Self::McpServer { session_id, server, state } => {
                write!(
                    f,
                    "session {}: MCP server {}: {state}",
                    Printable::display(session_id),
                    Printable::display(server)
                )
            }
        }
    }
}
