//! Connects to all MCP servers of one session, and offers their tools as one set.
//!
//! `agentwire_mcp_hub` here is `agentwire::mcp::hub` in the crate `agentwire`, with its feature `mcp-hub`.
//!
//! ```no_run
//! use agentwire_mcp_hub::{ServerConfig, Target};
//! use serde_json::json;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let servers = [
//!     ServerConfig::new("files", Target::parse("my-file-server --root /repo")?),
//!     ServerConfig::new("web", Target::parse("https://example.com/mcp")?),
//! ];
//! agentwire_mcp_hub::connect(servers, async |hub| {
//!     for tool in hub.tools().await {
//!         println!("{} of {}", tool.name, tool.server);
//!     }
//!     let found = hub.call("search", json!({ "for": "Agentwire" })).await;
//!     for server in hub.status() {
//!         println!("{}: {}", server.name, server.state);
//!     }
//!     found.map(|result| println!("{}", result.text()))
//! })
//! .await?;
//! # Ok(())
//! # }
//! ```
//!
//! The hub connects to all servers at once, each within a time limit. A server that cannot be reached, or dies, is
//! [reported](Hub::status). Only its own tools fail; the session goes on. All servers end with the session.
//!
//! # Names
//!
//! Every tool has a full name, `server__tool`, which is always accepted. The server's name in it has only characters that
//! language models accept in the name of a tool: each run of other characters, or of `_`, becomes one `_`, and a `_` at the
//! end is removed. So the first `__` of a full name is the separator, and no two tools share a full name. If two servers'
//! names would be the same, the later one gets a number: `files`, `files_2`.
//!
//! Models take `[a-zA-Z0-9_-]{1,64}`. A tool with another name, such as `a.b`, or with a longer full name gets another
//! [name](HubTool::name): `_` replaces each other character, the name is cut, and a code that depends on the whole name is
//! added: `files__a_b-8ac2e1f0`. The result is the same in every hub, for a server of that name. [`HubTool::tool`] has the
//! server's own name, which is sent. A server's name of more than 32 characters is cut in the same way.
//!
//! A tool whose plain name no other server lists is called by its plain name. Plain names are assigned once every server has
//! listed its tools or failed, and afterwards to each new tool. So they depend on the configuration and the lists, not on
//! the speed of servers. A plain name that begins like a full name is not assigned.
//!
//! **A name never changes its meaning** while the hub lives: one tool's name never becomes another's, even after the
//! tool is gone, and a tool that comes back has its former name. A server can change its own tool. A program that shows a
//! tool to a person before it is called keeps the [`HubTool`] and passes it to [`Hub::call_tool`]: if the server
//! has dropped the tool or describes it differently by then, the call fails.
//!
//! Servers can be [added](Hub::add), [removed](Hub::remove) and [reconnected](Hub::reconnect) while the hub runs. An added
//! server gets a name that no server has had, and with which no name of a tool begins. Only the removed server itself
//! gets its name back, and its tools get theirs. [`Hub::only`] returns a handle on some tools, for a model.
//!
//! Calling a tool of a dead server fails with the reason of its death. If a server keeps reporting changes, its tools are
//! listed after growing pauses: see [`HubConfig::relist_pause`].
//!
//! # Which revision and transport a server supports
//!
//! [`connect_to`] finds out for one server, and the hub does so for all:
//!
//! ```text
//!  a process                                a URL
//!
//!  server/discover ─ refused, silence ─┐    POST server/discover ─ refused, silence ─┐
//!     │                 initialize ◀───┘       │                 POST initialize ◀───┘
//!     │ it ends                                │ an answer that is not MCP
//!     ▼                                        ▼
//!  initialize, to a new process             POST initialize, on a transport that knows nothing of the first
//!                                              │ 4xx
//!                                              ▼
//!                                           GET, which must begin with the event `endpoint`
//! ```
//!
//! A silent server gets `initialize` beside `server/discover`, and the first success counts: a process that npx must install is
//! slow, and is started only once. A server that answers `server/discover` is spoken to without a session, in 2026-07-28. No
//! step depends on a single code or status. Some failures are reported without another attempt: a status about the caller or
//! the time (401, 403, 407, 408, 429), 5xx, a missing response, and a refusal whose code shows that the server knows the newer
//! revisions. With a [`Memory`] the next connection begins with the attempt that worked.
//!
//! # When a server is gone
//!
//! A process that ends after it became callable is restarted, by default up to three times in a row (see
//! [`HubConfig::restarts`]), with growing pauses. Running calls fail and are not repeated. Its tools keep their names, and
//! each [`Hub::listen`] stream goes on. [`Hub::status`] shows the server as restarting.
//!
//! A session over HTTP can be ended by its server, and the stream of HTTP+SSE can break off; then the calls that are
//! under way fail, and the server is reconnected: once in any case, and again if the session before has answered
//! a call or lived for ten seconds. Without a session no reconnection is needed: each call fails or succeeds by itself.
//!
//! # Questions of servers
//!
//! A server may ask for a form or a visit of a page by the user, for an answer of the host's model, and for the host's
//! folders. [`HubConfig`](HubConfig#questions-of-servers) has a function for each. A server gets the capabilities of those
//! that are set, and a call that needs another one fails with [`HubError::Unanswered`].
//!
//! # Configuration files
//!
//! [`McpConfig`] reads the servers that `.mcp.json`, or VS Code's `mcp.json`, names.
//!
//! # Who drives it
//!
//! Nothing is spawned. [`connect`] runs everything for as long as a closure runs. [`Hub::new`] returns the parts: a
//! handle, which is cheap to clone, and a [`Driver`], one future that runs all connections. Dropping the driver
//! kills all servers; [`Hub::close`] shuts them down gracefully.
//!
//! # What it does not do
//!
//! It does not ask for tokens: give headers, or a client of `agentwire-mcp-auth` by
//! [`ConnectOptions::wrap_http`]. It does not call a tool twice. It does not merge
//! resources and prompts: [`Hub::server`] gives the handle on one server for those.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(all(doctest, feature = "sse"))]
#[doc = include_str!("../README.md")]
struct Readme;

mod answering;
mod call;
mod config;
mod connecting;
mod connection;
mod driver;
mod entry;
mod error;
mod hub;
mod mcp_config;
mod names;
mod questions;
mod server_changes;
mod state;
mod status;
mod target;

/// The types of the protocol.
pub use agentwire_mcp_schema as schema;

pub use agentwire_mcp_client::{BoxError, Change, ConnectionError, Era};
pub use call::ToolCall;
pub use config::{
    DEFAULT_RELIST_PAUSE, DEFAULT_SERVER_LIMIT, DEFAULT_SHORT_NAME_LIMIT, HubConfig, ServerConfig,
};
pub use connecting::memory::Memory;
pub use connecting::{ConnectError, ConnectOptions, FailedAttempt, connect_to};
pub use driver::Driver;
pub use error::HubError;
pub use hub::{Hub, HubChanges, connect};
pub use mcp_config::{
    DEFAULT_MCP_CONFIG_LIMIT, McpConfig, McpConfigError, McpConfigFault, McpConfigReader, McpConfigWarning,
};
pub use names::HubTool;
pub use server_changes::ServerChanges;
pub use status::{ServerState, ServerStatus};
pub use target::attempt::Attempt;
#[cfg(feature = "http")]
pub use target::http::{HttpKind, HttpTarget, InvalidHeader, InvalidUrl};
pub use target::{CustomTarget, ParseTargetError, Target};
