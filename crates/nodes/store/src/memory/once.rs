//! A store in memory for once-only names.

use std::time::Duration;

use agentwire_sync::Mutex;
use futures_util::future::{self, BoxFuture};

use crate::table::once::OnceTable;
use crate::{Clock, OnceStore, StoreError, StoreLimits};

/// Keeps names that are used once in memory: up to 16 MiB by default.
#[derive(Debug)]
pub struct MemoryOnceStore {
    table: Mutex<OnceTable>,
    clock: Clock,
}

impl MemoryOnceStore {
    /// A store without names.
    pub fn new(limits: &StoreLimits, clock: &Clock) -> Self {
        Self { table: Mutex::new(OnceTable::new(limits)), clock: clock.clone() }
    }
}

impl Default for MemoryOnceStore {
    fn default() -> Self {
        Self::new(&StoreLimits::new(), &Clock::system())
    }
}

impl OnceStore for MemoryOnceStore {
    fn insert(
        &self,
        name: &str,
        owner: Option<&str>,
        remember: Duration,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        let inserted = self.table.lock().insert(self.clock.now(), name, owner, remember);
        Box::pin(future::ready(inserted.map(|expires| expires.is_some())))
    }

    fn contains(&self, name: &str) -> BoxFuture<'static, Result<bool, StoreError>> {
        let contains = self.table.lock().contains(self.clock.now(), name);
        Box::pin(future::ready(Ok(contains)))
    }

    fn remove(&self, name: &str) -> BoxFuture<'static, Result<(), StoreError>> {
        self.table.lock().remove(name);
        Box::pin(future::ready(Ok(())))
    }
}
