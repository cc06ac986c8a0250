//! An ACP agent on any transport.
//!
//! `agentwire_acp_agent` here is also `agentwire::acp::agent` in the crate `agentwire`, with the feature `acp-agent`.
//!
//! You write a type that implements [`Agent`]; [`serve`] runs it on a connection. This crate applies the protocol's rules;
//! your type holds the sessions.
//!
//! ```
//! use agentwire_acp_agent::{Agent, Context, Error};
//! use agentwire_acp_schema::v1::*;
//!
//! struct Echo;
//!
//! impl Agent for Echo {
//!     async fn initialize(&self, req: InitializeRequest, _cx: Context) -> Result<InitializeResponse, Error> {
//!         Ok(InitializeResponse::new(req.protocol_version))
//!     }
//!     async fn new_session(&self, _req: NewSessionRequest, _cx: Context) -> Result<NewSessionResponse, Error> {
//!         Ok(NewSessionResponse::new("session-1"))
//!     }
//!     async fn prompt(&self, req: PromptRequest, cx: Context) -> Result<PromptResponse, Error> {
//!         for block in req.prompt {
//!             cx.client().session_update(SessionNotification::message(&req.session_id, block)).await?;
//!         }
//!         Ok(PromptResponse::new(StopReason::EndTurn))
//!     }
//! }
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! # use agentwire_transport_stdio::stdio;
//! agentwire_acp_agent::serve(Echo, stdio()?).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Protocol rules that the crate applies
//!
//! - `initialize` comes first: before it, other requests are refused and notifications ignored. A second `initialize` is
//!   refused. The answer has version 1, whichever version the client requested.
//! - A method that the agent did not advertise answers "method not found", even where the agent implements it.
//! - Malformed blocks of a prompt are removed and reported to [`Agent::skipped`].
//! - A request is refused with "invalid params" and the reason when its params cannot be decoded, a directory is not
//!   absolute, or it has an MCP server, a content block or an authentication method that the agent did not advertise.
//! - `session/cancel` reaches the turn, even directly after the prompt. The turn then answers `cancelled` regardless of the
//!   agent's result.
//! - A method that the client did not advertise fails without being sent. So do a relative path, a permission request without
//!   options, a cost that is not a number, a URL with credentials, and an extension method whose name does not begin with an
//!   underscore.
//! - Boolean options and authentication in a terminal are removed for a client that did not advertise them.
//! - An answer that breaks the protocol for every client becomes an internal error that names the rule: two authentication
//!   methods, modes or options with the same id; a current mode that is not an available mode; an option whose current value
//!   is not in its list, or differs from the value just set; a relative path; an unknown stop reason.
//! - Unknown requests are answered with "method not found", unknown notifications are ignored. A panic becomes an internal error.
//!
//! # Versions and drafts
//!
//! The items here are for version 1. The feature `v2` adds the module `v2` for the draft of version 2, and `Router`,
//! which serves an agent of either version or of both. The first `initialize` of a connection selects the version;
//! nothing is converted between them. The feature `unstable` adds the module `unstable` for the drafts that extend
//! version 1. Neither changes the other items.
//!
//! # Outside the scope
//!
//! The crate does not store sessions and does not connect to MCP servers; a layer above does. It spawns no tasks: all
//! methods run within the future of [`serve`], which is `Send` if the agent's futures are.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "v2")]
mod absent;
mod agent;
mod client;
mod config;
mod connection_state;
mod dispatch;
mod extension;
mod method;
mod methods;
mod outgoing;
mod path;
mod prompt;
#[cfg(feature = "v2")]
mod router;
mod rules;
mod turns;
#[cfg(feature = "unstable")]
pub mod unstable;
#[cfg(feature = "v2")]
pub mod v2;

use agentwire_peer::runtime::set_revision;
use agentwire_peer::{TokioClock, driver};
use agentwire_transport::Transport;

#[cfg(feature = "v2")]
pub use absent::Absent;
pub use agent::Agent;
pub use agentwire_jsonrpc::{ErrorObject as Error, Skipped, SkippedPart};
pub use agentwire_peer::observe;
pub use agentwire_peer::{BoxError, CallError, Closed, OrInternal};
pub use client::{Context, RemoteClient};
pub use config::Config;
#[cfg(feature = "v2")]
pub use router::Router;

/// Serves a client until it closes the connection, with the defaults.
///
/// The future can be spawned, even by generic code:
///
/// ```
/// use agentwire_acp_agent::{Agent, serve};
/// use agentwire_transport::Transport;
///
/// fn spawn<A: Agent + 'static>(agent: A, transport: impl Transport + Send + 'static) {
///     tokio::spawn(serve(agent, transport));
/// }
/// ```
///
/// # Errors
///
/// When the transport fails.
pub async fn serve<A: Agent, T: Transport>(agent: A, transport: T) -> Result<(), Closed> {
    serve_with(agent, transport, Config::new()).await
}

/// Serves a client until it closes the connection.
///
/// ```
/// use agentwire_acp_agent::{Agent, serve_with};
/// use agentwire_acp_agent::{Closed, Config};
/// use agentwire_transport::Transport;
///
/// async fn run(agent: impl Agent, transport: impl Transport) -> Result<(), Closed> {
///     serve_with(agent, transport, Config::new().request_limit(64)).await
/// }
/// ```
///
/// # Errors
///
/// When the transport fails.
pub async fn serve_with<A: Agent, T: Transport>(
    agent: A,
    transport: T,
    config: Config,
) -> Result<(), Closed> {
    let (client, driver) = driver(config.into(), TokioClock::default());
    set_revision(&client, "1");
    driver.serve(dispatch::Dispatch::new(agent), transport).await
}

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
