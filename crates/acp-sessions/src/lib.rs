//! An ACP agent of which you write only the turn: sessions that are kept, replayed and listed, with their MCP servers.

mod auth;
mod background;
mod builder;
mod facts;
mod list;
mod outbox;
mod random;
mod registry;
mod runtime;
mod session;
mod setup;
mod signal;
mod store;
mod turn;
mod warning;

pub use agentwire_acp_agent::{CallError, Client, Closed, Config, Error, config};
/// The words of the protocol.
pub use agentwire_acp_schema::v1 as schema;
/// The MCP servers of a session.
pub use agentwire_mcp_hub as hub;
pub use auth::Auth;
pub use builder::{SessionAgent, agent};
#[cfg(feature = "file")]
pub use store::{FileStore, Fsync};
pub use store::{
    ListQuery, MemoryStore, Position, SessionHeader, SessionStore, StoreError, StoreWarning, StoredSession,
    Timestamp,
};
pub use turn::{Ask, Terminal, ToolCalling, Turn, TurnError};
pub use warning::Warning;
