//! An ACP agent of which you write only the turn: sessions that are kept, replayed and listed, with their MCP servers.
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
//! A [`Turn`] is all that its author needs: the prompt, what was said before, what to say, the tools of the session's
//! MCP servers, the client's files and terminals, and whether it was cancelled. [`SessionAgent`] has the settings: what
//! is offered is advertised, and nothing else.
//!
//! # The life of a session
//!
//! ```text
//!                    ┌───────────── session/load: all of it again, then the answer
//!  session/new ──▶ open ◀────────── session/resume: nothing again
//!                  │  ▲ │
//!   session/prompt │  │ └── session/close, end of the connection ──▶ kept ── session/delete ──▶ gone
//!                  ▼  │                                              │
//!                 turn: one at a time                                └── session/list, load, resume
//! ```
//!
//! - An id is 128 bits from the system. A session that is not open is "resource not found" (-32002) to whatever needs it
//!   open.
//! - Loading and resuming need the directory that the session was begun in. Further roots and MCP servers are those of
//!   the request; earlier ones are not restored. A session that is open already is opened anew, unless a turn runs in it
//!   or somebody else opens it, which is refused as busy (-32600). So is a session that another connection or process has
//!   open which shares the store, for loading, resuming and deleting. Closing, deleting and `$/cancel_request` end a load.
//! - MCP servers are connected to in the background: only who uses them waits. One that fails costs its own tools.
//! - Slash commands are told right after the answer that opens the session, as there are clients which lose what comes
//!   before it.
//!
//! # What is kept when
//!
//! A session is a header, which lists show, and a journal, to which each update is added as it is sent.
//!
//! | what | kept |
//! |---|---|
//! | that there is a session | before `session/new` is answered |
//! | the prompt | before the author's closure is called |
//! | an update | before it is sent; several that wait together are written in one go |
//! | a mode or an option that the client sets | before that is answered |
//! | the title, the time of the last change | with the update; when a turn ends |
//!
//! So whatever the client has seen is there when the session is loaded, in the same order. What holds at the end, such as
//! the mode, the options, the usage, is what was said last; there is no second record of it. When something cannot be kept
//! it is not sent, and the turn fails, also if its author does not mind. The next turn tries the store again. How much a
//! crash of the machine can take is up to the store; see `Fsync`.
//!
//! What the store has kept well and what is still no update is passed over, with a [`Warning`]. A journal that is damaged
//! is told up to the damage, and not opened; the error names the place, and the session can be listed and deleted.
//!
//! A process that is killed in the middle of a turn leaves what was said by then. Tool calls that were under way are told
//! as failed behind all that is replayed, and kept so.
//!
//! What the person has answered "always" to is not kept: it holds while the session is open.
//!
//! # How a turn ends
//!
//! The author's closure returns; or the turn is cancelled, by `session/cancel`, by closing or deleting the session, or by
//! `$/cancel_request`. Then, at once, whatever waits in the turn fails: calls of tools are cancelled at their server,
//! questions withdrawn, terminals killed and given back. The closure has [a while](SessionAgent::grace) to end, and is
//! dropped then. In any case terminals that are left are given back, tool calls that never ended have failed, and all that
//! was said is kept and sent; only then the prompt is answered, and from then on no handle says anything any more. A
//! turn that was cancelled answers `cancelled`, whatever its author made of it.
//!
//! Closing a session waits for its turn and for the store, but no longer than [`SessionAgent::store_timeout`] allows.
//!
//! A turn whose client closes the connection has [`Config::drain`] to end, and is dropped then. What was said in it is
//! kept, and made durable as at the end of any turn.
//!
//! # What it will not do
//!
//! It spawns nothing: turns, MCP servers and whatever goes on in the background run within the future of
//! [`serve`](SessionAgent::serve), which is `Send` if the futures of the closure are. It needs a tokio runtime with time,
//! and with I/O for MCP servers that are processes or on the network. It speaks version 1 of the protocol. It does not
//! confine what tools do: the client's own checks decide on files, and [`Turn::resolve`] looks at the text of a path only.

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
mod shorten;
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
pub use builder::{DEFAULT_PATH_LIMIT, DEFAULT_SETUP_LIMIT, DEFAULT_UPDATE_LIMIT, SessionAgent, agent};
pub use store::{
    Claim, Claims, DEFAULT_MEMORY_LIMIT, ListQuery, MemoryStore, Position, SessionHeader, SessionStore,
    StoreError, StoreWarning, StoredSession, Timestamp,
};
#[cfg(feature = "file")]
pub use store::{Damage, FileStore, Fsync, Repair, SessionCheck};
pub use turn::{Ask, Terminal, ToolCalling, Turn, TurnError};
pub use warning::Warning;

/// Compiles the example of the README.
#[cfg(all(doctest, feature = "file"))]
#[doc = include_str!("../README.md")]
struct Readme;
