//! The guard that ends a prompt, or foreground work without a prompt.

use std::sync::Arc;

use agentwire_acp_schema::v2::IdleStopReason;
use agentwire_jsonrpc::RawJson;
use agentwire_peer::Peer;

use super::connection_state::ConnectionState;
use super::work::Phase;
use crate::Error;

/// Ends work: with an outcome, or as failed when this is dropped without one.
#[derive(Debug)]
pub(crate) struct WorkGuard {
    state: Arc<ConnectionState>,
    peer: Peer,
    /// `None` after the work has ended.
    key: Option<usize>,
}

impl WorkGuard {
    pub(crate) fn new(state: Arc<ConnectionState>, peer: Peer, key: usize) -> Self {
        Self { state, peer, key: Some(key) }
    }

    /// Ends a prompt and returns the answer to its request. The answer is ignored if the prompt was accepted, because
    /// acceptance has answered the request.
    pub(crate) fn answer(
        mut self,
        outcome: Result<IdleStopReason, Error>,
        is_cancelled: bool,
    ) -> Result<RawJson, Error> {
        let reason = match &outcome {
            Ok(reason) => reason.clone(),
            Err(error) => error.clone().into(),
        };
        match self.finish(reason) {
            Some(Phase::Accepted) => Ok(RawJson::NULL),
            _ if is_cancelled => Err(Error::request_cancelled()),
            _ => outcome.and_then(|_| Err(Error::internal_error("the agent did not accept the prompt"))),
        }
    }

    /// Ends the work with a reason and returns its previous phase, or `None` if it has ended already.
    pub(crate) fn finish(&mut self, reason: IdleStopReason) -> Option<Phase> {
        self.key.take().map(|key| self.state.sessions.end(&self.peer, key, reason))
    }
}

impl Drop for WorkGuard {
    fn drop(&mut self) {
        self.finish(Error::internal_error("the work ended without an outcome").into());
    }
}
