//! The state of a host's connection (connecting, connected or ended) and its open sessions.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use agentwire_acp_client::{AgentHandle, CallError};
use agentwire_acp_schema::v1::{NewSessionRequest, SessionId};
use agentwire_sync::Monitor;

use super::error::HostError;
use crate::toolkit::Replay;

/// The state of the connection, shared by the supervising loop and the handles.
#[derive(Debug)]
pub(super) struct Link(Monitor<LinkState>);

#[derive(Debug)]
struct LinkState {
    connection: Connection,
    /// How many times the agent was connected.
    connections: u32,
    /// Whether the main function has completed.
    closing: bool,
    sessions: BTreeMap<SessionId, OpenedSession>,
}

#[derive(Debug)]
enum Connection {
    /// Before the first connection, and between two connections.
    Connecting,
    Connected(AgentHandle),
    Ended(Arc<dyn Error + Send + Sync>),
}

/// A session that is opened again after a restart.
#[derive(Debug)]
struct OpenedSession {
    /// Its directories and MCP servers.
    setup: NewSessionRequest,
    /// Set if the session could not be opened again.
    lost: Option<SessionLoss>,
}

#[derive(Debug)]
struct SessionLoss {
    why: Arc<CallError>,
    /// Leaves out the replay of a load that timed out and may still arrive.
    late_replay: Option<Replay>,
}

impl Link {
    pub(super) fn new() -> Self {
        let connection = Connection::Connecting;
        Self(Monitor::new(LinkState {
            connection,
            connections: 0,
            closing: false,
            sessions: BTreeMap::new(),
        }))
    }

    /// Waits for the connection. Fails if the agent has ended for good.
    pub(super) async fn connected(&self) -> Result<AgentHandle, HostError> {
        self.0
            .wait_until(|state| match &state.connection {
                // The loop replaces a closed connection as soon as it notices the end.
                Connection::Connected(agent) => (!agent.is_closed()).then(|| Ok(agent.clone())),
                Connection::Connecting => None,
                Connection::Ended(reason) => Some(Err(HostError::Ended(reason.clone()))),
            })
            .await
    }

    /// Waits for the connection on which a session is open.
    pub(super) async fn connected_to(&self, session: &SessionId) -> Result<AgentHandle, HostError> {
        let agent = self.connected().await?;
        match self.0.with(|state| Some(state.sessions.get(session)?.lost.as_ref()?.why.clone())) {
            Some(why) => Err(HostError::SessionLost { session: session.clone(), why }),
            None => Ok(agent),
        }
    }

    /// Sets the connection. Returns how many connections preceded it.
    pub(super) fn set_connected(&self, agent: AgentHandle) -> u32 {
        self.0.update(|state| {
            state.connection = Connection::Connected(agent);
            state.connections += 1;
            state.connections - 1
        })
    }

    pub(super) fn set_connecting(&self) {
        self.0.update(|state| state.connection = Connection::Connecting);
    }

    pub(super) fn set_ended(&self, reason: Arc<dyn Error + Send + Sync>) {
        self.0.update(|state| state.connection = Connection::Ended(reason));
    }

    /// Returns how many times the agent was connected.
    pub(super) fn connections(&self) -> u32 {
        self.0.with(|state| state.connections)
    }

    pub(super) fn close(&self) {
        self.0.update(|state| state.closing = true);
    }

    /// Completes when the main function has completed.
    pub(super) async fn closing(&self) {
        self.0.wait_until(|state| state.closing.then_some(())).await;
    }

    pub(super) fn is_closing(&self) -> bool {
        self.0.with(|state| state.closing)
    }

    pub(super) fn opened(&self, session: SessionId, setup: NewSessionRequest) {
        self.0.with(|state| state.sessions.insert(session, OpenedSession { setup, lost: None }));
    }

    pub(super) fn closed(&self, session: &SessionId) {
        self.0.with(|state| state.sessions.remove(session));
    }

    /// Marks a session that could not be opened again. Its replay is left out from now on.
    pub(super) fn lost(&self, session: &SessionId, why: Arc<CallError>, late_replay: Replay) {
        self.0.with(|state| {
            if let Some(session) = state.sessions.get_mut(session) {
                session.lost = Some(SessionLoss { why, late_replay: Some(late_replay) });
            }
        });
    }

    /// Stops leaving out the replay of a lost session, because the program loads it again.
    pub(super) fn show_replay(&self, session: &SessionId) {
        self.0.with(|state| {
            if let Some(OpenedSession { lost: Some(lost), .. }) = state.sessions.get_mut(session) {
                lost.late_replay = None;
            }
        });
    }

    /// Returns the sessions to open again: those that are not lost.
    pub(super) fn sessions(&self) -> Vec<(SessionId, NewSessionRequest)> {
        self.0.with(|state| {
            let open = state.sessions.iter().filter(|(_, session)| session.lost.is_none());
            open.map(|(id, session)| (id.clone(), session.setup.clone())).collect()
        })
    }
}
