use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agentwire_acp_schema::v2::{ClientCapabilities, InitializeResponse, SessionUpdate};

use super::end::End;
use super::states::States;
use crate::elicitations::Elicitations;
use crate::greeting::Greeting;
use crate::offers::Offers;
use crate::updates::Readers;

/// What the handle on the agent and the handler of its requests both know.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) greeting: Greeting<ClientCapabilities, InitializeResponse>,
    pub(crate) readers: Readers<SessionUpdate, End>,
    pub(crate) offers: Offers,
    pub(crate) states: States,
    /// Whether the agent has told of a message of a prompt's; see [`End`].
    pub(crate) tells: Arc<AtomicBool>,
    pub(crate) elicitations: Elicitations,
}
