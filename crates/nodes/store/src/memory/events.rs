//! Keeps the newest events of each session in memory.

use agentwire_sync::Mutex;
use bytes::Bytes;
use futures_util::future::{self, BoxFuture};

use crate::table::event::EventTable;
use crate::{Durable, Event, EventId, EventStore, Replay, SessionId, StoreError, StoreLimits, StreamRun};

/// Keeps the newest events in memory: by default up to 4 MiB for one session and 16 MiB for all sessions. The overhead of each
/// event counts too.
///
/// Beyond the limit for all sessions, the owner with the most bytes loses the oldest events of its largest session. So an owner
/// that fills the store costs other owners nothing.
#[derive(Debug)]
pub struct MemoryEventStore(Mutex<EventTable>);

impl MemoryEventStore {
    /// A store without events.
    pub fn new(limits: &StoreLimits) -> Self {
        Self(Mutex::new(EventTable::new(limits)))
    }
}

impl Default for MemoryEventStore {
    fn default() -> Self {
        Self::new(&StoreLimits::new())
    }
}

impl EventStore for MemoryEventStore {
    fn open(&self, session: SessionId, owner: Option<&str>) {
        self.0.lock().open(session, owner);
    }

    fn begin(&self, session: SessionId, stream: u64, runs: StreamRun) -> Durable {
        durable(self.0.lock().begin(session, stream, runs))
    }

    fn append(&self, session: SessionId, event: Event, is_last: bool) -> Durable {
        durable(self.0.lock().append(session, event, is_last))
    }

    fn end(&self, session: SessionId, stream: u64) -> Durable {
        self.0.lock().end(session, stream);
        Durable::Now
    }

    fn replay(
        &self,
        session: SessionId,
        after: EventId,
        limit: usize,
    ) -> BoxFuture<'static, Result<Replay, StoreError>> {
        let replay = self.0.lock().replay(session, after, limit);
        Box::pin(future::ready(Ok(replay)))
    }

    fn take_over(
        &self,
        session: SessionId,
        stream: u64,
        last: Option<Bytes>,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        let (taken_over, _) = self.0.lock().take_over(session, stream, last);
        Box::pin(future::ready(Ok(taken_over)))
    }

    fn forget(&self, session: SessionId) {
        self.0.lock().forget(session);
    }
}

fn durable(result: Result<(), StoreError>) -> Durable {
    match result {
        Ok(()) => Durable::Now,
        Err(error) => Durable::failed(error),
    }
}
