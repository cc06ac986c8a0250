//! MCP clients: connect to a server, list what it offers, call its tools.
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
//! The handshake is over before the closure begins, and the connection ends where the closure does: there is no
//! handle to close and no task to forget. [`Client`] has the settings: who we are, how long to wait, what to do
//! with what the server says by itself, and what to answer it. [`Server`] is the handle on the other side.
//!
//! # What happens without you
//!
//! - A session is opened in the newest revision that has them, or in the one that the server prefers, from
//!   2024-11-05 on. Another answer ends the connection with an error that names it. [`Client::era`] changes that:
//!   [`Era::Stateless`] speaks 2026-07-28, and [`Era::Either`] finds out what the server speaks. [`Client::revisions`]
//!   leaves out some.
//! - Every call has a time limit: 60 seconds, which each progress report starts anew, up to 10 minutes. Whoever
//!   needs another says so, for a client or for a call. A call that is given up, or dropped, is cancelled at
//!   the server.
//! - What the server did not advertise, or its revision does not have, is not asked: such a call fails with
//!   [`CallError::NotAllowed`].
//! - What an older revision does not have is left out of calls and answers, by [`Narrow`](schema::Narrow); what
//!   cannot be said to it at all is an error.
//! - Pings are answered. So are requests for roots, sampling and elicitation if the client was given something
//!   to answer with; if not, they are refused and not advertised. The defaults of a form are filled in.
//! - Lists end: a server whose cursors go in a circle, or on for ever, is an error. So is one that lists more than 10,000
//!   items, or 16 MiB; see [`Pages`]. An item that cannot be decoded is left out, and [`Client::on_warning`] hears of it.
//! - What would take more than 32 MiB of memory once decoded is not decoded; see [`Client::value_limit`].
//!
//! Since 2026-07-28, moreover:
//!
//! - Every request says who asks, in which revision and with which capabilities, and for which level of the log.
//! - A client that was given something for changes of lists subscribes to them, and again when that ends; see
//!   [`Client`](Client#changes). [`Server::listen`] is for the rest.
//! - A call of a tool that is refused because of its HTTP headers is made once more, after the tools have been
//!   listed anew; and any request once more that is refused because of its version, if the server names one that
//!   will do. Neither was worked on before. The second time has a limit of its own.
//! - Tools that ask for HTTP headers in a wrong way are left out, and [`Client::on_warning`] hears of them.
//! - What a server wants to know before it answers is found out by the same functions as in a session, and the call is
//!   made again with the answers and the server's state, up to ten times; see [`Client`](Client#questions). A call of a
//!   server that wants something else fails with [`CallError::Unusable`], which names it.
//! - A server may work on a call of a tool as a task. A client that was given [`Tasks`] says that it can wait for that, and
//!   does: the call gives its result as if there were no task. To another client it is an error that names the task.
//! - With [`Client::cache`], lists and resources are kept for as long as the server calls them fresh.
//!
//! # Tasks
//!
//! [`Client::tasks`] is all that it takes for [calls](Server::call_tool) to wait for tasks. [`Call::start`] gives a handle
//! instead, a [`Task`], which can be left and found again by its id, after the program has begun anew, too:
//!
//! ```no_run
//! # use agentwire_mcp_client::{BoxError, Client, Era, Server, Started, Tasks};
//! # use agentwire_transport_stdio::{Child, Command};
//! # fn keep(_: &str) {}
//! # async fn run() -> Result<(), BoxError> {
//! let client = Client::new("my-host", "1.0.0").era(Era::Either).tasks(Tasks::new());
//! client
//!     .connect(Child::spawn(Command::new("builder"))?, async |server: Server| {
//!         match server.call_tool("build", ()).start().await? {
//!             Started::Task(task) => keep(task.id()), // later: `server.task(id)?.result().await?`
//!             Started::Done(result) => println!("{}", result.text()),
//!             _ => {}
//!         }
//!         Ok(())
//!     })
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! The tasks of 2025-11-25 and those since 2026-07-28 are two protocols; both are behind these names.
//!
//! # What it does not do
//!
//! It runs no tasks itself, which 2025-11-25 lets clients do for what servers ask.
//!
//! It spawns nothing, starts no process and opens no socket: nothing is fetched for a schema either. It checks a
//! structured result against its tool's schema only when it is told to, with the feature `validate`; and it never sends
//! a batch.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod answers;
mod cache;
mod call;
mod client;
mod connecting;
mod era;
mod front;
mod handshake;
mod kept;
mod listening;
mod lists;
#[cfg(feature = "validate")]
mod output;
mod pages;
mod result;
mod server;
mod subscription;
mod tasks;
mod warning;

/// The words of the protocol.
pub use agentwire_mcp_schema as schema;

pub use agentwire_jsonrpc::ErrorObject;
pub use agentwire_peer::{CallError, Closed, Config};
pub use cache::Cache;
pub use call::{Call, Calling};
pub use client::Client;
pub use connecting::{BoxError, connect};
pub use era::Era;
pub use handshake::HandshakeError;
pub use pages::Pages;
pub use server::Server;
pub use subscription::Subscription;
pub use tasks::{Started, Task, TaskState, Tasks};
pub use warning::Warning;
