//! The events of a host's agent: its end, and its restart with the sessions.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_client::CallError;
use agentwire_acp_schema::v1::SessionId;

/// An event of the agent of a [`Host`](crate::Host), for [`Host::on_event`](crate::Host::on_event).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HostEvent {
    /// The agent ended, or could not be started again.
    #[non_exhaustive]
    Ended {
        /// The reason. [`Exited::of`](agentwire_transport::Exited::of) finds how its process ended.
        reason: Arc<dyn Error + Send + Sync>,
        /// The pause before it is started again. `None` if it is not.
        restart_after: Option<Duration>,
    },
    /// The agent was started again and is initialized.
    #[non_exhaustive]
    Restarted {
        /// How many times it has been started again so far.
        restarts: u32,
        /// The sessions that were open, each with the outcome of opening it again.
        sessions: Vec<RestoredSession>,
    },
}

/// A session after a restart of the agent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RestoredSession {
    /// The session.
    pub session_id: SessionId,
    /// How it was opened again, or why not.
    pub outcome: Result<Restored, Arc<CallError>>,
}

/// How a session was opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Restored {
    /// By `session/resume`, which replays nothing.
    Resumed,
    /// By `session/load`. The replay is left out of the conversation, which has it already.
    Loaded,
}
