//! Remembers which proofs were used, so that none is used twice.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use agentwire_sync::Mutex;
use agentwire_transport_http::client::BoxError;
use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use ring::digest::{SHA256, digest};

use crate::jose::unix_now;

/// How many proofs a [`MemoryReplayStore`] remembers unless another number is set: 8,000 requests each second, of which each is
/// remembered for two minutes.
const CAPACITY: usize = 1_000_000;

/// The proofs that were used, by their names, until they expire. Servers that share a resource share one.
pub trait ReplayStore: fmt::Debug + Send + Sync {
    /// Remembers a name of 43 characters of base64url until `expires_at`, in seconds since 1970. False where it is remembered
    /// already. Of two calls at once with one name, one gets false: in Redis, `SET name 1 NX EXAT expires_at`.
    ///
    /// # Errors
    ///
    /// When it cannot be remembered. The proof is refused with 503 then.
    fn insert(&self, name: &str, expires_at: u64) -> BoxFuture<'static, Result<bool, BoxError>>;
}

/// A [`ReplayStore`] in the memory of this process.
pub struct MemoryReplayStore {
    capacity: usize,
    used: Mutex<Used>,
}

#[derive(Default)]
struct Used {
    names: HashSet<u128>,
    by_expiry: BTreeSet<(u64, u128)>,
}

/// There are as many unexpired proofs as the store has room for.
#[derive(Debug, thiserror::Error)]
#[error("there are as many proofs as the limit of {0} allows")]
struct Full(usize);

impl MemoryReplayStore {
    /// One for up to that many unexpired proofs, each of which takes about 80 bytes. While it is full, further proofs are
    /// refused: to forget one would let it be used again.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, used: Mutex::default() }
    }

    fn insert_at(&self, name: &str, expires_at: u64, now: u64) -> Result<bool, Full> {
        let name = hash(name);
        let mut used = self.used.lock();
        while used.by_expiry.first().is_some_and(|(expiry, _)| *expiry < now) {
            if let Some((_, name)) = used.by_expiry.pop_first() {
                used.names.remove(&name);
            }
        }
        if used.names.contains(&name) {
            return Ok(false);
        }
        if used.names.len() >= self.capacity {
            return Err(Full(self.capacity));
        }
        used.names.insert(name);
        used.by_expiry.insert((expires_at, name));
        Ok(true)
    }
}

/// Half of the hash of a name, which takes less memory than the name.
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
    fn insert(&self, name: &str, expires_at: u64) -> BoxFuture<'static, Result<bool, BoxError>> {
        future::ready(self.insert_at(name, expires_at, unix_now()).map_err(BoxError::from)).boxed()
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
    fn a_name_is_taken_once_until_it_expires() {
        let store = MemoryReplayStore::new(2);
        assert!(store.insert_at("a", 10, 0).unwrap());
        assert!(!store.insert_at("a", 99, 10).unwrap());
        assert!(store.insert_at("b", 20, 10).unwrap());
        assert!(store.insert_at("c", 20, 10).is_err(), "full, and nothing is forgotten early");
        assert!(store.insert_at("c", 20, 11).unwrap(), "the first has expired");
        assert!(!store.insert_at("b", 20, 11).unwrap());
        assert_eq!(store.used.lock().by_expiry.len(), 2);
    }
}
