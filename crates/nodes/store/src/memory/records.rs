//! A store in memory for the records of sessions.

use std::time::Duration;

use agentwire_sync::Mutex;
use futures_util::future::{self, BoxFuture};

use crate::table::record::RecordTable;
use crate::{Clock, SessionId, SessionRecord, SessionRecords, StoreError, StoreLimits, StreamBlock};

/// Keeps the records of sessions in memory: up to 64 MiB by default.
#[derive(Debug)]
pub struct MemorySessionRecords {
    table: Mutex<RecordTable>,
    clock: Clock,
}

impl MemorySessionRecords {
    /// A store without records.
    pub fn new(limits: &StoreLimits, clock: &Clock) -> Self {
        Self { table: Mutex::new(RecordTable::new(limits)), clock: clock.clone() }
    }

    /// Runs an operation with the present time, and removes expired records after it.
    fn with<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut RecordTable, u64) -> Result<T, StoreError>,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        let now = self.clock.now();
        let table = &mut *self.table.lock();
        let result = operation(table, now);
        table.sweep(now);
        Box::pin(future::ready(result))
    }
}

impl Default for MemorySessionRecords {
    fn default() -> Self {
        Self::new(&StoreLimits::new(), &Clock::system())
    }
}

impl SessionRecords for MemorySessionRecords {
    fn create(
        &self,
        session: SessionId,
        record: SessionRecord,
        time_to_live: Duration,
    ) -> BoxFuture<'static, Result<(), StoreError>> {
        self.with(|table, now| table.create(now, session, record, time_to_live))
    }

    fn load(&self, session: SessionId) -> BoxFuture<'static, Result<Option<SessionRecord>, StoreError>> {
        self.with(|table, now| Ok(table.get(now, session).map(|stored| stored.record.clone())))
    }

    fn touch(
        &self,
        session: SessionId,
        time_to_live: Duration,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.with(|table, now| Ok(table.touch(now, session, time_to_live).is_some()))
    }

    fn update(
        &self,
        session: SessionId,
        record: SessionRecord,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.with(|table, now| Ok(table.update(now, session, record)?.is_some()))
    }

    fn delete(&self, session: SessionId) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.with(|table, now| Ok(table.remove(now, session)))
    }

    fn delete_unused(&self, session: SessionId) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.with(|table, now| Ok(table.is_unused(now, session) && table.remove(now, session)))
    }

    fn take_streams(
        &self,
        session: SessionId,
        count: u64,
    ) -> BoxFuture<'static, Result<Option<StreamBlock>, StoreError>> {
        self.with(|table, now| Ok(table.take_streams(now, session, count)))
    }
}
