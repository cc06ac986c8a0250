//! An ACP client on any transport.
//!
//! You write a type that implements [`Client`], which is what the agent asks of you; [`connect`] gives you
//! an [`Agent`], which is what you ask of it.
//!
//! ```no_run
//! use agentwire_acp_client::{Client, Context, Error};
//! use agentwire_acp_schema::v1::*;
//! use agentwire_transport_stdio::{Child, Command};
//!
//! struct Terminal;
//!
//! impl Client for Terminal {
//!     fn session_update(&self, note: SessionNotification) {
//!         println!("{:?}", note.update)
//!     }
//!     async fn request_permission(
//!         &self,
//!         req: RequestPermissionRequest,
//!         _cx: Context,
//!     ) -> Result<RequestPermissionResponse, Error> {
//!         Ok(req.select_first())
//!     }
//! }
//!
//! # const TEN_MINUTES: std::time::Duration = std::time::Duration::from_secs(600);
//! # async fn run() -> Result<(), agentwire_acp_client::BoxError> {
//! let child = Child::spawn(Command::new("my-agent"))?;
//! agentwire_acp_client::connect(Terminal, child, async |agent| {
//!     agent.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//!     let session = agent.new_session(NewSessionRequest::new("/repo")).await?;
//!     let turn = agent.prompt(PromptRequest::new(session.session_id, "Fix the bug")).timeout(TEN_MINUTES).await?;
//!     println!("{:?}", turn.stop_reason);
//!     Ok(())
//! })
//! .await?;
//! # Ok(())
//! # }
//! ```
//!
//! # A turn as a stream
//!
//! A prompt can be awaited, as above, or read: [`updates`](PromptCall::updates) gives what happens as it happens, and the
//! answer last.
//!
//! ```no_run
//! # use agentwire_acp_client::{Agent, BoxError, TurnEvent};
//! # use agentwire_acp_schema::v1::*;
//! # async fn run(agent: Agent, session: SessionId) -> Result<(), BoxError> {
//! let mut turn = agent.prompt(PromptRequest::new(session, "Fix the bug")).updates();
//! while let Some(event) = turn.next().await {
//!     match event? {
//!         TurnEvent::Update(SessionUpdate::AgentMessageChunk(chunk)) => println!("{:?}", chunk.content),
//!         TurnEvent::Stopped(answer) => println!("{:?}", answer.stop_reason),
//!         _ => {}
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What is done for you
//!
//! - What the agent did not advertise, a mode or a value that the session did not offer, a relative path, a second
//!   `initialize` and anything before the first is refused before it is sent, with an error that names the rule. An
//!   agent that speaks another version is an error.
//! - What the client did not advertise is "method not found" to the agent, whatever the client's code can do. A
//!   relative path in a request of the agent's is refused too. An option that the agent did not offer is never selected.
//! - Dropping a `prompt`, and the end of its time, cancel the turn.
//! - Cancelling a turn, or closing its session, answers its permission requests with `cancelled`, also those that
//!   come before the agent has answered the prompt, and drops the question to the user. Behind that answer, whether it
//!   was awaited or not, the user is asked again.
//! - Updates arrive in order, and all of a turn's before its `prompt` returns.
//! - Lists are read page by page, as far as they are wanted: [`Agent::sessions`].
//! - What is unknown is kept or passed over, never fatal. A message is taken without an item of a list, or an optional
//!   member, that cannot be read, and the client is told: [`Client::skipped`].
//!
//! # What it will not do
//!
//! It touches no files and starts no commands: that is for a layer above. It spawns nothing: everything runs
//! within the one future of [`connect`], and ends with it.
//!
//! # Features
//!
//! None is on by default, and none changes a type or a trait.
//!
//! - `unstable`: the module `unstable` and `Agent::drafts`, with what drafts add to version 1.
//! - `v2`: the module `v2`, a client of the draft of version 2, and `connect_any`, which speaks the version that the agent
//!   does. With `unstable` also the module `v2::unstable`.

mod agent;
#[cfg(feature = "v2")]
mod any;
mod client;
mod config;
mod connection;
mod decode;
mod dispatch;
mod dispatcher;
#[cfg(feature = "unstable")]
mod drafts;
mod elicitations;
mod handle;
mod initialized;
mod list;
#[cfg(feature = "v2")]
mod negotiated;
mod prompt;
mod rules;
mod session;
mod session_options;
#[cfg(feature = "unstable")]
pub mod unstable;
mod updates;
#[cfg(feature = "v2")]
pub mod v2;

use std::future::Future;
use std::sync::Arc;

use agentwire_peer::runtime::set_revision;
use agentwire_peer::{Driver, TokioClock, driver};
use agentwire_transport::Transport;

use connection::connection;
use dispatch::Dispatch;
use session::Shared;

pub use agent::{Agent, Context};
pub use agentwire_jsonrpc::{ErrorObject as Error, Skipped, SkippedPart};
pub use agentwire_peer::observe;
pub use agentwire_peer::{Call, CallError, Closed, Notify};
#[cfg(feature = "v2")]
pub use any::{AnyAgent, AnyClient, connect_any, connect_any_with};
pub use client::{Client, DynClient};
pub use config::Config;
pub use list::Sessions;
pub use prompt::{PromptCall, Turn, TurnEvent};

/// Whatever went wrong in the code that was given to [`connect`].
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

connection! { "1" }

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
