//! The state of a connection behind its lock: open calls, waiting futures, cancellations, and whether the event loop must be
//! woken.

pub(crate) mod call_slots;
pub(crate) mod cancellations;
pub(crate) mod guard;
pub(crate) mod send_capacity;
pub(crate) mod waker_slots;

use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Instant;

use agentwire_connection::{CallId, Connection, IncomingId};
use agentwire_jsonrpc::{ErrorObject, RawJson, RequestId, Skipped};
use agentwire_transport::TransportError;
use bytestring::ByteString;

use crate::error::Closed;
use crate::state::call_slots::{CallSlot, CallSlots};
use crate::state::cancellations::Cancellations;
use crate::state::send_capacity::{SendCapacity, Ticket};
use crate::state::waker_slots::{WakerSlots, replace};

/// Every so many futures of a connection that could complete on their first poll, one is pending once.
const YIELD_INTERVAL: u32 = 128;

/// The approximate size of a message without its method and params, in bytes.
const ENVELOPE: usize = 64;

/// The most results whose undecoded parts are kept until the handler gets them.
const MAX_SKIPPED: usize = 16;

/// The event loop's need to be woken for a change.
#[derive(Debug)]
enum LoopState {
    /// It runs, and has seen all changes so far or will see them before it waits.
    UpToDate,
    /// It runs, and has not seen the last change. It makes another round before it waits.
    Behind,
    /// It waits for its waker.
    Waiting,
}

/// The result of polling for one condition.
pub(crate) enum Wait<T> {
    Ready(T),
    Pending,
    /// It is ready, but [other futures run first](PeerState::must_yield).
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

pub(crate) struct PeerState {
    pub(crate) connection: Connection,
    pub(crate) calls: CallSlots,
    send_capacity: SendCapacity,
    /// The wakers of the [`WhenClosed`](crate::WhenClosed) futures.
    close_wakers: WakerSlots,
    cancellations: Cancellations,
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
    /// Wakers to drop without the lock.
    pub(crate) unused_wakers: Vec<Waker>,
    /// Parts that were left out of decoded results, by the methods of their calls, until the handler gets them.
    skipped: Vec<(ByteString, Skipped)>,
}

impl PeerState {
    pub(crate) fn new(connection: Connection) -> Self {
        Self {
            connection,
            calls: CallSlots::default(),
            send_capacity: SendCapacity::default(),
            close_wakers: WakerSlots::default(),
            cancellations: Cancellations::default(),
            event_loop: LoopState::UpToDate,
            waker: None,
            read_closed: None,
            write_closed: None,
            is_closed: false,
            ready: 0,
            unused_wakers: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Whether a future that could complete at once must be pending for one poll. Otherwise code that awaits such futures
    /// in a loop would hold its thread, and neither a cancel nor the end of the connection could reach it. Sending needs
    /// none of this, because the queue fills up.
    #[inline]
    pub(crate) fn must_yield(&mut self) -> bool {
        self.ready = self.ready.wrapping_add(1);
        self.ready.is_multiple_of(YIELD_INTERVAL)
    }

    /// Why nothing can be sent any more, if that is so.
    #[inline]
    pub(crate) fn write_closed(&self) -> Option<Closed> {
        self.write_closed.is_some().then(|| self.reason())
    }

    /// The error for new calls, if reading or writing has ended. If only writing has, open calls may still get a response.
    pub(crate) fn closed(&self) -> Option<Closed> {
        (self.read_closed.is_some() || self.write_closed.is_some()).then(|| self.reason())
    }

    /// Why the connection is closed. A reason from reading comes first: it is more precise than a broken pipe.
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
        self.close_wakers.take_all()
    }

    /// Records that nothing more can be sent. The first reason stays; that a peer which closed in good order no longer
    /// reads is not a reason. Returns the wakers to wake.
    #[must_use]
    pub(crate) fn close_write(&mut self, reason: Closed) -> Vec<Waker> {
        let reason = self.read_closed.clone().unwrap_or(reason);
        self.write_closed.get_or_insert(reason);
        self.send_capacity.take_all()
    }

    /// Waits until nothing more will arrive. `key` is the caller's place among the waiters.
    pub(crate) fn poll_closed(&mut self, key: &mut Option<usize>, waker: &Waker) -> Wait<Closed> {
        if self.read_closed.is_some() {
            *key = None;
            return if self.must_yield() { Wait::Yield } else { Wait::Ready(self.reason()) };
        }
        self.unused_wakers.extend(self.close_wakers.register(key, waker));
        Wait::Pending
    }

    pub(crate) fn forget_closed(&mut self, key: usize) {
        self.unused_wakers.extend(self.close_wakers.remove(key));
    }

    /// Called when the event loop is about to wait. Returns none if it must look once more first, else whether the
    /// connection is idle.
    pub(crate) fn prepare_wait(&mut self, waker: &Waker) -> Option<bool> {
        let may_wait = matches!(self.event_loop, LoopState::UpToDate);
        self.event_loop = if may_wait { LoopState::Waiting } else { LoopState::UpToDate };
        if may_wait {
            match &mut self.waker {
                Some(place) => self.unused_wakers.extend(replace(place, waker)),
                place => *place = Some(waker.clone()),
            }
        }
        let idle = may_wait && self.connection.is_idle();
        if idle {
            self.connection.shrink();
        }
        may_wait.then_some(idle)
    }

    /// Called when the event loop looks at everything from here on.
    pub(crate) fn mark_up_to_date(&mut self) {
        self.event_loop = LoopState::UpToDate;
    }

    /// Records a change that the event loop must see. The caller wakes the waker without the lock.
    #[must_use]
    #[inline]
    pub(crate) fn changed(&mut self) -> Option<Waker> {
        match std::mem::replace(&mut self.event_loop, LoopState::Behind) {
            LoopState::Waiting => self.waker.take(),
            LoopState::UpToDate | LoopState::Behind => None,
        }
    }

    /// Takes the event loop's waker, to drop it without the lock.
    pub(crate) fn take_waker(&mut self) -> Option<Waker> {
        self.waker.take()
    }

    /// Waits for room in the queue, at most until the deadline. `message` is the method and the params.
    #[inline]
    pub(crate) fn poll_capacity(
        &mut self,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
        deadline: Option<Instant>,
        message: (&str, Option<&RawJson>),
    ) -> Poll<()> {
        let (queued, limit) = (self.connection.queued_bytes(), self.connection.high_water());
        if self.send_capacity.admits(ticket, queued, limit) {
            return Poll::Ready(());
        }
        let size = ENVELOPE + message.0.len() + message.1.map_or(0, RawJson::len);
        self.unused_wakers.extend(self.send_capacity.wait(ticket, waker, deadline, size));
        Poll::Pending
    }

    /// Stops waiting for room. The caller wakes the waker without the lock: the event loop gives the room to others.
    #[must_use]
    pub(crate) fn forget_capacity(&mut self, ticket: &mut Option<Ticket>) -> Option<Waker> {
        if ticket.is_none() {
            return None;
        }
        let waker = self.send_capacity.leave(ticket);
        self.unused_wakers.extend(waker);
        if self.send_capacity.is_awaited() { self.changed() } else { None }
    }

    /// Whether futures wait for room.
    #[inline]
    pub(crate) fn is_capacity_awaited(&self) -> bool {
        self.send_capacity.is_awaited()
    }

    /// Takes the wakers of the futures whose messages fit into the room that there is.
    pub(crate) fn take_capacity_wakers(&mut self, now: Instant) -> Vec<Waker> {
        let (queued, limit) = (self.connection.queued_bytes(), self.connection.high_water());
        self.send_capacity.take_next(now, queued, limit)
    }

    /// Takes the wakers of the futures that have waited for room for too long.
    pub(crate) fn take_late_wakers(&mut self, now: Instant) -> Vec<Waker> {
        self.send_capacity.take_due(now)
    }

    /// When the event loop must act, whatever happens until then.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.connection.poll_timeout().into_iter().chain(self.send_capacity.next_deadline()).min()
    }

    /// Keeps the parts that were left out of a result, until the event loop passes them to its handler.
    pub(crate) fn skipped(&mut self, method: ByteString, skipped: Skipped) -> Option<Waker> {
        if self.skipped.len() < MAX_SKIPPED {
            self.skipped.push((method, skipped));
        }
        self.changed()
    }

    pub(crate) fn take_skipped(&mut self) -> Vec<(ByteString, Skipped)> {
        std::mem::take(&mut self.skipped)
    }
}

/// Calls by this side.
impl PeerState {
    /// Waits for the outcome of a call; see [`CallSlots::poll`].
    pub(crate) fn poll_call(&mut self, call: CallId, waker: &Waker, is_main: bool) -> Poll<Option<CallSlot>> {
        self.calls.poll(call, waker, is_main, &mut self.unused_wakers)
    }

    /// Forgets a call whose future was dropped, and cancels it if it is unanswered. The caller drops the slot and wakes the
    /// waker without the lock.
    pub(crate) fn drop_call(&mut self, call: CallId) -> (Option<CallSlot>, Option<Waker>) {
        let slot = self.calls.remove(call);
        let waker = match &slot {
            Some(slot) if slot.is_open() => {
                self.connection.cancel(call, "the caller no longer waits");
                self.changed()
            }
            _ => None,
        };
        (slot, waker)
    }

    /// Fails a call that the transport could not carry.
    pub(crate) fn fail_call(&mut self, id: &RequestId, error: Arc<TransportError>) {
        if let Some(call) = self.connection.handle_failure(id) {
            self.calls.set_error(call, error);
        }
    }
}

/// Requests of the peer's.
impl PeerState {
    /// Answers a request, which can no longer be cancelled then.
    pub(crate) fn answer(&mut self, incoming: IncomingId, outcome: Result<RawJson, ErrorObject>) {
        self.connection.answer(incoming, outcome);
        if !self.cancellations.is_empty() {
            self.unused_wakers.extend(self.cancellations.forget(incoming));
        }
    }

    /// Whether the peer has cancelled a request, or the connection ended before its response.
    pub(crate) fn is_cancelled(&self, incoming: IncomingId) -> bool {
        self.cancellations.is_cancelled(incoming) || (self.is_closed && self.is_unanswered(incoming))
    }

    /// Cancels a request, unless it is answered. Returns the wakers to wake.
    #[must_use]
    pub(crate) fn cancel(&mut self, incoming: IncomingId) -> Vec<Waker> {
        if self.is_unanswered(incoming) { self.cancellations.cancel(incoming) } else { Vec::new() }
    }

    /// Cancels a request whose handler was dropped because the connection ends. Returns the wakers to wake.
    #[must_use]
    pub(crate) fn abort(&mut self, incoming: IncomingId) -> Vec<Waker> {
        // A request that was answered while its handler went on is not aborted.
        if self.is_unanswered(incoming) { self.cancellations.abort(incoming) } else { Vec::new() }
    }

    /// Waits until a request is cancelled. `key` is the caller's place among the waiters.
    pub(crate) fn poll_cancelled(
        &mut self,
        incoming: IncomingId,
        key: &mut Option<usize>,
        waker: &Waker,
    ) -> Wait<()> {
        if self.is_cancelled(incoming) {
            *key = None;
            return if self.must_yield() { Wait::Yield } else { Wait::Ready(()) };
        }
        if self.is_unanswered(incoming) {
            self.unused_wakers.extend(self.cancellations.register(incoming, key, waker));
        }
        Wait::Pending
    }

    pub(crate) fn forget_cancelled(&mut self, incoming: IncomingId, key: usize) {
        self.unused_wakers.extend(self.cancellations.deregister(incoming, key));
    }

    /// Forgets all cancellations, because the connection has ended. Returns the wakers to wake.
    #[must_use]
    pub(crate) fn forget_cancellations(&mut self) -> Vec<Waker> {
        self.cancellations.forget_all()
    }

    fn is_unanswered(&self, incoming: IncomingId) -> bool {
        self.connection.incoming_request_id(incoming).is_some()
    }
}
