//! An ACP client on any transport.
//!
//! `agentwire_acp_client` here is `agentwire::acp::client` in the crate `agentwire`, with its feature `acp-client`.
//!
//! You write a type that implements [`Client`], the methods that the agent calls. [`connect`] returns an [`AgentHandle`], the
//! methods that you call.
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
//!         Ok(req.allow())
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
//! A prompt can be awaited, as above, or read as a stream: [`updates`](PromptCall::updates) returns each update when it
//! arrives, and the answer last.
//!
//! ```no_run
//! # use agentwire_acp_client::{AgentHandle, BoxError, TurnEvent};
//! # use agentwire_acp_schema::v1::*;
//! # async fn run(agent: AgentHandle, session: SessionId) -> Result<(), BoxError> {
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
//! - A call fails without being sent, with an error that names the rule: a method that the agent did not advertise, a mode or
//!   a value that the session did not offer, a relative path, a second `initialize`, and any call before `initialize`. An
//!   agent that answers with another version is an error.
//! - A method that the client did not advertise answers "method not found", even where the client implements it. A relative
//!   path in a request of the agent is refused too. An option that the agent did not offer is never selected.
//! - A turn is cancelled when its `prompt` is dropped or times out.
//! - Cancelling a turn, or closing its session, answers its permission requests with `cancelled` and drops the client's
//!   futures for them. That includes requests that arrive before the agent's answer to the prompt, even if the prompt was
//!   dropped, and no later ones.
//! - Updates arrive in order, and all updates of a turn before its `prompt` returns.
//! - Lists are read page by page, as far as the caller needs: [`AgentHandle::sessions`].
//! - Unknown members and messages are kept or ignored, and never fatal. Items of lists and optional members that cannot be
//!   decoded are left out of a message and reported: [`Client::skipped`].
//!
//! # What it will not do
//!
//! The crate does not access files or start commands; a layer above does. It spawns no tasks: everything runs
//! within the future of [`connect`], and ends with it.
//!
//! # Features
//!
//! No feature is on by default. No feature changes a type or a trait.
//!
//! - `unstable`: the module `unstable` and `AgentHandle::drafts`, with what drafts add to version 1.
//! - `v2`: the module `v2`, a client of the draft of version 2, and `connect_any`, which speaks the version that the agent
//!   does. With `unstable` also the module `v2::unstable`.
#![cfg_attr(docsrs, feature(doc_cfg))]

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
mod list;
mod rules;
mod session;
#[cfg(feature = "unstable")]
pub mod unstable;
#[cfg(feature = "v2")]
pub mod v2;

use std::future::Future;
use std::sync::Arc;

use agentwire_peer::runtime::set_revision;
use agentwire_peer::{Driver, TokioClock, driver};
use agentwire_transport::Transport;

use connection::connection;
use dispatch::Dispatch;
use session::ConnectionState;

pub use agent::{AgentHandle, Context};
pub use agentwire_jsonrpc::{ErrorObject as Error, Skipped, SkippedPart};
pub use agentwire_peer::observe;
pub use agentwire_peer::{BoxError, Call, CallError, Closed, ConnectionError, Notify, OrInternal};
pub use agentwire_sync::Backoff;
#[cfg(feature = "v2")]
pub use any::{AnyAgent, AnyClient, connect_any, connect_any_with};
pub use client::Client;
pub use config::Config;
pub use list::{Listing, Sessions};
pub use session::prompt::{PromptCall, Turn, TurnEvent};

connection! { "1", "" }

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
