//! An agent that speaks the draft of version 2 of the protocol. Behind the feature `v2`.
//!
//! It is a draft: it may change, and what is here changes with it. It shares no trait with version 1, because the two
//! differ in what a prompt is; [`Router`](crate::Router) serves an agent of each on one connection.
//!
//! ```
//! use agentwire_acp_agent::Error;
//! use agentwire_acp_agent::v2::{Agent, Context, Turn};
//! use agentwire_acp_schema::v2::*;
//!
//! struct Echo;
//!
//! impl Agent for Echo {
//!     async fn initialize(&self, req: InitializeRequest, _cx: Context) -> Result<InitializeResponse, Error> {
//!         let can = AgentCapabilities::new().session(SessionCapabilities::new());
//!         Ok(InitializeResponse::new(req.protocol_version, Implementation::new("echo", "1.0.0")).capabilities(can))
//!     }
//!     async fn new_session(&self, _req: NewSessionRequest, _cx: Context) -> Result<NewSessionResponse, Error> {
//!         Ok(NewSessionResponse::new("session-1"))
//!     }
//!     async fn prompt(&self, req: PromptRequest, turn: Turn) -> Result<IdleStopReason, Error> {
//!         turn.accept("message-1", &req.prompt).await?;
//!         for block in req.prompt {
//!             let said = UpdateSessionNotification::message(&req.session_id, "message-2", block);
//!             turn.client().session_update(said).await?;
//!         }
//!         Ok(IdleStopReason::EndTurn)
//!     }
//! }
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! # use agentwire_transport_stdio::stdio;
//! agentwire_acp_agent::v2::serve(Echo, stdio()?).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # A prompt
//!
//! In this version the answer to `session/prompt` says that the message is part of the conversation; that the work is
//! done comes later, as the state `idle`. Both are written as one method:
//!
//! ```text
//!  session/prompt ──▶ Agent::prompt begins
//!                       │            may wait or refuse: nothing has happened yet
//!                     Turn::accept ──▶ user_message, {messageId}, running
//!                       │            updates, questions
//!                     it returns   ──▶ idle and why, once no other prompt of the session is at work
//! ```
//!
//! A second prompt of a session may run beside the first; whoever wants one after the other waits before accepting. Work
//! that no prompt asked for begins with [`Client::begin_work`].
//!
//! # What is done for you
//!
//! - `initialize` comes first, once. A client that asks for a lower version is refused with `-32022` and what is
//!   supported.
//! - What was not advertised is not there; parameters that cannot be decoded, paths that are not absolute, MCP servers and
//!   content that the agent did not offer or that nobody knows, a replay from where nobody knows: refused with "invalid
//!   params". So are an option, or a value of one, that the session was not told to have, and the cancelling of a call or
//!   terminal that was not told to be cancellable.
//! - `session/cancel` reaches the work, also right behind the prompt, and withdraws what it asks of the user. The client
//!   is told `idle` with `cancelled`, whatever the agent's code made of it; a prompt that was not accepted yet is answered
//!   with "request cancelled".
//! - `session/close` waits for that, up to [`Agent::close_grace`]; a prompt that ignores its cancel is dropped then. Meanwhile and afterwards the session's prompts are refused with "not found", and
//!   after the answer no update is sent, not even one that waited for a client that reads slowly.
//! - `session/resume` is answered after the session's state has been told.
//! - An error, or a panic, after the message was accepted is told as the state `idle` with the error.
//! - What the client did not advertise, and a path that is not absolute, are refused before they are sent.
//!
//! Of each session on a connection it remembers the state, the options and what can be cancelled, as they were told last,
//! and of the last 1024 that were closed that they are. As many prompts may be under way as
//! [`Config::request_limit`](crate::Config::request_limit) says.

mod agent;
mod client;
pub(crate) mod dispatch;
pub(crate) mod methods;
mod outgoing;
mod question;
pub(crate) mod rules;
mod running;
mod sessions;
mod turn;
mod update;
mod work;

use agentwire_peer::runtime::set_revision;
use agentwire_peer::{TokioClock, driver};
use agentwire_transport::Transport;

use crate::{Closed, Config};

pub use agent::{Agent, DynAgent};
pub use client::Client;
pub use question::Question;
pub use rules::session_not_found;
pub use running::ForegroundWork;
pub use turn::{Context, Turn};
pub use update::Update;

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
    let limit = config.0.connection.request_limit;
    let (client, driver) = driver(config.into(), TokioClock::default());
    set_revision(&client, "2");
    driver.serve(dispatch::Dispatch::new(agent, limit), transport).await
}
