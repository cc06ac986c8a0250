use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agentwire_acp_schema::v2::{ClientCapabilities, InitializeResponse, SessionId, SessionUpdate};

use super::end::End;
use super::states::States;
use crate::elicitations::Elicitations;
use crate::initialized::Initialized;
use crate::session_options::SessionOptions;
use crate::updates::Readers;

/// What the handle on the agent and the handler of its requests both know.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) initialized: Initialized<ClientCapabilities, InitializeResponse>,
    pub(crate) readers: Readers<SessionUpdate, End>,
    pub(crate) options: SessionOptions,
    pub(crate) states: States,
    /// Whether the agent has told of a message of a prompt's; see [`End`].
    pub(crate) tells: Arc<AtomicBool>,
    pub(crate) elicitations: Elicitations,
}

impl Shared {
    /// Forgets a session that is closed or deleted.
    pub(crate) fn forget(&self, session: &SessionId) {
        self.options.forget(session);
        self.states.forget(session);
    }
}
