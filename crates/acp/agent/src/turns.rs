//! The running turns of a connection.

use agentwire_acp_schema::v1::SessionId;
use agentwire_peer::RequestContext;
use agentwire_sync::{Mutex, MutexGuard};
use slab::Slab;

/// The running turns, by session, so that `session/cancel` finds them.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    running: Mutex<Slab<RunningTurn>>,
}

#[derive(Debug)]
struct RunningTurn {
    session: SessionId,
    request: RequestContext,
    cancelled: bool,
}

impl Turns {
    /// Adds a turn. Dropping the guard removes it.
    pub(crate) fn begin(&self, session: &SessionId, request: RequestContext) -> TurnGuard<'_> {
        let turn = RunningTurn { session: session.clone(), request, cancelled: false };
        TurnGuard { turns: self, key: Some(self.running().insert(turn)) }
    }

    /// Cancels all turns of a session.
    pub(crate) fn cancel(&self, session: &SessionId) {
        let mut running = self.running();
        let turns = running.iter_mut().map(|(_, turn)| turn).filter(|turn| turn.session == *session);
        let requests: Vec<_> = turns
            .map(|turn| {
                turn.cancelled = true;
                turn.request.clone()
            })
            .collect();
        drop(running);
        requests.iter().for_each(RequestContext::cancel);
    }

    fn running(&self) -> MutexGuard<'_, Slab<RunningTurn>> {
        self.running.lock()
    }
}

/// Removes a turn when it is dropped.
#[derive(Debug)]
pub(crate) struct TurnGuard<'a> {
    turns: &'a Turns,
    /// `None` after the turn has been removed.
    key: Option<usize>,
}

impl TurnGuard<'_> {
    /// Removes the turn and returns whether the client has cancelled it.
    pub(crate) fn end(mut self) -> bool {
        self.remove().is_some_and(|turn| turn.cancelled)
    }

    fn remove(&mut self) -> Option<RunningTurn> {
        self.key.take().map(|key| self.turns.running().remove(key))
    }
}

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        self.remove();
    }
}
