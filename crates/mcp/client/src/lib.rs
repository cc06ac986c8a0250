//! MCP clients: connect to a server, list what it offers, call its tools.
//!
//! `agentwire_mcp_client` here is `agentwire::mcp::client` in the crate `agentwire`, with its feature `mcp-client`.
//!
//! ```no_run
//! use agentwire_transport_stdio::{Child, Command};
//! use serde_json::json;
//! # use std::time::Duration;
//! # const TEN_SECONDS: Duration = Duration::from_secs(10);
//!
//! # async fn run() -> Result<(), agentwire_mcp_client::BoxError> {
//! let transport = Child::spawn(Command::new("calculator"))?;
//! agentwire_mcp_client::connect(transport, async |server| {
//!     let mut tools = server.tools(); // a stream: pages are fetched as you go
//!     while let Some(tool) = tools.try_next().await? {
//!         println!("{}", tool.name);
//!     }
//!     let sum = server.call_tool("add", json!({ "a": 2, "b": 3 })).timeout(TEN_SECONDS).await?;
//!     println!("{}", sum.text());
//!     Ok(())
//! })
//! .await?;
//! # Ok(())
//! # }
//! ```
//!
//! The handshake is over before the closure begins, and the connection ends with the closure: there is no handle to close
//! and no task to forget. [`Client`] has the settings: name, time limits, hooks, and the answers to the server's questions.
//! [`RemoteServer`] is the handle on the server.
//!
//! # Defaults
//!
//! - The client finds out which revisions the server speaks, and prefers the modern revision 2026-07-28 ([`Era::Auto`]). With a
//!   legacy server it opens a session in the newest revision that both speak, from 2024-11-05 on. [`Client::era`] selects one
//!   era, and [`Client::revisions`] some revisions.
//! - Every call has a time limit of 60 s, which each progress report starts again, up to 10 min. A client or a call can set
//!   others. A call that times out or is dropped is cancelled at the server.
//! - A request that the server does not offer, or that its revision does not have, is not sent: the call fails with
//!   [`CallError::NotAllowed`].
//! - Members that an older revision does not have are left out of calls and answers, by [`Downgrade`](schema::Downgrade). A request
//!   that has no form in the revision is an error.
//! - Pings are answered. Requests for roots, sampling and elicitation are answered where the client has a function for them;
//!   others are refused and not advertised. The defaults of a form are filled in.
//! - A list ends at cursors that form a cycle. At more than 1,000 pages, 10,000 items or 16 MiB its stream fails, and
//!   [`Pages::collect`] returns the items so far with a warning. An item that cannot be decoded is left out.
//!   [`Client::on_warning`] reports cycles, items and cut lists.
//! - A message that would take more than 32 MiB of memory once decoded is not decoded; see [`Client::value_limit`].
//!
//! With a modern server, since 2026-07-28:
//!
//! - Every request carries the revision, the client's capabilities, its name and its log level.
//! - A client with hooks for changes of lists subscribes to them, and again when that ends; see [`Client`](Client#changes).
//!   [`RemoteServer::listen`] subscribes to anything else.
//! - A call of a tool that is refused because of its HTTP headers is repeated once, after the tools have been listed again.
//!   So is any request that is refused because of its version, if the server names one that the client speaks. The server has
//!   not worked on either before. The repetition has a time limit of its own.
//! - Tools that ask for HTTP headers in a wrong way are left out, and [`Client::on_warning`] is called.
//! - The functions that answer a server's requests in a session also answer the questions by which a modern server
//!   answers a call, and the call is made again, up to 10 times; see [`Client`](Client#questions). A call whose server asks
//!   another kind of question fails with [`CallError::Unusable`], which names it.
//! - A server may work on a call of a tool as a task. A client with [`Tasks`] advertises that it can wait for that: the call returns
//!   its result as if there were no task. To another client a task is an error that names it.
//! - With [`Client::cache`], lists and resources are kept for as long as the server calls them fresh.
//!
//! # Layers
//!
//! A call passes a stack of layers as a [`RawCall`], and its answer comes back as a [`RawAnswer`]. [`Client::layer`] adds
//! layers of your own, such as [`Retry`]; the [order](Client#layers) is part of the interface.
//!
//! # Tasks
//!
//! With [`Client::tasks`], [calls](RemoteServer::call_tool) wait for tasks. [`Call::start`] returns a handle instead, a [`Task`],
//! which can be dropped and found again by its id, also after a restart of the program:
//!
//! ```no_run
//! # use agentwire_mcp_client::{BoxError, Client, Era, RemoteServer, TaskOrResult, Tasks};
//! # use agentwire_transport_stdio::{Child, Command};
//! # fn keep(_: &str) {}
//! # async fn run() -> Result<(), BoxError> {
//! let client = Client::new("my-host", "1.0.0").era(Era::Auto).tasks(Tasks::new());
//! client
//!     .connect(Child::spawn(Command::new("builder"))?, async |server: RemoteServer| {
//!         match server.call_tool("build", ()).start().await? {
//!             TaskOrResult::Task(task) => keep(task.id()), // later: `server.task(id)?.result().await?`
//!             TaskOrResult::Result(result) => println!("{}", result.text()),
//!             _ => {}
//!         }
//!         Ok(())
//!     })
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! The tasks of 2025-11-25 and those since 2026-07-28 are two protocols with one interface here.
//!
//! # What it does not do
//!
//! It runs no tasks for the server, which 2025-11-25 lets clients do.
//!
//! It spawns nothing, starts no process and opens no socket. Nothing is fetched for a schema. It checks structured results
//! against their tools' schemas only with the feature `validate` and [`Client`]'s setting for it, and it never sends a batch.
//!
//! It does not reconnect. A session that the server has forgotten (404 over HTTP) ends the connection, because only the owner
//! of the transport can make another one; `agentwire-mcp-hub` does.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

// circle: call.rs, pages.rs, server.rs: the handle makes calls and lists, and these keep the handle.
// `tasks::run` follows the tasks of both protocols by `tasks::core` and `tasks::extension`, which use it.
mod cache;
mod call;
mod changes;
mod client;
mod config;
mod connection;
mod handler;
mod handshake;
#[cfg(feature = "validate")]
mod output;
mod pages;
mod raw;
mod request;
mod result;
mod server;
mod stack;
mod tasks;
mod tools;
mod versions;
mod warning;

/// The types of the protocol.
pub use agentwire_mcp_schema as schema;

pub use agentwire_jsonrpc::ErrorObject;
pub use agentwire_mcp_schema::Era;
pub use agentwire_peer::layers::{CallLayer, FromFn, FromFnService, LayerError};
pub use agentwire_peer::observe;
pub use agentwire_peer::{BoxError, CallError, Clock, Closed, ConnectionError, TokioClock};
pub use agentwire_sync::Backoff;
pub use cache::Cache;
pub use call::{Call, CallDraft, CallFuture};
pub use changes::subscription::Subscription;
pub use changes::{Change, Changes};
pub use client::Client;
pub use config::Config;
pub use connection::connecting::connect;
pub use handshake::HandshakeError;
pub use pages::Pages;
pub use raw::{RawAnswer, RawCall};
pub use server::RemoteServer;
pub use stack::{Next, RawCallFuture, Retry, RetryFuture, RetryService, from_fn};
pub use tasks::{Task, TaskOrResult, TaskState, Tasks};
pub use warning::Warning;
