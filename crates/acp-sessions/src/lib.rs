//! An ACP agent from one closure that answers a prompt: sessions that are stored, replayed and listed, with their MCP servers.
//!
//! ```
//! use agentwire_acp_sessions::{Turn, agent, schema::StopReason};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! # use agentwire_transport_stdio::stdio;
//! agent(async |turn: Turn| {
//!     turn.say(format!("you said: {}", turn.text())).await?;
//!     Ok(StopReason::EndTurn)
//! })
//! .serve(stdio()?)
//! .await?;
//! # Ok(())
//! # }
//! ```
//!
//! A [`Turn`] has everything that the closure needs: the prompt, the history, methods for updates, the tools of the session's
//! MCP servers, the client's files and terminals, and cancellation. [`SessionAgent`] has the settings; the agent advertises
//! exactly what is set.
//!
//! # The life of a session
//!
//! ```text
//!                    ┌───────────── session/load: all updates again, then the answer
//!  session/new ──▶ open ◀────────── session/resume: no updates again
//!                  │  ▲ │
//!   session/prompt │  │ └── session/close, end of the connection ──▶ stored ── session/delete ──▶ gone
//!                  ▼  │                                               │
//!                 turn: one at a time                                 └── session/list, load, resume
//! ```
//!
//! - An id is 128 random bits. A request that needs an open session is refused with "resource not found" (-32002) where the
//!   session is not open.
//! - Loading and resuming need the working directory in which the session was created. The additional directories and MCP
//!   servers are those of the request; earlier ones are not restored. A session that is open is opened again, unless a turn
//!   runs in it or another request is opening it: that is refused as busy (-32600). So is loading, resuming or deleting a
//!   session that is open on another connection or in another process with the same store. Closing, deleting and
//!   `$/cancel_request` abort a load.
//! - MCP servers are connected to in the background, and only calls of their tools wait for that. A server that fails costs
//!   its own tools alone.
//! - Slash commands are announced right after the answer that opens the session, because some clients lose updates that
//!   come before it.
//!
//! # What is stored when
//!
//! A session is a header, which lists show, and a journal of all its updates.
//!
//! | what | is stored |
//! |---|---|
//! | the session | before `session/new` is answered |
//! | the prompt | before the closure is called |
//! | an update | before it is sent; updates that are queued together are written together |
//! | a mode or an option that the client sets | before the request is answered |
//! | the title | before the update that sets it is sent |
//! | the time of the last change | when a turn ends |
//!
//! So a session that is loaded has every update that a client has seen, in the same order. The mode, the options, the title
//! and the usage are those of the last update; there is no second record of them. An update that cannot be written is not
//! sent and changes nothing, and its turn fails, even if the closure ignores the error. The next turn tries the store again.
//! An update whose future is dropped is written and sent all the same, once it is queued. How much a crash of the machine
//! can cost depends on the store; see `Fsync`.
//!
//! A record that the store returns intact and that is no update is skipped, with a [`Warning`]. A journal that is damaged is
//! replayed up to the damage, and the load fails; the error names the place, and the session can be listed and deleted.
//!
//! A process that is killed in the middle of a turn leaves the updates so far. When the session is loaded, tool calls that
//! were open are failed behind all other updates, and that is stored.
//!
//! An answer "always" of the user is not stored: it holds while the session is open.
//!
//! # How a turn ends
//!
//! The closure returns, or the turn is cancelled: by `session/cancel`, by closing or deleting the session, or by
//! `$/cancel_request`. A cancel fails at once everything that the turn waits for: tool calls are cancelled at their server,
//! questions withdrawn, terminals killed and released. The closure has [a grace period](SessionAgent::grace) to return, and
//! its future is dropped then. In any case terminals that are left are released, tool calls that are open are failed, and
//! all updates are written and sent. Only then is the prompt answered, and no handle of the turn can send anything after
//! that. A cancelled turn answers `cancelled`, whatever the closure returned.
//!
//! Closing a session waits for its turn and for the store, but no longer than [`SessionAgent::store_timeout`] allows.
//!
//! When the client closes the connection, a turn has [`Config::drain`] to end, and is dropped then. Its updates are stored,
//! and made durable as at the end of any turn.
//!
//! # What it does not do
//!
//! It spawns nothing: turns, MCP servers, the writing of updates and all other background work run within the future of
//! [`serve`](SessionAgent::serve), which is `Send` if the futures of the closure are. It needs a tokio runtime with time,
//! and with I/O for MCP servers that are processes or on the network. It speaks version 1 of the protocol. It does not
//! confine tools: the client's own checks decide on files, and [`Turn::resolve`] looks at the text of a path alone.

mod auth;
mod background;
mod builder;
mod list;
mod log;
mod random;
mod registry;
mod runtime;
mod session;
mod setup;
mod shorten;
mod signal;
mod state;
mod store;
mod turn;
mod warning;

pub use agentwire_acp_agent::{CallError, Client, Closed, Config, Error};
/// The types of the protocol.
pub use agentwire_acp_schema::v1 as schema;
/// The MCP servers of a session.
pub use agentwire_mcp_hub as hub;
pub use auth::Auth;
pub use builder::{DEFAULT_PATH_LIMIT, DEFAULT_SETUP_LIMIT, DEFAULT_UPDATE_LIMIT, SessionAgent, agent};
pub use store::{
    Claim, Claims, DEFAULT_MEMORY_LIMIT, ListQuery, MemoryStore, Position, SessionHeader, SessionStore,
    StoreError, StoreWarning, StoredSession, Timestamp,
};
#[cfg(feature = "file")]
pub use store::{Damage, FileStore, Fsync, Repair, SessionCheck};
pub use turn::{PendingToolCall, PermissionPolicy, Terminal, Turn, TurnError};
pub use warning::Warning;

/// Compiles the example of the README.
#[cfg(all(doctest, feature = "file"))]
#[doc = include_str!("../README.md")]
struct Readme;
