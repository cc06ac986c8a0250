//! An ACP agent from one closure that answers a prompt: sessions that are stored, replayed and listed, with their MCP servers.
//!
//! `agentwire_acp_sessions` here is `agentwire::acp::sessions` in the crate `agentwire`, with its feature `acp-sessions`.
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
//! A [`Turn`] has everything that the closure needs: the prompt, the [messages](Turn::messages) for a model, methods for updates,
//! the tools of the session's MCP servers and [those of the agent itself](Turn::tool), files and terminals, and
//! cancellation. The closure may return any error. [`SessionAgent`] has the settings; the agent advertises
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
//! - A request to load or resume must give the `cwd` with which the session was created. The additional directories and MCP
//!   servers are those of the request; earlier ones are not restored. A session that is open is opened again, unless a turn
//!   runs in it or another request is opening it: that is refused as busy (-32600). So is loading, resuming or deleting a
//!   session that is open on another connection or in another process with the same store. Closing, deleting and
//!   `$/cancel_request` abort a load.
//! - MCP servers are connected to in the background, and only calls of their tools wait for that. A server that fails
//!   makes only its own tools unavailable.
//! - The session answers the requests of its MCP servers. Their roots are the session's directories. Elicitations (forms and
//!   web pages) go to the client while a turn runs, if the client supports them, and the message begins with the server's
//!   name. Without a turn, and when the turn ends first, the answer is `cancel`. [`SessionAgent::on_sampling`] answers
//!   sampling requests.
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
//! So a session that is loaded has every update that a client has seen, in the same order. The mode, the options and
//! the usage are read from their last updates; the title is also in the header, for lists. An update that cannot be written is not
//! sent and changes nothing, and its turn fails, even if the closure ignores the error. The next turn tries the store again.
//! An update that is queued is written and sent even if its future is dropped. The store decides how much is lost when the
//! machine crashes; see `Fsync`.
//!
//! A record that the store returns intact and that is not an update is skipped, with a [`Warning`]. A journal that is damaged is
//! replayed up to the damage, and the load fails; the error names the place, and the session can be listed and deleted.
//!
//! A process that is killed in the middle of a turn leaves the updates so far. When the session is opened
//! again, the tool calls that were open get the status `failed`, after all other updates, and that is stored.
//!
//! A permission that the user gives or rejects "always" is not stored. It is valid while the session is open.
//!
//! # How a turn ends
//!
//! The closure returns, or the turn is cancelled: by `session/cancel`, by closing or deleting the session, or by
//! `$/cancel_request`. Cancelling fails everything that the turn waits for: tool calls are cancelled at their server,
//! questions are withdrawn, terminals are killed and released. The closure has [a grace period](SessionAgent::grace) to
//! return; then its future is dropped. In both cases the terminals that are left are released, open tool calls get the status
//! `failed` or `cancelled`, and all updates are written and sent. The prompt is answered last, and no handle of the turn can
//! send anything after that. A cancelled turn answers `cancelled`, whatever the closure returned.
//!
//! Closing a session waits for its turn and for the store, but no longer than [`SessionAgent::store_timeout`] allows.
//!
//! When the client closes the connection, a turn has [`Config::drain`] to end; then it is dropped. Its updates are stored and
//! made durable as at the end of any turn.
//!
//! # Versions
//!
//! The agent speaks version 1 of the protocol. With the feature `v2` and the setting `SessionAgent::v2` it also speaks the draft
//! of version 2; the first `initialize` of a connection selects the version. The closure, the settings and the store are the
//! same for both. The closure uses the types of version 1 in either case, and each update is converted to the client's
//! version when it is sent:
//!
//! | | version 1 | version 2 |
//! |---|---|---|
//! | a prompt is answered | when its turn ends | when it is stored, and before the closure is called; the turn's end is the state `idle` |
//! | closing a session that is not open | is refused (-32002) | succeeds |
//! | a second prompt of a session | is refused as busy (-32600) | waits for the first to end |
//! | a session is replayed by | `session/load` | `session/resume` with `replayFrom` |
//! | modes | are modes, and an option may repeat them | are an option of the category `mode`, which is added if it is missing |
//! | slash commands | are an update after the answer that opens the session | are part of that answer |
//! | files and terminals | are the client's | are those of the agent's machine: the client is shown the terminals' output |
//! | a cancelled tool call | is `failed` | is `cancelled` |
//! | a [`Diff`](schema::Diff) | is the text before and after | is the change, and a patch where both texts are at most 2 MiB together |
//!
//! The journal is one for both versions. Its records are updates of version 1, with two additions from version 2: the status
//! `cancelled` of a tool call, and the updates of the agent's own terminals. So a session of one version can be opened under
//! the other. Parts that the client's version cannot express are left out of its replay, and stay in the journal:
//!
//! - For a client of version 1: the output of the agent's terminals. A tool call that refers to a terminal keeps the reference.
//! - For a client of version 2: references of tool calls to terminals of a client of version 1, and changes of the mode,
//!   because the options in the answer include the mode. A chunk without the id of its message gets one.
//!
//! The icons of resource links in a prompt of version 2 are not stored, because version 1 has none. The agent does not support
//! `tool_call/cancel` and `terminal/cancel`, and never reports the state `requires_action`: another part of the turn may run
//! while a question is open.
//!
//! # What it does not do
//!
//! The crate spawns nothing: turns, MCP servers, the writing of updates and all other background work run within the future of
//! [`serve`](SessionAgent::serve), which is `Send` if the futures of the closure are. There are two exceptions:
//! [`FileStore`] makes its file calls on tokio's threads for blocking calls, and under version 2 the terminals and file calls
//! of a turn use tokio's tasks and threads. The crate needs a tokio runtime with time, and with I/O for MCP servers that are
//! processes or on the network, and for terminals under version 2.
//!
//! It does not confine tools: under version 1 the client checks access to files, and [`Turn::resolve`] checks only the text
//! of a path.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod builder;
mod client;
mod connection;
mod error;
mod log;
mod questions;
mod random;
mod registry;
mod replay;
mod runtime;
mod session;
mod settings;
mod setup;
mod state;
mod store;
mod turn;
mod update;
mod v1;
#[cfg(feature = "v2")]
mod v2;
mod warning;
mod workspace;

pub use agentwire_acp_agent::{BoxError, CallError, Closed, Config, Error};
/// The types of the protocol.
pub use agentwire_acp_schema::v1 as schema;
/// The MCP servers of a session.
pub use agentwire_mcp_hub as hub;
pub use builder::{SessionAgent, agent};
pub use client::RemoteClient;
pub use connection::auth::Auth;
pub use questions::elicitation::{answer_to_mcp, form_from_mcp};
pub use settings::{DEFAULT_PATH_LIMIT, DEFAULT_SETUP_LIMIT, DEFAULT_UPDATE_LIMIT, PermissionPolicy};
pub use store::{
    Claim, Claims, DEFAULT_MEMORY_LIMIT, ListQuery, MemoryStore, Position, SessionHeader, SessionStore,
    StoreError, StoreWarning, StoredSession, Timestamp,
};
#[cfg(feature = "file")]
pub use store::{Damage, FileStore, Fsync, Repair, SessionCheck};
pub use turn::{
    AssistantMessage, IntoToolCall, Message, PendingMessages, PendingToolCall, RunningToolCall, Terminal,
    ToolContent, ToolResult, ToolRun, ToolUse, Turn, TurnError, TurnHandler, UserMessage,
};
pub use warning::Warning;

/// Compiles the example of the README.
#[cfg(all(doctest, feature = "file"))]
#[doc = include_str!("../README.md")]
struct Readme;
