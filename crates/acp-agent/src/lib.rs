//! An ACP agent on any transport.
//!
//! You write a type that implements [`Agent`]; [`serve`] puts it behind a connection. The protocol's own
//! bookkeeping is done here, the conversation is yours.
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
//! # What is done for you
//!
//! - `initialize` comes first: any other request before it is refused, any notification passed over, and a second
//!   one is refused too. The version is agreed on, never echoed.
//! - A method that the agent did not advertise is "method not found", whatever the agent's code can do.
//! - Parameters that cannot be decoded, a root that is not absolute, an MCP server or a content block of a
//!   kind that the agent did not advertise, a way to authenticate that it did not offer: refused with "invalid
//!   params", naming what was wrong.
//! - `session/cancel` reaches the turn, also when it is right behind the prompt, and the turn then answers
//!   `cancelled`, whatever the agent's code made of it.
//! - A method that the client did not advertise, and a path that is not absolute, are refused before they are
//!   sent; so are a permission with nothing to choose, a cost that is no number, a URL with credentials, and a method of
//!   one's own whose name does not begin with an underscore.
//! - Boolean options, wherever options are told, are left out for a client that did not advertise that it takes them, and
//!   so are ways to authenticate in a terminal.
//! - An answer of the agent's that breaks the protocol for every client is an internal error that says how: two ways to
//!   authenticate, modes or options with one id, a current mode that is none of the modes, an option whose value is none
//!   of its values or that was set and is not told so, a path that is not absolute, a reason to stop that nobody knows.
//! - Unknown requests are answered, unknown notifications passed over; a panic is an internal error.
//!
//! # Versions and drafts
//!
//! What is here is version 1. With the feature `v2` there is the module `v2` for the draft of version 2, and `Router`, which
//! serves an agent of either version, or of each, and decides by the first `initialize`; nothing is converted between
//! them. With the feature `unstable` there is the module `unstable` for what drafts add to version 1. Neither changes what
//! is there without it.
//!
//! # What it will not do
//!
//! It keeps no sessions and connects to no MCP servers: that is for a layer above. It spawns nothing: all
//! methods run within the one future of [`serve`], which is `Send` if the agent's futures are.

#[cfg(feature = "v2")]
mod absent;
mod agent;
mod agreed;
mod client;
mod config;
mod dispatch;
mod method;
mod methods;
mod outgoing;
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
pub use agent::{Agent, DynAgent};
pub use agentwire_jsonrpc::ErrorObject as Error;
pub use agentwire_peer::observe;
pub use agentwire_peer::{CallError, Closed};
pub use client::{Client, Context};
pub use config::Config;
#[cfg(feature = "v2")]
pub use router::Router;

/// Serves a client until it closes the connection, with the defaults.
///
/// # Errors
///
/// When the transport fails.
pub async fn serve<A: Agent, T: Transport>(agent: A, transport: T) -> Result<(), Closed> {
    serve_with(agent, transport, Config::new()).await
}

/// Serves a client until it closes the connection.
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
