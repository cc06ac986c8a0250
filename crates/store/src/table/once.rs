//! Names that are used once, until they expire.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::millis;
use crate::{MAX_ONCE_NAME, StoreError, StoreLimits};

/// The bytes of a name beside its text.
const NAME_COST: usize = 64;

/// Expired names are removed once in so many milliseconds.
const SWEEP: u64 = 60_000;

/// How long after a removal of the expired names a table that is full looks for others, in milliseconds.
const SWEEP_FULL: u64 = 1000;

/// One owner has up to this part of the room.
const OWNER_SHARE: usize = 4;

/// Names, until they expire.
#[derive(Debug)]
pub(crate) struct OnceTable {
    limit: usize,
    names: BTreeMap<Box<str>, Name>,
    /// The bytes of the names of each owner.
    owners: BTreeMap<Arc<str>, usize>,
    size: usize,
    swept: u64,
}

#[derive(Debug)]
struct Name {
    /// Milliseconds since 1970.
    expires: u64,
    owner: Option<Arc<str>>,
}

impl OnceTable {
    pub(crate) fn new(limits: &StoreLimits) -> Self {
        let (names, owners) = (BTreeMap::new(), BTreeMap::new());
        Self { limit: limits.names, names, owners, size: 0, swept: 0 }
    }

    /// Adds a name. Returns when it expires, or none where the name is there.
    pub(crate) fn insert(
        &mut self,
        now: u64,
        name: &str,
        owner: Option<&str>,
        remember: Duration,
    ) -> Result<Option<u64>, StoreError> {
        if name.len() > MAX_ONCE_NAME {
            return Err(StoreError::full(format!("the name is longer than {MAX_ONCE_NAME} bytes")));
        }
        if self.contains(now, name) {
            return Ok(None);
        }
        let since = now.saturating_sub(self.swept);
        if since >= SWEEP || since >= SWEEP_FULL && self.check_room(name, owner).is_err() {
            self.remove_expired(now);
        }
        self.check_room(name, owner)?;
        let expires = now + millis(remember);
        self.put(name, owner, expires);
        Ok(Some(expires))
    }

    fn check_room(&self, name: &str, owner: Option<&str>) -> Result<(), StoreError> {
        let (limit, share) = (self.limit, self.limit / OWNER_SHARE);
        if self.size + cost(name, owner) > limit {
            return Err(StoreError::full(format!("all names have {limit} bytes, at most")));
        }
        let of_owner = owner.and_then(|owner| self.owners.get(owner)).copied().unwrap_or_default();
        if owner.is_some() && of_owner + cost(name, owner) > share {
            return Err(StoreError::full(format!("the names of one owner have {share} bytes, at most")));
        }
        Ok(())
    }

    /// Adds a name whatever the limit.
    pub(crate) fn put(&mut self, name: &str, owner: Option<&str>, expires: u64) {
        self.remove(name);
        let cost = cost(name, owner);
        let owner = owner.map(|owner| {
            let known = self.owners.get_key_value(owner).map(|(owner, _)| owner.clone());
            let owner = known.unwrap_or_else(|| owner.into());
            *self.owners.entry(owner.clone()).or_default() += cost;
            owner
        });
        self.size += cost;
        self.names.insert(name.into(), Name { expires, owner });
    }

    pub(crate) fn contains(&self, now: u64, name: &str) -> bool {
        self.names.get(name).is_some_and(|name| name.expires > now)
    }

    /// Forgets a name.
    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(removed) = self.names.remove(name) {
            self.give_back(name, removed.owner.as_deref());
        }
    }

    pub(crate) fn remove_expired(&mut self, now: u64) {
        self.swept = now;
        let (expired, left) =
            std::mem::take(&mut self.names).into_iter().partition(|(_, name)| name.expires <= now);
        self.names = left;
        let expired: BTreeMap<Box<str>, Name> = expired;
        for (name, expired) in expired {
            self.give_back(&name, expired.owner.as_deref());
        }
    }

    fn give_back(&mut self, name: &str, owner: Option<&str>) {
        let cost = cost(name, owner);
        self.size -= cost;
        if let Some(owner) = owner
            && let Some(size) = self.owners.get_mut(owner)
        {
            *size -= cost;
            if *size == 0 {
                self.owners.remove(owner);
            }
        }
    }

    /// All names, expired ones too.
    #[cfg(feature = "file")]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Option<&str>, u64)> {
        self.names.iter().map(|(name, stored)| (&**name, stored.owner.as_deref(), stored.expires))
    }
}

/// The bytes that a name takes. That of its owner is there once for all its names, and counts for each.
fn cost(name: &str, owner: Option<&str>) -> usize {
    NAME_COST + name.len() + owner.map_or(0, str::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_refuses_until_names_expire() {
        let mut table = OnceTable::new(&StoreLimits::new().names(1000));
        let second = Duration::from_secs(1);
        let full =
            (0..).find_map(|number| table.insert(1000, &number.to_string(), None, second).err()).unwrap();
        assert!(matches!(full, StoreError::Full(_)), "{full:?}");
        assert_eq!(table.insert(1000, "0", None, second).unwrap(), None);
        assert_eq!(table.insert(2000, "0", None, second).unwrap(), Some(3000));
        assert_eq!(table.size, NAME_COST + 1);
        assert!(table.insert(2000, &"x".repeat(MAX_ONCE_NAME + 1), None, second).is_err());
    }

    #[test]
    fn an_owner_leaves_room_for_others() {
        let mut table = OnceTable::new(&StoreLimits::new().names(4000));
        let second = Duration::from_secs(1);
        let mut fill = |now, owner| {
            (0..100).find(|number| {
                table.insert(now, &format!("{owner}{number:02}"), Some(owner), second).is_err()
            })
        };
        assert_eq!((fill(1000, "a"), fill(1000, "b"), fill(1000, "a")), (Some(14), Some(14), Some(14)));
        assert!(table.insert(1000, "c", None, second).unwrap().is_some());
        table.remove("a03");
        table.remove("a03");
        assert!(table.insert(1000, "a", Some("a"), second).unwrap().is_some());
        table.remove_expired(2000);
        assert_eq!((table.size, table.owners.len(), table.names.len()), (0, 0, 0));
    }
}
