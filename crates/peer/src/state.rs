use std::collections::{HashMap, HashSet};
use std::task::{Poll, Waker};
use std::time::Instant;

use agentwire_connection::{Connection, IncomingId};
use agentwire_jsonrpc::Skipped;
use bytestring::ByteString;
use slab::Slab;

use crate::call_slots::CallSlots;
use crate::cancellations::Cancellation;
use crate::error::Closed;
use crate::locked::DeferredDrop;
use crate::send_capacity::{SendCapacity, Ticket};

/// Of the futures of a connection that complete at once, one in so many is pending for one poll first.
const READY_IN_A_ROW: u32 = 128;

/// Of how many results the parts that could not be decoded are kept until the handler gets them.
const MOST_SKIPPED: usize = 16;

/// What the event loop is doing, as seen by handles that have work for it.
#[derive(Debug)]
enum LoopState {
    /// It runs, and will look at everything once more before it waits.
    Looking,
    /// It runs, and something has changed since it last looked.
    Behind,
    /// It waits for its waker.
    Waiting,
}

/// What a future finds that waits for one thing.
pub(crate) enum Wait<T> {
    Ready(T),
    Pending,
    /// It is ready, but [other futures run first](State::must_yield).
    Yield,
}

impl<T> Wait<T> {
    /// Call this without the lock.
    pub(crate) fn into_poll(self, waker: &Waker) -> Poll<T> {
        match self {
            Self::Ready(value) => Poll::Ready(value),
            Self::Pending => Poll::Pending,
            Self::Yield => {
                waker.wake_by_ref();
                Poll::Pending
            }
        }
    }
}

/// The futures that wait for the peer.
#[derive(Default)]
pub(crate) struct Waiters {
    pub(crate) calls: CallSlots,
    send_capacity: SendCapacity,
}

pub(crate) struct State {
    pub(crate) connection: Connection,
    /// Made when it is first needed: many connections only answer, and send little.
    waiters: Option<Box<Waiters>>,
    /// Wakers of [`WhenClosed`](crate::WhenClosed).
    close_wakers: Slab<Waker>,
    /// Requests of the peer's that are cancelled, or whose cancellation a future waits for.
    pub(crate) cancellations: HashMap<IncomingId, Cancellation>,
    /// Requests whose handlers were dropped because the connection ends.
    pub(crate) aborted: HashSet<IncomingId>,
    event_loop: LoopState,
    /// Wakes the event loop. It is kept while the loop runs: mostly the loop waits with the same waker again.
    waker: Option<Waker>,
    /// Set when nothing more will arrive, with the reason.
    read_closed: Option<Closed>,
    /// Set when nothing more can be sent, with the reason.
    write_closed: Option<Closed>,
    /// Set when the event loop has ended and all waiters have been woken.
    pub(crate) is_closed: bool,
    /// Counts the futures that completed at once.
    ready: u32,
    /// Values to drop without the lock.
    pub(crate) deferred_drops: Vec<DeferredDrop>,
    /// Parts that were left out of decoded results, by the methods of their calls, until the handler gets them.
    skipped: Vec<(ByteString, Skipped)>,
}

impl State {
    pub(crate) fn new(connection: Connection) -> Self {
        Self {
            connection,
            waiters: None,
            close_wakers: Slab::new(),
            cancellations: HashMap::new(),
            aborted: HashSet::new(),
            event_loop: LoopState::Looking,
            waker: None,
            read_closed: None,
            write_closed: None,
            is_closed: false,
            ready: 0,
            deferred_drops: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Whether a future that could complete at once must be pending for one poll. Otherwise code that awaits such futures
    /// in a loop would hold its thread, and neither a cancel nor the end of the connection could reach it. Sending needs
    /// none of this, because the queue fills up.
    #[inline]
    pub(crate) fn must_yield(&mut self) -> bool {
        self.ready = self.ready.wrapping_add(1);
        self.ready.is_multiple_of(READY_IN_A_ROW)
    }

    /// Why nothing can be sent any more, if that is so.
    #[inline]
    pub(crate) fn write_closed(&self) -> Option<Closed> {
        self.write_closed.is_some().then(|| self.reason())
    }

    /// Why no call can be answered any more, if that is so.
    pub(crate) fn closed(&self) -> Option<Closed> {
        (self.read_closed.is_some() || self.write_closed.is_some()).then(|| self.reason())
    }

    /// Why the connection is closed. A reason from reading comes first: it says more than a broken pipe.
    pub(crate) fn reason(&self) -> Closed {
        let has_reason = |closed: &&Closed| closed.reason.is_some();
        self.read_closed
            .as_ref()
            .filter(has_reason)
            .or(self.write_closed.as_ref())
            .cloned()
            .unwrap_or_default()
    }

    /// Records that nothing more will arrive: calls fail. The first reason stays. Returns the wakers to wake.
    #[must_use]
    pub(crate) fn close_read(&mut self, reason: Closed) -> Vec<Waker> {
        self.connection.handle_end();
        self.read_closed.get_or_insert(reason);
        if self.close_wakers.is_empty() { Vec::new() } else { self.close_wakers.drain().collect() }
    }

    /// Records that nothing more can be sent. The first reason stays; that a peer which closed in good order no longer
    /// reads is no reason. Returns the wakers to wake.
    #[must_use]
    pub(crate) fn close_write(&mut self, reason: Closed) -> Vec<Waker> {
        let reason = self.read_closed.clone().unwrap_or(reason);
        self.write_closed.get_or_insert(reason);
        self.waiters.as_mut().map_or_else(Vec::new, |waiters| waiters.send_capacity.take_all())
    }

    /// Waits until nothing more will arrive. `key` is the caller's place among the waiters.
    pub(crate) fn poll_closed(&mut self, key: &mut Option<usize>, waker: &Waker) -> Wait<Closed> {
        if self.read_closed.is_some() {
            *key = None;
            return if self.must_yield() { Wait::Yield } else { Wait::Ready(self.reason()) };
        }
        match key.and_then(|key| self.close_wakers.get_mut(key)) {
            Some(place) => self.deferred_drops.extend(replace(place, waker)),
            None => *key = Some(self.close_wakers.insert(waker.clone())),
        }
        Wait::Pending
    }

    pub(crate) fn forget_closed(&mut self, key: usize) {
        self.deferred_drops.extend(self.close_wakers.try_remove(key).map(DeferredDrop::Waker));
    }

    /// Called when the event loop is about to wait. Returns none if it must look once more first, else whether the
    /// connection is idle.
    pub(crate) fn rest(&mut self, waker: &Waker) -> Option<bool> {
        let rested = matches!(self.event_loop, LoopState::Looking);
        self.event_loop = if rested { LoopState::Waiting } else { LoopState::Looking };
        if rested {
            match &mut self.waker {
                Some(place) => self.deferred_drops.extend(replace(place, waker)),
                place => *place = Some(waker.clone()),
            }
        }
        let idle = rested && self.connection.is_idle();
        if idle {
            self.connection.shrink();
        }
        rested.then_some(idle)
    }

    /// Called when the event loop looks at everything from here on.
    pub(crate) fn look(&mut self) {
        self.event_loop = LoopState::Looking;
    }

    /// Records a change that the event loop must see. The caller wakes the waker without the lock.
    #[must_use]
    #[inline]
    pub(crate) fn changed(&mut self) -> Option<Waker> {
        match std::mem::replace(&mut self.event_loop, LoopState::Behind) {
            LoopState::Waiting => self.waker.take(),
            LoopState::Looking | LoopState::Behind => None,
        }
    }

    /// Takes the event loop's waker, to drop it without the lock.
    pub(crate) fn take_waker(&mut self) -> Option<Waker> {
        self.waker.take()
    }

    /// Waits for room in the queue, at most until the deadline.
    #[inline]
    pub(crate) fn poll_capacity(
        &mut self,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<()> {
        if self.connection.has_room() {
            self.forget_capacity(ticket);
            return Poll::Ready(());
        }
        let replaced = self.waiters_mut().send_capacity.wait(ticket, waker, deadline);
        self.deferred_drops.extend(replaced.map(DeferredDrop::Waker));
        Poll::Pending
    }

    pub(crate) fn forget_capacity(&mut self, ticket: &mut Option<Ticket>) {
        let waker = self.waiters.as_mut().and_then(|waiters| waiters.send_capacity.leave(ticket));
        self.deferred_drops.extend(waker.map(DeferredDrop::Waker));
    }

    /// Takes the wakers of the futures that wait for room, if there is room again.
    pub(crate) fn take_capacity_wakers(&mut self) -> Vec<Waker> {
        match &mut self.waiters {
            Some(waiters) if self.connection.has_room() => waiters.send_capacity.take_all(),
            _ => Vec::new(),
        }
    }

    /// Takes the wakers of the futures that have waited for room for too long.
    pub(crate) fn take_late_wakers(&mut self, now: Instant) -> Vec<Waker> {
        self.waiters.as_mut().map_or_else(Vec::new, |waiters| waiters.send_capacity.take_due(now))
    }

    /// When the event loop must act, whatever happens until then.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let capacity = self.waiters.as_ref().and_then(|waiters| waiters.send_capacity.next_deadline());
        self.connection.poll_timeout().into_iter().chain(capacity).min()
    }

    pub(crate) fn waiters(&self) -> Option<&Waiters> {
        self.waiters.as_deref()
    }

    pub(crate) fn waiters_if_any(&mut self) -> Option<&mut Waiters> {
        self.waiters.as_deref_mut()
    }

    pub(crate) fn waiters_mut(&mut self) -> &mut Waiters {
        self.waiters.get_or_insert_default()
    }

    /// Keeps the parts that were left out of a result, until the event loop passes them to its handler.
    pub(crate) fn skipped(&mut self, method: ByteString, skipped: Skipped) -> Option<Waker> {
        if self.skipped.len() < MOST_SKIPPED {
            self.skipped.push((method, skipped));
        }
        self.changed()
    }

    pub(crate) fn take_skipped(&mut self) -> Vec<(ByteString, Skipped)> {
        std::mem::take(&mut self.skipped)
    }
}

/// Puts a waker in the place of another. Returns the other, unless both wake the same task.
pub(crate) fn replace(place: &mut Waker, waker: &Waker) -> Option<DeferredDrop> {
    let differs = !place.will_wake(waker);
    differs.then(|| DeferredDrop::Waker(std::mem::replace(place, waker.clone())))
}
