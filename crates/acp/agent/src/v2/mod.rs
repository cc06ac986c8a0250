//! An agent that speaks the draft of version 2 of the protocol. Requires the feature `v2`.
//!
//! The draft may change, and this module changes with it. The module shares no trait with version 1, because the two versions
//! differ in how a prompt is answered. [`Router`](crate::Router) serves an agent of each on one connection.
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
//! The answer to `session/prompt` reports that the message is part of the session. The end of the work follows later,
//! as the state `idle`. One method does both:
//!
//! ```text
//!  session/prompt ──▶ Agent::prompt begins
//!                       │            may wait or refuse: the message is not in the session yet
//!                     Turn::accept ──▶ user_message, {messageId}, running
//!                       │            updates, questions
//!                     it returns   ──▶ idle with the reason, when no other prompt of the session runs
//! ```
//!
//! Several prompts of a session may run concurrently. An agent that runs one at a time waits before it accepts the next.
//! Work without a prompt begins with [`RemoteClient::begin_work`].
//!
//! # Protocol rules that the crate applies
//!
//! - `initialize` comes first, once. A client that requests a lower version is refused with `-32022`, whose data name the
//!   supported versions.
//! - A method that was not advertised answers "method not found". A request is refused with "invalid params" when its params
//!   cannot be decoded, a path is not absolute, it has an MCP server or content that the agent did not advertise or that is
//!   unknown, or its `replayFrom` is unknown. The same error refuses an option or a value that the session does not
//!   have, and the cancel of a call or terminal whose last update did not allow it.
//! - `session/cancel` reaches the work, even directly after the prompt, and withdraws its requests to the user. The client gets
//!   the state `idle` with `cancelled`, regardless of the agent's result. A prompt that was not accepted yet is answered with
//!   "request cancelled".
//! - `session/close` waits for the session's prompts up to [`Agent::close_grace`], and drops those that still run. New prompts
//!   are refused with "not found". No update follows the answer, not even an update that was queued for a slow client.
//! - `session/resume` is answered after the session's state has been sent.
//! - An error or a panic after the message was accepted becomes the state `idle` with the error.
//! - A method that the client did not advertise, and a message with a relative path, fail without being sent.
//!
//! For each session the connection keeps the last state, the last options, and which calls and terminals can be
//! cancelled. It keeps the ids of the last 1,024 closed sessions. At most
//! [`Config::request_limit`](crate::Config::request_limit) prompts run at once.

mod agent;
mod client;
mod connection_state;
pub(crate) mod dispatch;
mod foreground;
pub(crate) mod methods;
mod outgoing;
mod question;
pub(crate) mod rules;
mod sessions;
mod turn;
mod update;
mod work;
mod work_guard;

use agentwire_peer::runtime::set_revision;
use agentwire_peer::{TokioClock, driver};
use agentwire_transport::Transport;

use crate::{Closed, Config};

pub use agent::Agent;
pub use client::RemoteClient;
pub use foreground::ForegroundWork;
pub use question::Question;
pub use rules::session_not_found;
pub use turn::{Context, Turn};
pub use update::Update;

/// Serves a client until it closes the connection, with the defaults.
///
/// The future can be spawned, even by generic code:
///
/// ```
/// use agentwire_acp_agent::v2::{Agent, serve};
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
/// use agentwire_acp_agent::v2::{Agent, serve_with};
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
    let limit = config.0.connection.request_limit;
    let (client, driver) = driver(config.into(), TokioClock::default());
    set_revision(&client, "2");
    driver.serve(dispatch::Dispatch::new(agent, limit), transport).await
}
