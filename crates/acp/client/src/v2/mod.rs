//! The draft of version 2 of the protocol: a client and its agent, as in version 1 at the root of this crate.
//!
//! The draft may change, and this module changes with it. A connection speaks one version from `initialize` on.
//! [`connect`] is for programs that speak version 2 alone; [`connect_any`](crate::connect_any) serves either version.
//!
//! ```no_run
//! use agentwire_acp_client::Error;
//! use agentwire_acp_client::v2::{Client, Context};
//! use agentwire_acp_schema::v2::*;
//! use agentwire_transport_stdio::{Child, Command};
//!
//! struct Terminal;
//!
//! impl Client for Terminal {
//!     fn session_update(&self, note: UpdateSessionNotification) {
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
//! # async fn run() -> Result<(), agentwire_acp_client::BoxError> {
//! let child = Child::spawn(Command::new("my-agent"))?;
//! agentwire_acp_client::v2::connect(Terminal, child, async |agent| {
//!     let editor = Implementation::new("editor", "1.0.0");
//!     agent.initialize(InitializeRequest::new(ProtocolVersion::V2, editor)).await?;
//!     let session = agent.new_session(NewSessionRequest::new("/repo")).await?;
//!     let turn = agent.prompt(PromptRequest::new(session.session_id, "Fix the bug")).await?;
//!     println!("{:?}", turn.stop_reason());
//!     Ok(())
//! })
//! .await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What differs from version 1
//!
//! - **A prompt is answered when it is part of the conversation**, and not when the agent is done. [`PromptCall`]
//!   and [`Turn`] complete when the agent sends the state `idle`.
//! - **The agent withdraws its permission requests**, with `$/cancel_request`. Cancelling a session does not end them here.
//!   A withdrawn request is answered `cancelled`, and the client's future for it is dropped.
//! - The client has no methods for files and terminals, and there are no modes. `session/resume` replays the session if the
//!   request has `replayFrom`.
//! - Closing a session that the agent does not know succeeds: [`close_session`](AgentHandle::close_session).
//!
//! Updates of messages, tool calls and terminals are patches. This crate does not merge them.

mod agent;
mod client;
mod close;
mod dispatch;
mod prompt;
mod rules;
mod session;
mod states;
mod turn_end;
#[cfg(feature = "unstable")]
pub mod unstable;

use std::future::Future;
use std::sync::Arc;

use agentwire_acp_schema::v2::{ErrorData, ListSessionsRequest, UnsupportedProtocolVersionErrorData};
use agentwire_peer::runtime::set_revision;
use agentwire_peer::{CallError, Closed, Driver, TokioClock, driver};
use agentwire_transport::Transport;

use crate::connection::connection;
use crate::{BoxError, Config, ConnectionError};

pub use agent::{AgentHandle, Context};
pub use client::Client;
pub use close::CloseCall;
pub(crate) use dispatch::Dispatch;
pub use prompt::{PromptCall, Turn, TurnEnd, TurnEvent};
pub(crate) use session::ConnectionState;

/// The sessions of the agent; see [`Sessions`](crate::Sessions).
pub type Sessions = crate::Sessions<ListSessionsRequest>;

connection! { "2", "v2::" }

/// The versions of the agent, if it refused `initialize` because it speaks none up to the one that was named.
pub fn unsupported_version(error: &CallError) -> Option<UnsupportedProtocolVersionErrorData> {
    match ErrorData::of(error.refusal()?) {
        Some(ErrorData::UnsupportedProtocolVersion(data)) => Some(data),
        _ => None,
    }
}
