//! The state of a connection of version 2.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agentwire_acp_schema::v2::{ClientCapabilities, InitializeResponse, SessionId, SessionUpdate};

use super::states::SessionStates;
use super::turn_end::EndDetector;
use crate::elicitations::Elicitations;
use crate::session::initialized::Initialized;
use crate::session::options::SessionOptions;
use crate::session::updates::Readers;

/// The state of a connection, shared by the handle and the handler of the agent's requests.
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    pub(crate) initialized: Initialized<ClientCapabilities, InitializeResponse>,
    pub(crate) readers: Readers<SessionUpdate, EndDetector>,
    pub(crate) options: SessionOptions,
    pub(crate) states: SessionStates,
    /// Whether the agent has ever sent the message of a prompt; see [`EndDetector`].
    pub(crate) sends_messages: Arc<AtomicBool>,
    pub(crate) elicitations: Elicitations,
}

impl ConnectionState {
    /// Forgets a session that is closed or deleted.
    pub(crate) fn forget(&self, session: &SessionId) {
        self.options.forget(session);
        self.states.forget(session);
    }
}
