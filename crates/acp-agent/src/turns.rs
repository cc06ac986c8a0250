use agentwire_acp_schema::v1::SessionId;
use agentwire_peer::RequestContext;
use agentwire_sync::{Mutex, MutexGuard};
use slab::Slab;

/// The turns that run, so that `session/cancel` finds them.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    running: Mutex<Slab<Turn>>,
}

#[derive(Debug)]
struct Turn {
    session: SessionId,
    request: RequestContext,
    cancelled: bool,
}

impl Turns {
    /// Takes note of a turn, until what this gives is dropped.
    pub(crate) fn begin(&self, session: &SessionId, request: RequestContext) -> Running<'_> {
        let turn = Turn { session: session.clone(), request, cancelled: false };
        Running { turns: self, place: Some(self.running().insert(turn)) }
    }

    /// Tells all turns of a session to end.
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

    fn running(&self) -> MutexGuard<'_, Slab<Turn>> {
        self.running.lock()
    }
}

/// A turn that runs.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    turns: &'a Turns,
    /// None once it has ended.
    place: Option<usize>,
}

impl Running<'_> {
    /// The turn has ended. Says whether the client has cancelled it.
    pub(crate) fn end(mut self) -> bool {
        self.remove().is_some_and(|turn| turn.cancelled)
    }

    fn remove(&mut self) -> Option<Turn> {
        self.place.take().map(|place| self.turns.running().remove(place))
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.remove();
    }
}
