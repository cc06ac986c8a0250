//! One connection joined to one transport, driven by an event loop. Settles calls, checks timeouts, and pauses reading at the
//! limits.

mod io;

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Instant;

use agentwire_connection::{CallFailure, CallId, Event, IncomingId};
use agentwire_jsonrpc::{ErrorObject, RawJson, RequestId};
use agentwire_transport::{MessageSource, TransportError};

use crate::clock::Clock;
use crate::config::Config;
use crate::driver::Driver;
use crate::error::Closed;
use crate::observe::{CallObserver, ConnectionObservation};
use crate::panics::guarded;
use crate::peer::Peer;
use crate::peer_inner::PeerInner;
use crate::state::PeerState;
use crate::state::call_slots::SettleAction;

/// One connection over one transport, without handlers: reads, writes, settles calls, and enforces the limits.
///
/// A loop drives it. [`Driver::serve`] and [`Driver::run`] drive one port and call a handler; a relay drives two. The port
/// reports requests, notifications and the end of the connection, and the loop acts on them.
///
/// Each poll of the loop has these steps:
///
/// 1. [`begin_poll`](Self::begin_poll), once;
/// 2. the loop polls its own futures;
/// 3. [`begin_read`](Self::begin_read), then [`poll_read`](Self::poll_read) until it is pending or the loop has read enough.
///    After each input, the loop calls [`next_event`](Self::next_event) until it returns `None`;
/// 4. [`begin_write`](Self::begin_write) and [`poll_write`](Self::poll_write);
/// 5. [`handle_timeout`](Self::handle_timeout) when [`next_deadline`](Self::next_deadline) has passed, if any of its calls
///    has a time-out;
/// 6. [`prepare_wait`](Self::prepare_wait). If it returns false, the loop continues with step 2.
///
/// After the last poll the loop calls [`close`](Self::close) and then [`poll_close`](Self::poll_close). Dropping the port
/// closes it for all handles, and drops the transport.
pub struct Port<T> {
    // Dropped in this order: handles fail before the transport is dropped.
    driver: Driver,
    peer: Peer,
    transport: T,
    /// Whether frames may still arrive.
    reading: bool,
    /// The reason why the last round of reading stopped before the transport was pending.
    paused: Option<Pause>,
    /// Whether the transport was pending in this poll, and so wakes the task for the next packet.
    quiet: bool,
    /// Whether the connection's limits allow another frame, as of the last change.
    wants_input: bool,
    /// The time of this round of reading. The clock is read at the first packet, because most rounds have none.
    read_at: Option<Instant>,
    /// Whether frames can still leave.
    writing: bool,
    /// Whether the transport holds frames that it has not flushed.
    unflushed: bool,
    /// The size of the last frame that the transport accepted, until the transport has flushed it or has room again.
    last_sent: usize,
    /// How many frames the transport has accepted.
    sent: u64,
    /// Whether fewer bytes than the backlog limit are queued, here and in the transport.
    may_run_handlers: bool,
    /// Whether another round is due before the loop may wait.
    again: bool,
    /// `None` without an observer.
    observation: Option<Box<ConnectionObservation>>,
}

/// The reason why reading paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    /// The limits of the connection.
    Limits,
    /// The gate of the loop.
    Gate,
}

/// The result of [`Port::poll_read`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Input {
    /// A packet.
    #[non_exhaustive]
    Packet {
        /// The first event that it caused, if any. [`Port::next_event`] returns the others.
        event: Option<Event>,
        /// The source of the packet, if the transport has one.
        source: Option<Arc<dyn MessageSource>>,
    },
    /// A [gap](agentwire_transport::Packet::Gap), with the end if it has one.
    Gap(Option<Arc<TransportError>>),
    /// The transport has ended, with a fault if it reported one. The loop calls [`Port::close_read`].
    End(Option<TransportError>),
}

impl<T> Port<T> {
    /// Joins a connection and a transport.
    pub fn new(driver: Driver, transport: T) -> Self {
        let peer = Peer::new(driver.shared.clone());
        let observation = driver.config.observer.as_ref().map(|observer| {
            let dialect = &driver.config.connection.dialect;
            Box::new(ConnectionObservation::begin(observer, &driver.shared, dialect))
        });
        Self {
            driver,
            peer,
            transport,
            reading: true,
            paused: None,
            quiet: false,
            wants_input: true,
            read_at: None,
            writing: true,
            unflushed: false,
            last_sent: 0,
            sent: 0,
            may_run_handlers: true,
            again: false,
            observation,
        }
    }

    /// Returns a handle on the peer.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Returns the configuration of the connection.
    pub fn config(&self) -> &Config {
        &self.driver.config
    }

    /// Returns the clock of the connection.
    pub fn clock(&self) -> &dyn Clock {
        self.shared().clock()
    }

    /// Starts a poll of the loop.
    pub fn begin_poll(&mut self) {
        self.shared().lock().mark_up_to_date();
        self.quiet = false;
        self.again = false;
    }

    /// Demands another round before the loop waits.
    pub fn request_round(&mut self) {
        self.again = true;
    }

    /// Prepares the loop to wait. Returns true if it may return pending: there was no change since the last round, and the next
    /// change wakes it. Returns false if another round is due.
    ///
    /// An idle connection releases memory.
    pub fn prepare_wait(&mut self, cx: &mut Context<'_>) -> bool {
        if std::mem::take(&mut self.again) {
            return false;
        }
        let is_idle = self.shared().lock().prepare_wait(cx.waker());
        if is_idle == Some(true) {
            self.shared().release_memory();
        }
        is_idle.is_some()
    }

    /// Whether frames may still arrive.
    pub fn is_reading(&self) -> bool {
        self.reading
    }

    /// Whether frames can still leave.
    pub fn is_writing(&self) -> bool {
        self.writing
    }

    /// Whether the last round of reading stopped at a limit of the connection or at the loop's gate.
    pub fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// Whether the last round of reading stopped at the loop's gate. The loop demands a round when the gate opens.
    pub fn is_gated(&self) -> bool {
        self.paused == Some(Pause::Gate)
    }

    /// Whether the transport has flushed all frames that it accepted.
    pub fn is_flushed(&self) -> bool {
        !self.unflushed
    }

    /// Whether no call is open on either side, nothing is queued, and the transport has flushed.
    pub fn is_idle(&self) -> bool {
        !self.unflushed && self.shared().lock().connection.is_idle()
    }

    /// Whether fewer than [`Config::high_water`] bytes are queued.
    pub fn has_room(&self) -> bool {
        self.shared().lock().connection.has_room()
    }

    /// Whether fewer than [`Config::backlog_limit`] bytes are queued, here and in the transport.
    pub fn has_backlog_room(&self) -> bool {
        self.shared().lock().connection.may_run_handlers(self.last_sent)
    }

    /// Whether frames are queued.
    pub fn wants_output(&self) -> bool {
        self.shared().lock().connection.wants_output()
    }

    /// How many frames the transport has accepted so far.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Whether handlers of requests may run: fewer than [`Config::backlog_limit`] bytes are queued, here and in the transport.
    /// Otherwise the loop polls no handler. The response would take memory, and would wait for the queued frames anyway.
    pub fn may_run_handlers(&self) -> bool {
        self.may_run_handlers
    }

    /// Why the connection is closed; see [`close_read`](Self::close_read) and [`close_write`](Self::close_write).
    pub fn reason(&self) -> Closed {
        self.shared().lock().reason()
    }

    /// The id of an unanswered request of the peer.
    pub fn request_id(&self, incoming: IncomingId) -> Option<RequestId> {
        self.shared().lock().connection.incoming_request_id(incoming).cloned()
    }

    /// Whether a caller still waits for a call, or has not taken its outcome yet.
    pub fn is_awaited(&self, call: CallId) -> bool {
        self.shared().lock().calls.is_known(call)
    }

    /// Returns the next event.
    pub fn next_event(&mut self) -> Option<Event> {
        self.update(|_| {})
    }

    /// Answers a request of the peer.
    pub fn answer(&mut self, incoming: IncomingId, outcome: Result<RawJson, ErrorObject>) {
        let mut state = self.driver.shared.lock();
        state.answer(incoming, outcome);
        self.may_run_handlers = !self.writing || state.connection.may_run_handlers(self.last_sent);
    }

    /// Answers a request of the peer and returns the next event, under one lock.
    pub fn answer_and_next(
        &mut self,
        incoming: IncomingId,
        outcome: Result<RawJson, ErrorObject>,
    ) -> Option<Event> {
        self.update(|state| state.answer(incoming, outcome))
    }

    /// Answers a request whose handler was dropped because the connection ends. The futures that wait for its cancellation
    /// complete.
    pub fn abort(&mut self, incoming: IncomingId) {
        let wakers = self.shared().lock().abort(incoming);
        self.wake(wakers);
        let error = ErrorObject::internal_error("the connection closes before the handler has ended");
        self.answer(incoming, Err(error));
    }

    /// Handles [`Event::Cancelled`]: completes the futures that wait for the cancellation of a request.
    pub fn cancel(&mut self, incoming: IncomingId) {
        let wakers = self.shared().lock().cancel(incoming);
        self.wake(wakers);
    }

    /// Handles [`Event::Progress`]: calls the call's hook.
    pub fn progress(&mut self, call: CallId, params: RawJson) {
        let hook = self.shared().lock().calls.take_progress_hook(call);
        if let Some(mut hook) = hook {
            guarded(|| hook(params));
            let unwanted = self.shared().lock().calls.put_progress_hook(call, hook);
            drop(unwanted);
        }
    }

    /// Handles [`Event::CallEnded`]: runs the call's hook on the result, then wakes the caller. A caller in the main future
    /// of this loop is not woken, because the next round polls it.
    pub fn settle(&mut self, cx: &Context<'_>, call: CallId, outcome: Result<RawJson, CallFailure>) {
        if let (Some(observation), Err(failure)) = (&mut self.observation, &outcome) {
            let error = self.driver.shared.lock().calls.error(call);
            observation.settled(call, failure, error.as_deref());
        }
        let mut settled = self.shared().lock().calls.settle(call, outcome);
        if let SettleAction::Read(hook, result) = settled {
            hook(result);
            settled = self.shared().lock().calls.settle(call, Ok(RawJson::EMPTY_OBJECT));
        }
        if let SettleAction::Wake(waker, is_main) = settled {
            self.again = true;
            if !(is_main && waker.will_wake(cx.waker())) {
                waker.wake();
            }
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.shared().lock().next_deadline()
    }

    /// Fails the calls whose deadline has passed. Returns the first event.
    pub fn handle_timeout(&mut self) -> Option<Event> {
        let now = self.shared().now();
        let mut late = Vec::new();
        let event = self.update(|state| {
            state.connection.handle_timeout(now);
            late = state.take_late_wakers(now);
        });
        self.again = true;
        self.wake(late);
        event
    }

    /// Records that nothing more will arrive: calls fail. Returns the first event.
    pub fn close_read(&mut self, reason: Closed) -> Option<Event> {
        self.reading = false;
        let mut wakers = Vec::new();
        let event = self.update(|state| wakers = state.close_read(reason));
        self.wake(wakers);
        event
    }

    /// Records that no more frames can or will be sent: new calls and notifications fail.
    pub fn close_write(&mut self, reason: Closed) {
        let wakers = self.shared().lock().close_write(reason);
        self.wake(wakers);
    }

    /// Drops queued frames, now and later, instead of writing them.
    pub fn discard_output(&mut self) {
        self.writing = false;
        self.may_run_handlers = true;
    }

    /// Ends the connection for all handles.
    pub fn close(&mut self) {
        self.shared().close();
        self.observation = None;
    }

    /// The observer of an open call of the peer.
    pub(crate) fn call_observer(&self, id: &RequestId) -> Option<Arc<dyn CallObserver>> {
        self.observation.as_ref()?.call_observer(id)
    }

    pub(crate) fn shared(&self) -> &PeerInner {
        &self.driver.shared
    }

    /// Changes the connection, and returns the first event.
    #[inline]
    fn update(&mut self, change: impl FnOnce(&mut PeerState)) -> Option<Event> {
        let mut state = self.driver.shared.lock();
        change(&mut state);
        self.may_run_handlers = !self.writing || state.connection.may_run_handlers(self.last_sent);
        self.wants_input = state.connection.wants_input();
        let event = state.connection.poll_event();
        drop(state);
        if let (Some(observation), Some(event)) = (&mut self.observation, &event) {
            observation.event(event);
        }
        event
    }

    /// Wakes tasks. One of them may be this loop's task, so another round is due.
    fn wake(&mut self, wakers: impl IntoIterator<Item = Waker>) {
        for waker in wakers {
            self.again = true;
            waker.wake();
        }
    }
}

impl<T> fmt::Debug for Port<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Port").finish_non_exhaustive()
    }
}
