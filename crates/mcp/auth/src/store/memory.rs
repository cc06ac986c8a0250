//! A store in memory.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use agentwire_sync::Mutex;
use agentwire_wire_derive::Build;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::key_locks::KeyLocks;
use super::{CredentialStore, StoreError, StoreGuard};
use crate::Secret;

/// A store in the memory of one process, for tests and for programs that log in at each start. Clones share the entries.
#[derive(Clone, Build)]
#[build(new = "An empty store.")]
pub struct MemoryStore {
    entries: Arc<Mutex<Entries>>,
    locks: KeyLocks,
    /// Sets the number of entries. A write that would exceed it fails.
    #[build(default = Self::DEFAULT_ENTRY_LIMIT)]
    entry_limit: usize,
    /// Sets the bytes of all keys and texts together. A write that would exceed it fails.
    #[build(default = Self::DEFAULT_BYTE_LIMIT)]
    byte_limit: usize,
}

#[derive(Default)]
struct Entries {
    by_key: HashMap<String, Secret>,
    /// The bytes of all keys and texts.
    bytes: usize,
}

impl MemoryStore {
    /// The entries of a store by default.
    pub const DEFAULT_ENTRY_LIMIT: usize = 10_000;

    /// The bytes of all keys and texts by default: 16 MiB.
    pub const DEFAULT_BYTE_LIMIT: usize = 16 << 20;

    fn replace(&self, key: String, entry: Option<Secret>) -> Result<(), StoreError> {
        let size = |entry: Option<&Secret>| entry.map_or(0, |entry| key.len() + entry.expose().len());
        let mut entries = self.entries.lock();
        let old = entries.by_key.get(&key);
        let is_new = old.is_none();
        let bytes = entries.bytes - size(old) + size(entry.as_ref());
        let Some(entry) = entry else {
            entries.by_key.remove(&key);
            entries.bytes = bytes;
            return Ok(());
        };
        let full = |what: &str| Err(StoreError::new("the store in memory is full", what));
        if is_new && entries.by_key.len() >= self.entry_limit {
            return full(&format!("the limit is {} entries", self.entry_limit));
        }
        if bytes > self.byte_limit {
            return full(&format!("the limit is {} bytes", self.byte_limit));
        }
        entries.by_key.insert(key, entry);
        entries.bytes = bytes;
        Ok(())
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("entries", &self.entries.lock().by_key.len())
            .finish_non_exhaustive()
    }
}

impl CredentialStore for MemoryStore {
    fn read(&self, key: &str) -> BoxFuture<'static, Result<Option<Secret>, StoreError>> {
        let (store, key) = (self.clone(), key.to_owned());
        async move { Ok(store.entries.lock().by_key.get(&key).cloned()) }.boxed()
    }

    fn write(&self, key: &str, entry: Option<Secret>) -> BoxFuture<'static, Result<(), StoreError>> {
        let (store, key) = (self.clone(), key.to_owned());
        async move { store.replace(key, entry) }.boxed()
    }

    fn lock(&self, key: &str) -> BoxFuture<'static, Result<Box<dyn StoreGuard>, StoreError>> {
        let (locks, key) = (self.locks.clone(), key.to_owned());
        async move { Ok(Box::new(locks.lock(key).await) as Box<dyn StoreGuard>) }.boxed()
    }
}
