//! Stores that can be away, and that can make an event wait until it is stored.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_store::{
    Bus, BusMessage, Durable, Event, EventId, EventStore, NodeId, Replay, SessionId, SessionRecord,
    SessionRecords, StoreError, Stores, StreamBlock, StreamRun, Subscription,
};
use bytes::Bytes;
use futures::channel::oneshot;
use futures::future::{BoxFuture, FutureExt};

#[derive(Debug)]
pub(crate) struct Faults {
    stores: Stores,
    away: AtomicBool,
    holds: AtomicBool,
    held: Mutex<Vec<oneshot::Sender<()>>>,
    /// Uses of records wait.
    stalls: Arc<AtomicBool>,
    /// Updates of records are refused: the store is full.
    full: AtomicBool,
    /// Updates of records fail, and their outcome is unknown.
    unwritable: AtomicBool,
    /// The number of updates of records.
    updates: AtomicUsize,
    /// The number of restarts of the time to live of records.
    touches: AtomicUsize,
    /// Messages for all nodes wait.
    holds_messages: Arc<AtomicBool>,
    /// Messages for all nodes are refused.
    refuses_messages: AtomicBool,
    /// Messages for all nodes are taken and reach none.
    loses_messages: AtomicBool,
    /// The last time to live of each record.
    lives: Mutex<HashMap<SessionId, Duration>>,
}

impl Faults {
    /// The same stores with faults.
    pub(crate) fn around(stores: Stores) -> (Arc<Self>, Stores) {
        let (away, holds) = (AtomicBool::new(false), AtomicBool::new(false));
        let faults = Arc::new(Self {
            stores: stores.clone(),
            away,
            holds,
            held: Mutex::default(),
            stalls: Arc::default(),
            full: AtomicBool::new(false),
            unwritable: AtomicBool::new(false),
            updates: AtomicUsize::new(0),
            touches: AtomicUsize::new(0),
            holds_messages: Arc::default(),
            refuses_messages: AtomicBool::new(false),
            loses_messages: AtomicBool::new(false),
            lives: Mutex::default(),
        });
        let faulty = Stores::new(faults.clone(), faults.clone(), faults.clone(), stores.nodes, stores.once);
        (faults, faulty)
    }

    pub(crate) fn away(&self, away: bool) {
        self.away.store(away, Ordering::SeqCst);
    }

    /// Events are stored, and the appends do not complete.
    pub(crate) fn hold(&self) {
        self.holds.store(true, Ordering::SeqCst);
    }

    pub(crate) fn release(&self) {
        self.holds.store(false, Ordering::SeqCst);
        for held in self.held.lock().unwrap().drain(..) {
            let _ = held.send(());
        }
    }

    /// The first of the events that wait is stored.
    pub(crate) fn release_first(&self) {
        let _ = self.held.lock().unwrap().remove(0).send(());
    }

    /// Whether every use of a record waits.
    pub(crate) fn stall(&self, stalls: bool) {
        self.stalls.store(stalls, Ordering::SeqCst);
    }

    /// Whether there is no room for changes of records.
    pub(crate) fn full(&self, full: bool) {
        self.full.store(full, Ordering::SeqCst);
    }

    /// Whether changes of records fail, and nothing else does.
    pub(crate) fn unwritable(&self, unwritable: bool) {
        self.unwritable.store(unwritable, Ordering::SeqCst);
    }

    /// The number of updates of records.
    pub(crate) fn updates(&self) -> usize {
        self.updates.load(Ordering::SeqCst)
    }

    /// The number of restarts of the time to live of records.
    pub(crate) fn touches(&self) -> usize {
        self.touches.load(Ordering::SeqCst)
    }

    /// Whether messages for all nodes wait.
    pub(crate) fn hold_messages(&self, holds: bool) {
        self.holds_messages.store(holds, Ordering::SeqCst);
    }

    /// Whether messages for all nodes are refused.
    pub(crate) fn refuse_messages(&self, refuses: bool) {
        self.refuses_messages.store(refuses, Ordering::SeqCst);
    }

    /// Whether messages for all nodes are taken and reach none.
    pub(crate) fn lose_messages(&self, loses: bool) {
        self.loses_messages.store(loses, Ordering::SeqCst);
    }

    /// The last time to live of a session's record.
    pub(crate) fn time_to_live(&self, session: SessionId) -> Option<Duration> {
        self.lives.lock().unwrap().get(&session).copied()
    }

    fn is_away(&self) -> bool {
        self.away.load(Ordering::SeqCst)
    }

    fn durable(&self, stored: impl FnOnce() -> Durable) -> Durable {
        if self.is_away() {
            return Durable::failed(StoreError::away("a test"));
        }
        match stored() {
            Durable::Now if self.holds.load(Ordering::SeqCst) => {
                let (release, released) = oneshot::channel();
                self.held.lock().unwrap().push(release);
                Durable::Later(released.map(|_| Ok(())).boxed())
            }
            stored => stored,
        }
    }

    fn later<T: Send + 'static>(
        &self,
        result: impl FnOnce() -> BoxFuture<'static, Result<T, StoreError>>,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        if self.is_away() {
            return std::future::ready(Err(StoreError::away("a test"))).boxed();
        }
        let (result, stalls) = (result(), self.stalls.clone());
        // As with an engine, others run in between.
        async move {
            tokio::task::yield_now().await;
            while stalls.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            result.await
        }
        .boxed()
    }
}

impl EventStore for Faults {
    /// While the store is away, the stream begins, and the call fails nevertheless.
    fn begin(&self, session: SessionId, stream: u64, runs: StreamRun) -> Durable {
        let begun = self.stores.events.begin(session, stream, runs);
        self.durable(|| begun)
    }

    fn append(&self, session: SessionId, event: Event, is_last: bool) -> Durable {
        self.durable(|| self.stores.events.append(session, event, is_last))
    }

    fn end(&self, session: SessionId, stream: u64) -> Durable {
        self.durable(|| self.stores.events.end(session, stream))
    }

    fn replay(
        &self,
        session: SessionId,
        after: EventId,
        limit: usize,
    ) -> BoxFuture<'static, Result<Replay, StoreError>> {
        self.later(|| self.stores.events.replay(session, after, limit))
    }

    fn take_over(
        &self,
        session: SessionId,
        stream: u64,
        last: Option<Bytes>,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.later(|| self.stores.events.take_over(session, stream, last))
    }

    fn forget(&self, session: SessionId) {
        self.stores.events.forget(session);
    }
}

impl SessionRecords for Faults {
    fn create(
        &self,
        session: SessionId,
        record: SessionRecord,
        time_to_live: Duration,
    ) -> BoxFuture<'static, Result<(), StoreError>> {
        self.lives.lock().unwrap().insert(session, time_to_live);
        self.later(|| self.stores.records.create(session, record, time_to_live))
    }

    fn load(&self, session: SessionId) -> BoxFuture<'static, Result<Option<SessionRecord>, StoreError>> {
        self.later(|| self.stores.records.load(session))
    }

    fn touch(
        &self,
        session: SessionId,
        time_to_live: Duration,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.touches.fetch_add(1, Ordering::SeqCst);
        self.lives.lock().unwrap().insert(session, time_to_live);
        self.later(|| self.stores.records.touch(session, time_to_live))
    }

    fn update(
        &self,
        session: SessionId,
        record: SessionRecord,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.updates.fetch_add(1, Ordering::SeqCst);
        if self.full.load(Ordering::SeqCst) {
            return std::future::ready(Err(StoreError::full("a test"))).boxed();
        }
        if self.unwritable.load(Ordering::SeqCst) {
            return std::future::ready(Err(StoreError::away("a test"))).boxed();
        }
        self.later(|| self.stores.records.update(session, record))
    }

    fn delete(&self, session: SessionId) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.later(|| self.stores.records.delete(session))
    }

    fn delete_unused(&self, session: SessionId) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.later(|| self.stores.records.delete_unused(session))
    }

    fn take_streams(
        &self,
        session: SessionId,
        count: u64,
    ) -> BoxFuture<'static, Result<Option<StreamBlock>, StoreError>> {
        self.later(|| self.stores.records.take_streams(session, count))
    }
}

impl Bus for Faults {
    fn publish(&self, from: NodeId, message: BusMessage) -> BoxFuture<'static, Result<(), StoreError>> {
        if self.refuses_messages.load(Ordering::SeqCst) {
            return std::future::ready(Err(StoreError::away("a test"))).boxed();
        }
        if self.loses_messages.load(Ordering::SeqCst) {
            return std::future::ready(Ok(())).boxed();
        }
        let (bus, holds) = (self.stores.bus.clone(), self.holds_messages.clone());
        async move {
            while holds.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            bus.publish(from, message).await
        }
        .boxed()
    }

    fn send(&self, to: NodeId, message: BusMessage) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.stores.bus.send(to, message)
    }

    fn subscribe(&self, node: NodeId) -> BoxFuture<'static, Result<Subscription, StoreError>> {
        self.stores.bus.subscribe(node)
    }
}
