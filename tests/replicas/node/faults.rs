//! Faults that the harness must find. Each breaks one promise of a node.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agentwire_mcp_server::schema::task_extension::TaskStatus;
use agentwire_mcp_server::{TaskCursor, TaskOwner, TaskRecord, TaskStore, TaskStoreError, Tasks};
use agentwire_store::{
    Bus, BusMessage, Durable, Event, EventId, EventStore, NodeId, Replay, SessionId, StoreError, Stores,
    StreamRun, Subscription,
};
use anyhow::{Result, bail};
use bytes::Bytes;
use futures_util::future::BoxFuture;

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Each fifth event is acknowledged and not stored.
    LoseEvents,
    /// No message that is for all nodes reaches another.
    LoseMessages,
    /// All callers are one principal.
    AnyPrincipal,
    /// Tasks are known to their node alone.
    ForgetTasks,
    /// That a task is cancelled is acknowledged and not stored.
    ForgetCancels,
}

impl Fault {
    pub(crate) fn parse(name: &str) -> Result<Self> {
        Ok(match name {
            "lose-events" => Self::LoseEvents,
            "lose-messages" => Self::LoseMessages,
            "any-principal" => Self::AnyPrincipal,
            "forget-tasks" => Self::ForgetTasks,
            "forget-cancels" => Self::ForgetCancels,
            _ => bail!("no fault `{name}`"),
        })
    }
}

/// The stores with a fault.
pub(crate) fn stores(mut stores: Stores, fault: Option<Fault>) -> Stores {
    match fault {
        Some(Fault::LoseEvents) => {
            stores.events = Arc::new(LosesEvents { store: stores.events, appended: AtomicU64::new(0) });
        }
        Some(Fault::LoseMessages) => stores.bus = Arc::new(LosesMessages(stores.bus)),
        _ => (),
    }
    stores
}

/// The tasks in a store, with a fault.
pub(crate) fn tasks(tasks: Tasks, store: impl TaskStore, fault: Option<Fault>) -> Tasks {
    match fault {
        Some(Fault::ForgetTasks) => tasks,
        Some(Fault::ForgetCancels) => tasks.store(ForgetsCancels(store)),
        _ => tasks.store(store),
    }
}

#[derive(Debug)]
struct LosesEvents {
    store: Arc<dyn EventStore>,
    appended: AtomicU64,
}

impl EventStore for LosesEvents {
    fn open(&self, session: SessionId, owner: Option<&str>) {
        self.store.open(session, owner);
    }

    fn begin(&self, session: SessionId, stream: u64, runs: StreamRun) -> Durable {
        self.store.begin(session, stream, runs)
    }

    fn append(&self, session: SessionId, event: Event, is_last: bool) -> Durable {
        let lost = self.appended.fetch_add(1, Ordering::Relaxed) % 5 == 4;
        if lost { Durable::Now } else { self.store.append(session, event, is_last) }
    }

    fn end(&self, session: SessionId, stream: u64) -> Durable {
        self.store.end(session, stream)
    }

    fn replay(
        &self,
        session: SessionId,
        after: EventId,
        limit: usize,
    ) -> BoxFuture<'static, Result<Replay, StoreError>> {
        self.store.replay(session, after, limit)
    }

    fn take_over(
        &self,
        session: SessionId,
        stream: u64,
        last: Option<Bytes>,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.store.take_over(session, stream, last)
    }

    fn forget(&self, session: SessionId) {
        self.store.forget(session);
    }
}

#[derive(Debug)]
struct LosesMessages(Arc<dyn Bus>);

impl Bus for LosesMessages {
    fn publish(&self, _from: NodeId, _message: BusMessage) -> BoxFuture<'static, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }

    fn send(&self, to: NodeId, message: BusMessage) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.0.send(to, message)
    }

    fn subscribe(&self, node: NodeId) -> BoxFuture<'static, Result<Subscription, StoreError>> {
        self.0.subscribe(node)
    }
}

struct ForgetsCancels<S>(S);

impl<S: TaskStore> TaskStore for ForgetsCancels<S> {
    fn create(&self, record: TaskRecord) -> BoxFuture<'_, Result<(), TaskStoreError>> {
        self.0.create(record)
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<TaskRecord>, TaskStoreError>> {
        self.0.read(id)
    }

    fn update(&self, record: TaskRecord) -> BoxFuture<'_, Result<bool, TaskStoreError>> {
        if record.status == TaskStatus::Cancelled {
            return Box::pin(async { Ok(true) });
        }
        self.0.update(record)
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), TaskStoreError>> {
        self.0.remove(id)
    }

    fn list<'a>(
        &'a self,
        owner: Option<&'a TaskOwner>,
        after: Option<&'a TaskCursor>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<TaskRecord>, TaskStoreError>> {
        self.0.list(owner, after, limit)
    }
}
