//! The cancellation of the peer's requests.

use std::collections::HashMap;
use std::task::Waker;

use agentwire_connection::IncomingId;
use slab::Slab;

use crate::locked::DeferredDrop;
use crate::state::{State, Wait, replace};

/// Whether a request is cancelled, and the wakers of the futures that wait for it.
#[derive(Default)]
pub(crate) struct Cancellation {
    is_cancelled: bool,
    wakers: Slab<Waker>,
}

impl State {
    pub(crate) fn is_cancelled(&self, incoming: IncomingId) -> bool {
        self.cancellations.get(&incoming).is_some_and(|cancellation| cancellation.is_cancelled)
            || self.is_aborted(incoming)
    }

    /// Whether the connection ended before the request was answered, or its handler was dropped for that reason.
    fn is_aborted(&self, incoming: IncomingId) -> bool {
        self.is_closed && self.connection.incoming_request_id(incoming).is_some()
            || self.aborted.contains(&incoming)
    }

    /// Records that a handler was dropped because the connection ends. Returns the wakers to wake.
    #[must_use]
    pub(crate) fn abort(&mut self, incoming: IncomingId) -> Vec<Waker> {
        // A request that was answered while its handler went on is not aborted.
        if self.connection.incoming_request_id(incoming).is_none() {
            return Vec::new();
        }
        self.aborted.insert(incoming);
        self.cancel(incoming)
    }

    /// Cancels a request, unless it is answered. Returns the wakers to wake.
    #[must_use]
    pub(crate) fn cancel(&mut self, incoming: IncomingId) -> Vec<Waker> {
        if self.connection.incoming_request_id(incoming).is_none() {
            return Vec::new();
        }
        let cancellation = self.cancellations.entry(incoming).or_default();
        cancellation.is_cancelled = true;
        cancellation.wakers.drain().collect()
    }

    pub(crate) fn poll_cancelled(
        &mut self,
        incoming: IncomingId,
        key: &mut Option<usize>,
        waker: &Waker,
    ) -> Wait<()> {
        if self.is_aborted(incoming) {
            *key = None;
            return if self.must_yield() { Wait::Yield } else { Wait::Ready(()) };
        }
        if self.connection.incoming_request_id(incoming).is_none() {
            return Wait::Pending;
        }
        let cancellation = self.cancellations.entry(incoming).or_default();
        if cancellation.is_cancelled {
            *key = None;
            return if self.must_yield() { Wait::Yield } else { Wait::Ready(()) };
        }
        match key.and_then(|key| cancellation.wakers.get_mut(key)) {
            Some(place) => self.deferred_drops.extend(replace(place, waker)),
            None => *key = Some(cancellation.wakers.insert(waker.clone())),
        }
        Wait::Pending
    }

    pub(crate) fn forget_cancelled(&mut self, incoming: IncomingId, key: usize) {
        if let Some(cancellation) = self.cancellations.get_mut(&incoming) {
            self.deferred_drops.extend(cancellation.wakers.try_remove(key).map(DeferredDrop::Waker));
        }
    }

    /// Forgets a request that is answered: its cancellation can no longer happen.
    pub(crate) fn forget_incoming(&mut self, incoming: IncomingId) {
        if !self.cancellations.is_empty() {
            let cancellation = self.cancellations.remove(&incoming);
            self.deferred_drops.extend(cancellation.map(DeferredDrop::Cancellation));
        }
    }

    /// Takes all cancellations, to drop them without the lock, and the wakers in them.
    pub(crate) fn take_cancellations(&mut self) -> (HashMap<IncomingId, Cancellation>, Vec<Waker>) {
        let mut cancellations = std::mem::take(&mut self.cancellations);
        let wakers =
            cancellations.values_mut().flat_map(|cancellation| cancellation.wakers.drain()).collect();
        (cancellations, wakers)
    }
}
