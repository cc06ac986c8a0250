//! Locks by key within a process.

use std::collections::HashMap;
use std::sync::Arc;

use agentwire_sync::Mutex;

use super::StoreGuard;

type KeyMutex = Arc<tokio::sync::Mutex<()>>;

/// Locks by key, granted in the order of the requests. A key takes memory only while it is held or waited for. Clones share the
/// locks.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyLocks(Arc<Mutex<HashMap<String, KeyMutex>>>);

/// Holds a key until it is dropped.
#[derive(Debug)]
pub(super) struct KeyGuard {
    // Declared first, so that the key is released before the place counts the users that are left.
    _held: tokio::sync::OwnedMutexGuard<()>,
    _place: Place,
}

/// One user of a key: it holds the key or waits for it.
#[derive(Debug)]
struct Place {
    locks: KeyLocks,
    key: String,
    mutex: KeyMutex,
}

impl KeyLocks {
    /// Waits until the key is free, and takes it. Dropping the future gives up its turn.
    pub(super) async fn lock(&self, key: String) -> KeyGuard {
        let place = self.place(key);
        let held = Arc::clone(&place.mutex).lock_owned().await;
        KeyGuard { _held: held, _place: place }
    }

    fn place(&self, key: String) -> Place {
        let mutex = Arc::clone(self.0.lock().entry(key.clone()).or_default());
        Place { locks: self.clone(), key, mutex }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut locks = self.locks.0.lock();
        // One is the map's and one is this place's.
        if Arc::strong_count(&self.mutex) <= 2 {
            locks.remove(&self.key);
        }
    }
}

impl StoreGuard for KeyGuard {}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_key_takes_memory_only_while_it_is_used() {
        let locks = KeyLocks::default();
        let held = locks.lock("a".into()).await;
        let mut waiting = Box::pin(locks.lock("a".into()));
        assert!((&mut waiting).now_or_never().is_none());
        let other = locks.lock("b".into()).await;
        assert_eq!(locks.0.lock().len(), 2);
        drop((other, held));
        let held = waiting.await;
        let dropped = Box::pin(locks.lock("a".into()));
        drop(dropped);
        assert_eq!(locks.0.lock().len(), 1);
        drop(held);
        assert_eq!(locks.0.lock().len(), 0);
    }
}
