//! Writes each change of a task that runs here to the store, and sends notifications of it.

use std::pin::pin;
use std::time::{Duration, Instant};

use agentwire_mcp_schema::InputRequests;
use agentwire_mcp_schema::task_extension::TaskStatus;
use agentwire_peer::{Clock, Peer, TokioClock};
use futures::future::{Either, select};

use super::report;
use crate::TaskRecord;
use crate::listeners::Change;
use crate::tasks::Tasks;
use crate::tasks::handle::TaskHandle;

/// The time between two writes of status messages of one task. Questions, answers and ends are written at once.
const PACE: Duration = Duration::from_millis(100);
/// The delay before a failed write is repeated. It doubles after each failure.
const FIRST_RETRY_DELAY: Duration = Duration::from_secs(1);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);

/// The last write, and the time of the next.
struct Writer {
    clock: TokioClock,
    version: u64,
    status: TaskStatus,
    input_requests: InputRequests,
    /// When a record that is not urgent is written; `None` for at once.
    due: Option<Instant>,
    /// The current retry delay. `None` after a successful write.
    retry_delay: Option<Duration>,
}

impl Writer {
    /// The store has a task that works and asks nothing.
    fn new(version: u64) -> Self {
        Self {
            clock: TokioClock::default(),
            version,
            status: TaskStatus::Working,
            input_requests: InputRequests::new(),
            due: None,
            retry_delay: None,
        }
    }

    /// Waits until a record is to be written: one that has changed, or one that the store has not taken.
    async fn next(&mut self, handle: &TaskHandle) -> TaskRecord {
        let (mut version, mut record) = match self.retry_delay {
            None => handle.changed(self.version).await,
            Some(_) => handle.now(),
        };
        let is_urgent = |record: &_| self.is_urgent(record) || handle.is_stored();
        while let Some(due) = self.due.filter(|due| !is_urgent(&record) && *due > self.clock.now()) {
            let time = self.clock.sleep_until(due);
            match select(pin!(handle.changed(version)), time).await {
                Either::Left((changed, _)) => (version, record) = changed,
                Either::Right(_) => break,
            }
        }
        self.version = version;
        record
    }

    /// Whether a client waits for a change since the last attempt.
    fn is_urgent(&self, record: &TaskRecord) -> bool {
        record.status != self.status || record.input_requests != self.input_requests
    }

    /// Records whether a write succeeded, and schedules the next one.
    fn note(&mut self, record: &TaskRecord, is_written: bool) {
        self.status = record.status.clone();
        self.input_requests.clone_from(&record.input_requests);
        self.retry_delay = match self.retry_delay {
            _ if is_written => None,
            None => Some(FIRST_RETRY_DELAY),
            Some(before) => Some((before * 2).min(MAX_RETRY_DELAY)),
        };
        self.due = self.clock.now().checked_add(self.retry_delay.unwrap_or(PACE));
    }
}

/// Stores each change and sends notifications of it, until the store has the end. Of changes in quick succession, only the
/// last is stored and sent. The store has the record as of `version`. `client` gets the notifications, if it wants them.
pub(crate) async fn follow(tasks: &Tasks, handle: &TaskHandle, client: Option<Peer>, version: u64) {
    let Tasks { store, registry, .. } = tasks;
    let mut writer = Writer::new(version);
    let mut notified_version = version;
    loop {
        let record = writer.next(handle).await;
        let is_final = record.is_final();
        // No client can ask for this task any more.
        if registry.is_stale(handle.id()) {
            if is_final {
                return forget(tasks, handle).await;
            }
            writer.retry_delay = None;
            continue;
        }
        let written = store.update(record.clone()).await;
        if matches!(written, Ok(false)) {
            return take_end(tasks, handle).await;
        }
        let is_written = written.is_ok();
        writer.note(&record, is_written);
        if is_final {
            if is_written {
                registry.remove(handle.id());
            }
            handle.close(is_written);
        }
        // With other nodes an end is reported once the store has it.
        let may_notify = is_written || !is_final || registry.node().is_none();
        let is_news =
            may_notify && std::mem::replace(&mut notified_version, writer.version) != writer.version;
        if is_written {
            registry.listeners().announce(Change::Task(handle.id()));
        } else if is_news {
            // Other nodes are notified once the store has it.
            registry.listeners().announce_here(Change::Task(handle.id()));
        }
        if let Some(peer) = client.as_ref().filter(|_| is_news) {
            let status = report::status(tasks, &record);
            let notification = pin!(peer.notify(&status));
            // A closed connection takes no notification.
            if is_final {
                let _closed = notification.await;
            } else {
                select(notification, pin!(handle.changed(writer.version))).await;
            }
        }
        if is_final && (is_written || record.is_expired()) {
            // Until now its handle had the end.
            registry.remove(handle.id());
            return;
        }
    }
}

/// Another node has ended the task, or its record is gone: its function is dropped. Or this node has ended it by an attempt
/// whose answer was lost.
async fn take_end(tasks: &Tasks, handle: &TaskHandle) {
    tasks.registry.remove(handle.id());
    let read = tasks.store.read(handle.id()).await;
    let is_known = read.is_ok();
    match read {
        Ok(Some(record)) if record.is_final() => handle.adopt(record),
        _ => handle.fail("its record is gone"),
    }
    handle.close(is_known);
    tasks.registry.listeners().announce_here(Change::Task(handle.id()));
}

/// Removes a task that no client can ask for any more.
async fn forget(tasks: &Tasks, handle: &TaskHandle) {
    let id = handle.id();
    handle.close(true);
    tasks.registry.remove(id);
    tasks.registry.forget(id);
    // If it fails, the record is forgotten when its time is over.
    let _failed = tasks.store.remove(id).await;
}
