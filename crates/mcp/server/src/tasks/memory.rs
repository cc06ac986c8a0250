//! `MemoryTasks`: a task store in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::time::{Duration, Instant};

use agentwire_peer::{Clock, TokioClock};
use agentwire_sync::{Mutex, MutexGuard};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use crate::{TaskCursor, TaskOwner, TaskRecord, TaskStore, TaskStoreError};

/// Keeps records in memory, and forgets them when their time is over or the program ends.
///
/// It uses tokio's clock, and has no timer: each access removes expired records first. How many it
/// keeps, and how many bytes, [`Tasks::limit`](crate::Tasks::limit) and [`Tasks::byte_limit`](crate::Tasks::byte_limit)
/// bound.
#[derive(Debug, Default)]
pub struct MemoryTasks(Mutex<RecordTable>);

#[derive(Debug, Default)]
struct RecordTable {
    records: BTreeMap<TaskCursor, TaskRecord>,
    cursors: HashMap<String, TaskCursor>,
    /// The expiry of each record.
    expiries: BTreeSet<(Instant, TaskCursor)>,
}

impl MemoryTasks {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// The current records, without the expired ones.
    fn table(&self) -> MutexGuard<'_, RecordTable> {
        let mut table = self.0.lock();
        table.expire(TokioClock::default().now());
        table
    }
}

impl RecordTable {
    fn expire(&mut self, now: Instant) {
        while self.expiries.first().is_some_and(|(expiry, _)| *expiry <= now)
            && let Some((_, cursor)) = self.expiries.pop_first()
        {
            self.cursors.remove(&cursor.id);
            self.records.remove(&cursor);
        }
    }

    fn insert(&mut self, record: TaskRecord, now: Instant) {
        let cursor = record.cursor();
        let expiry = record.ttl.and_then(|ttl| now.checked_add(Duration::from_millis(ttl)));
        self.expiries.extend(expiry.map(|expiry| (expiry, cursor.clone())));
        self.cursors.insert(record.id.clone(), cursor.clone());
        self.records.insert(cursor, record);
    }

    fn remove(&mut self, id: &str) {
        if let Some(cursor) = self.cursors.remove(id) {
            self.records.remove(&cursor);
            self.expiries.retain(|(_, other)| *other != cursor);
        }
    }

    fn list(&self, owner: Option<&TaskOwner>, after: Option<&TaskCursor>, limit: usize) -> Vec<TaskRecord> {
        let first = after.map_or(Bound::Unbounded, Bound::Excluded);
        let range = self.records.range::<TaskCursor, _>((first, Bound::Unbounded)).map(|(_, record)| record);
        range.filter(|record| owner.is_none_or(|owner| record.owner == *owner)).take(limit).cloned().collect()
    }
}

impl TaskStore for MemoryTasks {
    fn create(&self, record: TaskRecord) -> BoxFuture<'_, Result<(), TaskStoreError>> {
        self.table().insert(record, TokioClock::default().now());
        ready(Ok(())).boxed()
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<TaskRecord>, TaskStoreError>> {
        let table = self.table();
        let record = table.cursors.get(id).and_then(|cursor| table.records.get(cursor)).cloned();
        ready(Ok(record)).boxed()
    }

    fn update(&self, record: TaskRecord) -> BoxFuture<'_, Result<bool, TaskStoreError>> {
        let mut table = self.table();
        let there = table.records.get_mut(&record.cursor()).filter(|there| !there.is_final());
        let replaced = there.map(|there| std::mem::replace(there, record));
        drop(table);
        ready(Ok(replaced.is_some())).boxed()
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), TaskStoreError>> {
        self.table().remove(id);
        ready(Ok(())).boxed()
    }

    fn list<'a>(
        &'a self,
        owner: Option<&'a TaskOwner>,
        after: Option<&'a TaskCursor>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<TaskRecord>, TaskStoreError>> {
        ready(Ok(self.table().list(owner, after, limit))).boxed()
    }
}

#[cfg(test)]
mod tests {
    use agentwire_mcp_schema::Revision;

    use super::*;

    fn record(id: &str, owner: &TaskOwner, ttl: Option<u64>) -> TaskRecord {
        TaskRecord::new(id, owner.clone(), Revision::V2025_11_25, ttl.map(Duration::from_secs))
    }

    #[tokio::test(start_paused = true)]
    async fn expired_tasks_are_forgotten_without_a_timer() {
        let store = MemoryTasks::new();
        let owner = TaskOwner::Bearer;
        for (id, ttl) in [("short", Some(1)), ("long", Some(60)), ("for ever", None)] {
            store.create(record(id, &owner, ttl)).await.unwrap();
        }
        tokio::time::advance(Duration::from_millis(999)).await;
        assert!(store.read("short").await.unwrap().is_some());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(store.read("short").await.unwrap().is_none());
        assert!(!store.update(record("short", &owner, Some(1))).await.unwrap());
        assert!(store.read("short").await.unwrap().is_none(), "an update brings nothing back");
        tokio::time::advance(Duration::from_secs(3600)).await;
        let left = store.list(None, None, 9).await.unwrap();
        assert_eq!(left.into_iter().map(|record| record.id).collect::<Vec<_>>(), ["for ever"]);
        store.remove("for ever").await.unwrap();
        let table = store.table();
        assert!(table.records.is_empty() && table.cursors.is_empty() && table.expiries.is_empty());
    }

    #[tokio::test]
    async fn the_first_end_of_a_task_counts() {
        let store = MemoryTasks::new();
        let mut task = record("task", &TaskOwner::Bearer, None);
        store.create(task.clone()).await.unwrap();
        task.status_message = Some("half".into());
        assert!(store.update(task.clone()).await.unwrap());
        let mut failed = task.clone();
        failed.fail(agentwire_jsonrpc::ErrorObject::internal_error("no"));
        assert!(store.update(failed.clone()).await.unwrap());
        assert!(!store.update(failed.clone()).await.unwrap() && !store.update(task).await.unwrap());
        assert_eq!(store.read("task").await.unwrap(), Some(failed));
    }

    #[tokio::test]
    async fn pages_go_on_where_the_last_one_ended_whatever_has_gone_meanwhile() {
        let store = MemoryTasks::new();
        let [ada, bob] = ["ada", "bob"].map(|name| TaskOwner::Principal(name.into()));
        for number in 0..6 {
            let owner = if number % 2 == 0 { &ada } else { &bob };
            let mut record = record(&format!("{number}"), owner, Some(60));
            record.created_at = number;
            store.create(record).await.unwrap();
        }
        let first = store.list(Some(&ada), None, 2).await.unwrap();
        assert_eq!(first.iter().map(|record| &*record.id).collect::<Vec<_>>(), ["0", "2"]);
        store.remove("2").await.unwrap();
        let rest = store.list(Some(&ada), Some(&first[1].cursor()), 2).await.unwrap();
        assert_eq!(rest.iter().map(|record| &*record.id).collect::<Vec<_>>(), ["4"]);
    }
}
