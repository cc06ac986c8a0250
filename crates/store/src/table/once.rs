//! Names that are used once, until they expire.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::clock::millis;
use crate::{MAX_ONCE_NAME, StoreError, StoreLimits};

/// The bytes of a name beside its text.
const NAME_COST: usize = 64;

/// Expired names are removed once in so many milliseconds.
const SWEEP: u64 = 60_000;

/// How long after a removal of the expired names a table that is full looks for others, in milliseconds.
const SWEEP_FULL: u64 = 1000;

/// Names, and when they expire, in milliseconds since 1970.
#[derive(Debug)]
pub(crate) struct OnceTable {
    limit: usize,
    names: BTreeMap<Box<str>, u64>,
    size: usize,
    swept: u64,
}

impl OnceTable {
    pub(crate) fn new(limits: &StoreLimits) -> Self {
        Self { limit: limits.names, names: BTreeMap::new(), size: 0, swept: 0 }
    }

    /// Adds a name. Returns when it expires, or none where the name is there.
    pub(crate) fn insert(
        &mut self,
        now: u64,
        name: &str,
        remember: Duration,
    ) -> Result<Option<u64>, StoreError> {
        if name.len() > MAX_ONCE_NAME {
            return Err(StoreError::full(format!("the name is longer than {MAX_ONCE_NAME} bytes")));
        }
        if self.contains(now, name) {
            return Ok(None);
        }
        let since = now.saturating_sub(self.swept);
        let is_full = self.size + NAME_COST + name.len() > self.limit;
        if since >= SWEEP || is_full && since >= SWEEP_FULL {
            self.remove_expired(now);
        }
        if self.size + NAME_COST + name.len() > self.limit {
            return Err(StoreError::full(format!("all names have {} bytes, at most", self.limit)));
        }
        let expires = now + millis(remember);
        self.put(name, expires);
        Ok(Some(expires))
    }

    /// Adds a name whatever the limit.
    pub(crate) fn put(&mut self, name: &str, expires: u64) {
        if self.names.insert(name.into(), expires).is_none() {
            self.size += NAME_COST + name.len();
        }
    }

    pub(crate) fn contains(&self, now: u64, name: &str) -> bool {
        self.names.get(name).is_some_and(|expires| *expires > now)
    }

    pub(crate) fn remove_expired(&mut self, now: u64) {
        self.swept = now;
        self.names.retain(|_, expires| *expires > now);
        self.size = self.names.keys().map(|name| NAME_COST + name.len()).sum();
    }

    /// All names, expired ones too.
    #[cfg(feature = "file")]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.names.iter().map(|(name, expires)| (&**name, *expires))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_refuses_until_names_expire() {
        let mut table = OnceTable::new(&StoreLimits::new().names(1000));
        let second = Duration::from_secs(1);
        let full = (0..).find_map(|number| table.insert(1000, &number.to_string(), second).err()).unwrap();
        assert!(matches!(full, StoreError::Full(_)), "{full:?}");
        assert_eq!(table.insert(1000, "0", second).unwrap(), None);
        assert_eq!(table.insert(2000, "0", second).unwrap(), Some(3000));
        assert_eq!(table.size, NAME_COST + 1);
        assert!(table.insert(2000, &"x".repeat(MAX_ONCE_NAME + 1), second).is_err());
    }
}
