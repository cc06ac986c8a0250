//! Remembers used proofs, so that no proof is accepted twice.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use agentwire_sync::Mutex;
use agentwire_transport_http::client::BoxError;
use agentwire_transport_http::server::Principal;
use agentwire_wire_derive::Build;
use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use ring::digest::{SHA256, digest};

use crate::clock::unix_now;

/// The default capacity of a [`MemoryReplayStore`], in proofs: 8,000 requests per second, each remembered for two minutes.
const CAPACITY: usize = 1_000_000;
/// The least share of one caller by default, in proofs.
const MIN_OF_CALLER: usize = 1000;

/// The names of used proofs, until they expire. Servers of one resource share a store, such as a
/// [`SharedReplayStore`](crate::server::SharedReplayStore).
pub trait ReplayStore: fmt::Debug + Send + Sync {
    /// Remembers a name of 43 characters of base64url until `expires_at`, in seconds since 1970. Returns false if it is remembered
    /// already.
    ///
    /// `caller` is the sender of the proof: a store in memory bounds the proofs of one caller, so that others keep room. Of two
    /// concurrent calls with one name, one must return false: in Redis, `SET name 1 NX EXAT expires_at`.
    ///
    /// # Errors
    ///
    /// When it cannot be remembered. The request then gets 503.
    fn insert(
        &self,
        name: &str,
        caller: &Principal,
        expires_at: u64,
    ) -> BoxFuture<'static, Result<bool, BoxError>>;
}

/// A [`ReplayStore`] in the memory of this process.
#[derive(Build)]
pub struct MemoryReplayStore {
    capacity: usize,
    /// Sets how many unexpired proofs one caller may have.
    #[build(name = caller_capacity)]
    of_caller: usize,
    used: Mutex<UsedProofs>,
}

#[derive(Default)]
struct UsedProofs {
    names: HashSet<u128>,
    /// The callers, by hash.
    by_expiry: BTreeMap<(u64, u128), u128>,
    /// How many each caller has.
    callers: HashMap<u128, usize>,
}

/// The store has no room for another unexpired proof.
#[derive(Debug, thiserror::Error)]
enum StoreFull {
    #[error("there are as many proofs as the limit of {0} allows")]
    Total(usize),
    #[error("the caller has as many proofs as the limit of {0} allows")]
    OfCaller(usize),
}

impl MemoryReplayStore {
    /// A store for up to `capacity` unexpired proofs, each of about 100 bytes. While it is full, further proofs are refused,
    /// because a forgotten proof could be used again. One caller may have a tenth of the capacity, or 1,000 if that is more.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, of_caller: (capacity / 10).max(MIN_OF_CALLER), used: Mutex::default() }
    }

    fn insert_at(&self, name: &str, caller: &str, expires_at: u64, now: u64) -> Result<bool, StoreFull> {
        let (name, caller) = (hash(name), hash(caller));
        let used = &mut *self.used.lock();
        while let Some(first) = used.by_expiry.first_entry().filter(|first| first.key().0 < now) {
            let ((_, name), caller) = first.remove_entry();
            used.names.remove(&name);
            if let Entry::Occupied(mut count) = used.callers.entry(caller) {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
        }
        if used.names.contains(&name) {
            return Ok(false);
        }
        if used.names.len() >= self.capacity {
            return Err(StoreFull::Total(self.capacity));
        }
        if used.callers.get(&caller).is_some_and(|count| *count >= self.of_caller) {
            return Err(StoreFull::OfCaller(self.of_caller));
        }
        *used.callers.entry(caller).or_default() += 1;
        used.names.insert(name);
        used.by_expiry.insert((expires_at, name), caller);
        Ok(true)
    }
}

/// The first 128 bits of the hash of a name, which take less memory than the name.
fn hash(name: &str) -> u128 {
    let hash = digest(&SHA256, name.as_bytes());
    hash.as_ref().iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte))
}

impl Default for MemoryReplayStore {
    fn default() -> Self {
        Self::new(CAPACITY)
    }
}

impl ReplayStore for MemoryReplayStore {
    fn insert(
        &self,
        name: &str,
        caller: &Principal,
        expires_at: u64,
    ) -> BoxFuture<'static, Result<bool, BoxError>> {
        future::ready(self.insert_at(name, caller.as_str(), expires_at, unix_now()).map_err(BoxError::from))
            .boxed()
    }
}

impl fmt::Debug for MemoryReplayStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryReplayStore").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_accepted_once_until_it_expires() {
        let store = MemoryReplayStore::new(2);
        assert!(store.insert_at("a", "ann", 10, 0).unwrap());
        assert!(!store.insert_at("a", "ann", 99, 10).unwrap());
        assert!(store.insert_at("b", "ann", 20, 10).unwrap());
        assert!(store.insert_at("c", "ann", 20, 10).is_err(), "full, and nothing is forgotten early");
        assert!(store.insert_at("c", "ann", 20, 11).unwrap(), "the first has expired");
        assert!(!store.insert_at("b", "ann", 20, 11).unwrap());
        assert_eq!(store.used.lock().by_expiry.len(), 2);
    }

    #[test]
    fn proofs_of_one_caller_are_bounded() {
        let store = MemoryReplayStore::new(4).caller_capacity(2);
        for (name, expires_at) in [("a", 10), ("b", 20)] {
            assert!(store.insert_at(name, "ann", expires_at, 0).unwrap());
        }
        assert!(matches!(store.insert_at("c", "ann", 20, 0), Err(StoreFull::OfCaller(2))));
        assert!(!store.insert_at("a", "ann", 20, 0).unwrap(), "a known name is not new, even at the limit");
        assert!(store.insert_at("c", "ben", 20, 0).unwrap());
        assert!(store.insert_at("d", "ann", 20, 11).unwrap(), "the first has expired");
        assert!(store.insert_at("e", "ann", 30, 21).unwrap());
        assert_eq!(store.used.lock().callers.len(), 1, "a caller without proofs is dropped");
    }
}
