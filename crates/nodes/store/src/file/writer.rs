//! Queues the changes of a store for a thread that writes all waiting ones to the journal at once.

use std::sync::{Condvar, PoisonError};

use agentwire_sync::Mutex;

use super::batch::Batch;
use super::change::Change;
use super::journal::Journal;
use super::tables::Tables;
use crate::Clock;

/// The most bytes of queued changes. Beyond it they are dropped, and the journal is rewritten from the tables, which are bounded.
const QUEUE: usize = 16 << 20;

/// The tables of a store, and the queue of changes for the journal. A thread [runs](Self::run) it.
#[derive(Debug)]
pub(super) struct JournalWriter {
    state: Mutex<WriterState>,
    work: Condvar,
    clock: Clock,
}

#[derive(Debug)]
struct WriterState {
    tables: Tables,
    queue: Vec<Change>,
    queued: usize,
    /// Whether the queue exceeded its limit, so that the next write is of the whole tables.
    overflowed: bool,
    batch: Batch,
    /// The previous batch, which is being written or is written.
    before: Option<Batch>,
    closed: bool,
}

/// The work of one write.
#[derive(Debug)]
enum Work {
    Append(Vec<Change>),
    Replace(Vec<Change>),
}

impl JournalWriter {
    pub(super) fn new(tables: Tables, clock: Clock) -> Self {
        let state = WriterState {
            tables,
            queue: Vec::new(),
            queued: 0,
            overflowed: false,
            batch: Batch::default(),
            before: None,
            closed: false,
        };
        Self { state: Mutex::new(state), work: Condvar::new(), clock }
    }

    /// Reads the tables.
    pub(super) fn read<T>(&self, look: impl FnOnce(&Tables, u64) -> T) -> T {
        look(&self.state.lock().tables, self.clock.now())
    }

    /// Reads the tables. Also returns the batch of their last change, which may be durable already; `None` if nothing has
    /// changed.
    pub(super) fn read_durably<T>(&self, look: impl FnOnce(&Tables, u64) -> T) -> (T, Option<Batch>) {
        let state = self.state.lock();
        let is_waiting = state.overflowed || !state.queue.is_empty();
        let batch = if is_waiting { Some(state.batch.clone()) } else { state.before.clone() };
        (look(&state.tables, self.clock.now()), batch)
    }

    /// Changes the tables, and queues the changes that the closure adds. Returns the batch in which they are written; `None` if
    /// there are none.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&mut Tables, u64, &mut Vec<Change>) -> T,
    ) -> (T, Option<Batch>) {
        let now = self.clock.now();
        let mut changes = Vec::new();
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let result = change(&mut state.tables, now, &mut changes);
        let is_changed = !changes.is_empty();
        for session in state.tables.records.sweep(now) {
            state.tables.events.forget(session);
            changes.push(Change::Delete { session });
        }
        if !changes.is_empty() {
            state.push(changes);
            self.work.notify_one();
        }
        (result, is_changed.then(|| state.batch.clone()))
    }

    /// Ends the thread once it has written the queued changes.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.work.notify_one();
    }

    /// Writes changes until the store is closed.
    pub(super) fn run(&self, mut journal: Journal) {
        while let Some((work, batch)) = self.next(&journal) {
            batch.complete(match (journal.pause(), work) {
                // The tables have the changes, and the journal is rewritten later.
                (Some(failure), _) => Err(failure),
                (None, Work::Append(changes)) => journal.append(&changes),
                (None, Work::Replace(changes)) => journal.replace(&changes),
            });
        }
    }

    /// Waits for queued changes. `None` once the store is closed and the queue is empty.
    fn next(&self, journal: &Journal) -> Option<(Work, Batch)> {
        let mut guard = self.state.lock();
        while guard.queue.is_empty() && !guard.overflowed {
            if guard.closed {
                return None;
            }
            guard = self.work.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        let state = &mut *guard;
        let queue = std::mem::take(&mut state.queue);
        state.queued = 0;
        let overflowed = std::mem::take(&mut state.overflowed);
        let batch = std::mem::take(&mut state.batch);
        state.before = Some(batch.clone());
        let paused = journal.pause().is_some();
        let replace = (overflowed || journal.must_rewrite()) && !paused;
        let work = if replace { Work::Replace(state.tables.changes()) } else { Work::Append(queue) };
        Some((work, batch))
    }
}

impl WriterState {
    fn push(&mut self, changes: Vec<Change>) {
        if self.overflowed {
            return;
        }
        self.queued += changes.iter().map(Change::size).sum::<usize>();
        self.queue.extend(changes);
        if self.queued > QUEUE {
            (self.queue, self.queued, self.overflowed) = (Vec::new(), 0, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::super::directory::Directory;
    use super::super::journal;
    use super::*;
    use crate::StoreLimits;

    fn shared(directory: &std::path::Path) -> (JournalWriter, Journal) {
        let opened = Directory::open(&directory.join("store")).unwrap();
        let loaded = journal::load(opened, |_| {}).unwrap();
        let journal = Journal::create(loaded, &[], false).unwrap();
        (JournalWriter::new(Tables::new(&StoreLimits::new()), Clock::manual()), journal)
    }

    #[test]
    fn a_reader_waits_for_what_is_not_written() {
        let directory = tempfile::tempdir().unwrap();
        let (shared, journal) = shared(directory.path());
        let read = || shared.read_durably(|_, _| ()).1;
        let is_written = || read().is_none_or(|batch| batch.wait().now_or_never().is_some());
        let add = || drop(shared.change(|_, _, changes| changes.push(Change::Check)));
        assert!(read().is_none());
        add();
        assert!(!is_written(), "it waits");
        let (_work, first) = shared.next(&journal).unwrap();
        assert!(!is_written(), "it is being written");
        add();
        first.complete(Ok(()));
        assert!(!is_written(), "the next waits");
        let (_work, second) = shared.next(&journal).unwrap();
        second.complete(Ok(()));
        assert!(is_written());
    }

    #[test]
    fn a_queue_that_is_too_large_is_replaced_by_the_tables() {
        let directory = tempfile::tempdir().unwrap();
        let (shared, journal) = shared(directory.path());
        let name = Change::Name { name: "a name".to_owned(), owner: None, expires: 1 };
        let fit = QUEUE / name.size();
        let add = |count| shared.change(|_, _, changes| changes.extend(vec![name.clone(); count])).1;
        assert!(add(fit - 1).is_some());
        assert!(matches!(shared.next(&journal), Some((Work::Append(queue), _)) if queue.len() == fit - 1));
        assert!(add(fit).is_some() && add(1).is_some());
        assert_eq!(shared.state.lock().queue.len(), 0);
        assert!(matches!(shared.next(&journal), Some((Work::Replace(changes), _)) if changes.is_empty()));
        assert!(add(1).is_some());
        assert!(matches!(shared.next(&journal), Some((Work::Append(queue), _)) if queue.len() == 1));
    }
}
