//! The state that the event loop and all handles of a connection share: the lock, the clock and the encode buffer.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::Instant;

use agentwire_connection::{CallId, Connection, Event};
use agentwire_jsonrpc::RawJson;
use bytestring::ByteString;
use serde::Serialize;

use crate::clock::Clock;
use crate::error::Closed;
use crate::observe::{NewCallObserver, Observer};
use crate::panics::guarded;
use crate::peer::encode_buffer::EncodeBuffer;
use crate::state::PeerState;
use crate::state::call_slots::SettleAction;
use crate::state::guard::StateGuard;
use crate::sync::{AtomicBool, Mutex, MutexGuard};

/// The part of a connection that the event loop and all handles share.
pub(crate) struct PeerInner {
    state: Mutex<PeerState>,
    encode_buffer: Mutex<EncodeBuffer>,
    clock: Box<dyn Clock>,
    /// How much memory a result may take once decoded, in bytes.
    value_limit: usize,
    /// Whether the main future is being polled.
    in_main: AtomicBool,
    /// The revision of the protocol, once a runtime has set it. For observers.
    revision: OnceLock<ByteString>,
    /// Only where an observer is set.
    observer: Option<Box<NewCallObserver>>,
}

impl fmt::Debug for PeerInner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeerInner").finish_non_exhaustive()
    }
}

impl PeerInner {
    pub(crate) fn new(
        connection: Connection,
        clock: Box<dyn Clock>,
        value_limit: usize,
        observer: Option<Arc<dyn Observer>>,
    ) -> Self {
        Self {
            state: Mutex::new(PeerState::new(connection)),
            encode_buffer: Mutex::default(),
            clock,
            value_limit,
            in_main: AtomicBool::new(false),
            revision: OnceLock::new(),
            observer: observer.map(NewCallObserver::new).map(Box::new),
        }
    }

    /// Locks the state. Under the lock no code of the user may run, and no waker may be woken or dropped.
    #[inline]
    pub(crate) fn lock(&self) -> StateGuard<'_> {
        let state = self.state.lock();
        StateGuard::new(state)
    }

    /// Ends the connection for all handles: fails calls, and completes the futures that wait for the end. A second call does
    /// nothing.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        if std::mem::replace(&mut state.is_closed, true) {
            return;
        }
        let mut wakers = state.close_write(Closed::default());
        wakers.extend(state.close_read(Closed::default()));
        while let Some(event) = state.connection.poll_event() {
            // Nothing arrives any more, so a call that is settled here has failed.
            if let Event::CallEnded { call, outcome: Err(failure) } = event
                && let SettleAction::Wake(waker, _) = state.calls.settle(call, Err(failure))
            {
                wakers.push(waker);
            }
        }
        state.mark_up_to_date();
        let waker = state.take_waker();
        wakers.extend(state.forget_cancellations());
        drop(state);
        drop(waker);
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn revision(&self) -> Option<&str> {
        self.revision.get().map(|revision| &**revision)
    }

    pub(crate) fn set_revision(&self, revision: ByteString) {
        self.revision.get_or_init(|| revision);
    }

    /// The observer of new calls, if any.
    #[inline]
    pub(crate) fn observer(&self) -> Option<&NewCallObserver> {
        self.observer.as_deref()
    }

    /// Drops the observer's value of a call that will not begin, if it has one. Must be called without the lock.
    #[inline]
    pub(crate) fn forget_context(&self, call: Option<CallId>) {
        if let (Some(observer), Some(call)) = (&self.observer, call) {
            let context = observer.take_context(call);
            // Its destructor is code of the observer.
            guarded(|| drop(context));
        }
    }

    pub(crate) fn value_limit(&self) -> usize {
        self.value_limit
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Polls the main future.
    ///
    /// A future polled inside `main` with the event loop's waker is polled again by the event loop. Any other holder of
    /// that waker must be woken explicitly: it runs in the same task, outside `main`.
    #[inline]
    pub(crate) fn in_main<R>(&self, poll: impl FnOnce() -> R) -> R {
        self.in_main.store(true, Ordering::Relaxed);
        let polled = poll();
        self.in_main.store(false, Ordering::Relaxed);
        polled
    }

    /// Whether the current poll may be within the main future. Relaxed order is enough: the result matters only for a future
    /// with the event loop's waker, which runs on the event loop's thread.
    #[inline]
    pub(crate) fn is_in_main(&self) -> bool {
        self.in_main.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn encode<T: Serialize + ?Sized>(&self, value: &T) -> Result<RawJson, serde_json::Error> {
        match self.busy_encode_buffer() {
            Some(mut buffer) => buffer.encode(value),
            None => RawJson::encode(value),
        }
    }

    /// Returns `None` for the first few values, and while the buffer is in use, perhaps further up this stack.
    fn busy_encode_buffer(&self) -> Option<MutexGuard<'_, EncodeBuffer>> {
        let mut buffer = self.encode_buffer.try_lock()?;
        buffer.is_busy().then_some(buffer)
    }

    /// Releases the encode buffer, because the event loop waits and the connection is idle.
    pub(crate) fn release_memory(&self) {
        if let Some(mut buffer) = self.encode_buffer.try_lock() {
            buffer.release();
        }
    }
}
