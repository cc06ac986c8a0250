use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use agentwire_acp_schema::v1::SessionId;
use agentwire_peer::RequestContext;

/// The turns that run, so that `session/cancel` finds them.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    running: Mutex<HashMap<SessionId, Vec<Arc<Turn>>>>,
}

#[derive(Debug)]
struct Turn {
    request: RequestContext,
    cancelled: Mutex<bool>,
}

impl Turns {
    /// Takes note of a turn, until what this gives is dropped.
    pub(crate) fn begin(&self, session: &SessionId, request: RequestContext) -> Running<'_> {
        let turn = Arc::new(Turn { request, cancelled: Mutex::new(false) });
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.entry(session.clone()).or_default().push(turn.clone());
        Running { turns: self, session: session.clone(), turn }
    }

    /// Tells all turns of a session to end.
    pub(crate) fn cancel(&self, session: &SessionId) {
        let turns = self.running.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned();
        for turn in turns.into_iter().flatten() {
            *turn.cancelled.lock().unwrap_or_else(PoisonError::into_inner) = true;
            turn.request.cancel();
        }
    }
}

/// A turn that runs.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    turns: &'a Turns,
    session: SessionId,
    turn: Arc<Turn>,
}

impl Running<'_> {
    /// Whether the client has cancelled the turn.
    pub(crate) fn is_cancelled(&self) -> bool {
        *self.turn.cancelled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut running = self.turns.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turns) = running.get_mut(&self.session) {
            turns.retain(|turn| !Arc::ptr_eq(turn, &self.turn));
            if turns.is_empty() {
                running.remove(&self.session);
            }
        }
    }
}
