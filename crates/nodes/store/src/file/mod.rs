//! A store in a directory: sessions and their events survive a restart of the process.

mod batch;
mod change;
mod directory;
mod journal;
mod tables;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use agentwire_wire_derive::Build;
use bytes::Bytes;
use futures_util::future::{self, BoxFuture};

use self::batch::Batch;
use self::change::Change;
use self::directory::Directory;
use self::journal::Journal;
use self::tables::Tables;
use self::writer::JournalWriter;
use crate::{
    Clock, Durable, Event, EventId, EventStore, Lease, MemoryBus, MemoryNodes, NodeId, Nodes, OnceStore,
    Replay, SessionId, SessionRecord, SessionRecords, StoreError, StoreLimits, Stores, StreamBlock,
    StreamRun,
};

/// The settings of a [`FileStore`].
#[derive(Clone, Debug, Build)]
#[build(new)]
#[non_exhaustive]
pub struct FileStoreConfig {
    /// The limits of what is stored.
    #[build(default = StoreLimits::new())]
    limits: StoreLimits,
    /// The clock by which records and names expire.
    #[build(default = Clock::system())]
    clock: Clock,
    /// Sets whether a change counts as durable only when it is on disk (default true). Otherwise it counts once the operating
    /// system has it: a power cut may lose the last seconds, the end of the process loses nothing.
    #[build(name = synced, default = true)]
    is_synced: bool,
}

/// Stores sessions, their events and once-only names in a directory, for one process at a time.
///
/// Everything is in memory too, within the limits of the stores in memory. A thread appends all waiting changes to a journal in
/// one write, and rewrites the journal when it has grown. When a write fails, the operations that wait for it fail, and the next
/// write is of everything. After a restart, events of sessions without a record are forgotten.
///
/// Dropping the store writes the waiting changes, which blocks.
#[derive(Debug)]
pub struct FileStore {
    shared: Arc<JournalWriter>,
    writer: Option<JoinHandle<()>>,
    nodes: MemoryNodes,
    bus: MemoryBus,
    damage: Option<u64>,
}

impl FileStore {
    /// Opens the store in a directory, which is created if it is missing. Blocks while it reads.
    ///
    /// # Errors
    ///
    /// [`StoreError::Away`] if another process uses the directory, another user owns it, others may write to it, or the disk
    /// fails. [`StoreError::Damaged`] if a later version has written the journal. Both name the directory.
    pub fn open(path: impl AsRef<Path>, config: &FileStoreConfig) -> Result<Self, StoreError> {
        let path = path.as_ref();
        Self::open_at(path, config).map_err(|error| match error {
            StoreError::Away(why) => StoreError::away(format!("{}: {why}", path.display())),
            StoreError::Damaged(why) => StoreError::damaged(format!("{}: {why}", path.display())),
            other => other,
        })
    }

    fn open_at(path: &Path, config: &FileStoreConfig) -> Result<Self, StoreError> {
        let directory = Directory::open(path).map_err(StoreError::away)?;
        let (mut tables, now) = (Tables::new(&config.limits), config.clock.now());
        let loaded = journal::load(directory, |change| tables.apply(now, change))?;
        let damage = loaded.damage;
        tables.prune(now);
        let journal =
            Journal::create(loaded, &tables.changes(), config.is_synced).map_err(StoreError::away)?;
        let shared = Arc::new(JournalWriter::new(tables, config.clock.clone()));
        let writer = shared.clone();
        let writer = thread::Builder::new()
            .name("agentwire-store".to_owned())
            .spawn(move || writer.run(journal))
            .map_err(StoreError::away)?;
        let (nodes, bus) = (MemoryNodes::default(), MemoryBus::default());
        Ok(Self { shared, writer: Some(writer), nodes, bus, damage })
    }

    /// The offset in bytes at which the journal was damaged when it was opened. The store has lost everything after it; the file
    /// is kept as `journal.damaged`.
    pub fn damage(&self) -> Option<u64> {
        self.damage
    }

    /// This store as all stores of a node, with a bus and nodes of this process.
    pub fn stores(self: &Arc<Self>) -> Stores {
        let bus = Arc::new(self.bus.clone());
        Stores::new(self.clone(), self.clone(), bus, self.clone(), self.clone())
    }

    /// The nodes of this process, for tests.
    pub fn nodes(&self) -> &MemoryNodes {
        &self.nodes
    }

    /// The bus of this process, for tests.
    pub fn bus(&self) -> &MemoryBus {
        &self.bus
    }

    fn events(
        &self,
        change: impl FnOnce(&mut Tables, &mut Vec<Change>) -> Result<(), StoreError>,
    ) -> Durable {
        match self.shared.change(|tables, _, changes| change(tables, changes)) {
            (Err(error), _) => Durable::failed(error),
            (Ok(()), Some(batch)) => Durable::Later(batch.wait()),
            (Ok(()), None) => Durable::Now,
        }
    }

    /// Makes a change. Returns its result once it is durable.
    fn durably<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Tables, u64, &mut Vec<Change>) -> Result<T, StoreError>,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        let (result, batch) = self.shared.change(change);
        let batch = batch.map(Batch::wait);
        Box::pin(async {
            if let Some(batch) = batch {
                batch.await?;
            }
            result
        })
    }
}

impl Drop for FileStore {
    fn drop(&mut self) {
        self.shared.close();
        if let Some(writer) = self.writer.take() {
            // It has ended by a panic, which was reported.
            let _ = writer.join();
        }
    }
}

impl EventStore for FileStore {
    fn open(&self, session: SessionId, owner: Option<&str>) {
        self.shared.change(|tables, _, changes| {
            tables.events.open(session, owner);
            changes.push(Change::Open { session, owner: owner.map(str::to_owned) });
        });
    }

    fn begin(&self, session: SessionId, stream: u64, runs: StreamRun) -> Durable {
        self.events(|tables, changes| {
            tables.events.begin(session, stream, runs.clone())?;
            changes.push(Change::begin(session, stream, runs));
            Ok(())
        })
    }

    fn append(&self, session: SessionId, event: Event, is_last: bool) -> Durable {
        self.events(|tables, changes| {
            let appended = tables.events.append(session, event.clone(), is_last);
            match &appended {
                Ok(()) => changes.push(Change::Event { session, event, is_last }),
                Err(StoreError::Full(_)) if is_last => {
                    changes.push(Change::End { session, stream: event.id.stream });
                }
                Err(_) => {}
            }
            appended
        })
    }

    fn end(&self, session: SessionId, stream: u64) -> Durable {
        self.events(|tables, changes| {
            tables.events.end(session, stream);
            changes.push(Change::End { session, stream });
            Ok(())
        })
    }

    fn replay(
        &self,
        session: SessionId,
        after: EventId,
        limit: usize,
    ) -> BoxFuture<'static, Result<Replay, StoreError>> {
        let (replay, batch) =
            self.shared.read_durably(|tables, _| tables.events.replay(session, after, limit));
        Box::pin(async {
            if let Some(batch) = batch {
                // The appends return the failure. The replay also has events that are only in memory.
                let _result = batch.wait().await;
            }
            Ok(replay)
        })
    }

    fn take_over(
        &self,
        session: SessionId,
        stream: u64,
        last: Option<Bytes>,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.durably(|tables, _, changes| {
            let (taken_over, event) = tables.events.take_over(session, stream, last);
            changes.extend(event.map(|event| Change::Event { session, event, is_last: false }));
            changes.extend(taken_over.then_some(Change::TakeOver { session, stream }));
            Ok(taken_over)
        })
    }

    fn forget(&self, session: SessionId) {
        self.shared.change(|tables, _, changes| {
            tables.events.forget(session);
            changes.push(Change::Forget { session });
        });
    }
}

impl SessionRecords for FileStore {
    fn create(
        &self,
        session: SessionId,
        record: SessionRecord,
        time_to_live: Duration,
    ) -> BoxFuture<'static, Result<(), StoreError>> {
        self.durably(|tables, now, changes| {
            tables.records.create(now, session, record, time_to_live)?;
            changes.extend(tables.record(now, session));
            Ok(())
        })
    }

    fn load(&self, session: SessionId) -> BoxFuture<'static, Result<Option<SessionRecord>, StoreError>> {
        let record = self
            .shared
            .read(|tables, now| tables.records.get(now, session).map(|stored| stored.record.clone()));
        Box::pin(future::ready(Ok(record)))
    }

    fn touch(
        &self,
        session: SessionId,
        time_to_live: Duration,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        let (touched, _) = self.shared.change(|tables, now, changes| {
            let expires = tables.records.touch(now, session, time_to_live);
            changes.extend(expires.map(|expires| Change::Touch { session, expires }));
            expires.is_some()
        });
        Box::pin(future::ready(Ok(touched)))
    }

    fn update(
        &self,
        session: SessionId,
        record: SessionRecord,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.durably(|tables, now, changes| {
            let updated = tables.records.update(now, session, record)?.is_some();
            if updated {
                changes.extend(tables.record(now, session));
            }
            Ok(updated)
        })
    }

    fn delete(&self, session: SessionId) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.durably(|tables, now, changes| {
            tables.events.forget(session);
            changes.push(Change::Delete { session });
            Ok(tables.records.remove(now, session))
        })
    }

    fn delete_unused(&self, session: SessionId) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.durably(|tables, now, changes| {
            let deleted = tables.records.is_unused(now, session) && tables.records.remove(now, session);
            if deleted {
                tables.events.forget(session);
                changes.push(Change::Delete { session });
            }
            Ok(deleted)
        })
    }

    fn take_streams(
        &self,
        session: SessionId,
        count: u64,
    ) -> BoxFuture<'static, Result<Option<StreamBlock>, StoreError>> {
        self.durably(|tables, now, changes| {
            let block = tables.records.take_streams(now, session, count);
            changes.extend(block.as_ref().map(|block| Change::Streams { session, next: block.end }));
            Ok(block)
        })
    }
}

impl OnceStore for FileStore {
    fn insert(
        &self,
        name: &str,
        owner: Option<&str>,
        remember: Duration,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.durably(|tables, now, changes| {
            let expires = tables.once.insert(now, name, owner, remember)?;
            let (name, owner) = (name.to_owned(), owner.map(str::to_owned));
            changes.extend(expires.map(|expires| Change::Name { name, owner, expires }));
            Ok(expires.is_some())
        })
    }

    fn remove(&self, name: &str) -> BoxFuture<'static, Result<(), StoreError>> {
        self.durably(|tables, _, changes| {
            tables.once.remove(name);
            changes.push(Change::NameRemoved { name: name.to_owned() });
            Ok(())
        })
    }

    fn contains(&self, name: &str) -> BoxFuture<'static, Result<bool, StoreError>> {
        let contains = self.shared.read(|tables, now| tables.once.contains(now, name));
        Box::pin(future::ready(Ok(contains)))
    }
}

impl Nodes for FileStore {
    fn join(&self, node: NodeId) -> BoxFuture<'static, Result<Box<dyn Lease>, StoreError>> {
        self.nodes.join(node)
    }

    fn is_alive(&self, node: NodeId) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.nodes.is_alive(node)
    }

    fn check(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        self.durably(|_, _, changes| {
            changes.push(Change::Check);
            Ok(())
        })
    }
}
