//! The cancellation of the peer's requests.

use std::collections::{HashMap, HashSet};
use std::task::Waker;

use agentwire_connection::IncomingId;

use crate::state::waker_slots::WakerSlots;

/// The cancelled requests of the peer's, and the futures that wait for the cancellation of a request.
#[derive(Default)]
pub(crate) struct Cancellations {
    /// Requests that are cancelled, or whose cancellation a future waits for.
    unanswered: HashMap<IncomingId, Cancellation>,
    /// Requests whose handlers were dropped because the connection ends.
    aborted: HashSet<IncomingId>,
}

/// The cancellation of a request, and the wakers of the futures that wait for it.
#[derive(Default)]
struct Cancellation {
    is_cancelled: bool,
    wakers: WakerSlots,
}

impl Cancellations {
    /// Whether no unanswered request is cancelled or has a future that waits for that.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.unanswered.is_empty()
    }

    pub(crate) fn is_cancelled(&self, incoming: IncomingId) -> bool {
        self.unanswered.get(&incoming).is_some_and(|cancellation| cancellation.is_cancelled)
            || self.aborted.contains(&incoming)
    }

    /// Cancels an unanswered request. Returns the wakers to wake.
    #[must_use]
    pub(crate) fn cancel(&mut self, incoming: IncomingId) -> Vec<Waker> {
        let cancellation = self.unanswered.entry(incoming).or_default();
        cancellation.is_cancelled = true;
        cancellation.wakers.take_all()
    }

    /// Cancels a request whose handler was dropped because the connection ends. It stays cancelled after its response. Returns
    /// the wakers to wake.
    #[must_use]
    pub(crate) fn abort(&mut self, incoming: IncomingId) -> Vec<Waker> {
        self.aborted.insert(incoming);
        self.cancel(incoming)
    }

    /// Registers a future that waits for the cancellation of an unanswered request. Returns the waker that it replaces.
    pub(crate) fn register(
        &mut self,
        incoming: IncomingId,
        key: &mut Option<usize>,
        waker: &Waker,
    ) -> Option<Waker> {
        self.unanswered.entry(incoming).or_default().wakers.register(key, waker)
    }

    /// Forgets a future that waited.
    pub(crate) fn deregister(&mut self, incoming: IncomingId, key: usize) -> Option<Waker> {
        self.unanswered.get_mut(&incoming)?.wakers.remove(key)
    }

    /// Forgets a request that is answered: it can no longer be cancelled. Returns the wakers to drop.
    pub(crate) fn forget(&mut self, incoming: IncomingId) -> Vec<Waker> {
        self.unanswered.remove(&incoming).map_or_else(Vec::new, |mut forgotten| forgotten.wakers.take_all())
    }

    /// Forgets all requests, because the connection has ended. Returns the wakers to wake.
    pub(crate) fn forget_all(&mut self) -> Vec<Waker> {
        self.unanswered.drain().flat_map(|(_, mut forgotten)| forgotten.wakers.take_all()).collect()
    }
}
