//! A table of once-only names with expiry times, and with a limit for each owner.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::clock::millis;
use crate::{MAX_ONCE_NAME, StoreError, StoreLimits};

/// The bytes of a name in addition to its text.
const NAME_COST: usize = 128;

/// One owner gets up to this part of the room.
const OWNER_SHARE: usize = 4;

/// Names, until they expire.
#[derive(Debug)]
pub(crate) struct OnceTable {
    limit: usize,
    names: BTreeMap<Arc<str>, Name>,
    /// The same names sorted by expiry time, so that a removal costs only the expired ones.
    by_expiry: BTreeSet<(u64, Arc<str>)>,
    /// The bytes of the names of each owner.
    owners: BTreeMap<Arc<str>, usize>,
    size: usize,
}

#[derive(Debug)]
struct Name {
    /// Milliseconds since 1970.
    expires: u64,
    owner: Option<Arc<str>>,
}

impl OnceTable {
    pub(crate) fn new(limits: &StoreLimits) -> Self {
        let (names, by_expiry, owners) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        Self { limit: limits.names, names, by_expiry, owners, size: 0 }
    }

    /// Adds a name. Returns when it expires, or `None` if the table has the name.
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
        self.remove_expired(now);
        if self.names.contains_key(name) {
            return Ok(None);
        }
        self.check_room(name, owner)?;
        let expires = now + millis(remember);
        self.put(name, owner, expires);
        Ok(Some(expires))
    }

    fn check_room(&self, name: &str, owner: Option<&str>) -> Result<(), StoreError> {
        let (limit, share) = (self.limit, self.limit / OWNER_SHARE);
        if self.size + cost(name, owner) > limit {
            return Err(StoreError::full(format!("all names may take {limit} bytes")));
        }
        let of_owner = owner.and_then(|owner| self.owners.get(owner)).copied().unwrap_or_default();
        if owner.is_some() && of_owner + cost(name, owner) > share {
            return Err(StoreError::full(format!("the names of one owner may take {share} bytes")));
        }
        Ok(())
    }

    /// Adds a name, regardless of the limits.
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
        let name: Arc<str> = name.into();
        self.by_expiry.insert((expires, name.clone()));
        self.names.insert(name, Name { expires, owner });
    }

    pub(crate) fn contains(&self, now: u64, name: &str) -> bool {
        self.names.get(name).is_some_and(|name| name.expires > now)
    }

    /// Forgets a name.
    pub(crate) fn remove(&mut self, name: &str) {
        if let Some((name, removed)) = self.names.remove_entry(name) {
            self.give_back(&name, removed.owner.as_deref());
            self.by_expiry.remove(&(removed.expires, name));
        }
    }

    pub(crate) fn remove_expired(&mut self, now: u64) {
        while let Some((_, name)) = self.by_expiry.first().filter(|(expires, _)| *expires <= now) {
            let name = name.clone();
            self.remove(&name);
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

    /// All names, including expired ones.
    #[cfg(feature = "file")]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Option<&str>, u64)> {
        self.names.iter().map(|(name, stored)| (&**name, stored.owner.as_deref(), stored.expires))
    }
}

/// The bytes of a name. The owner is stored once for all its names, and is counted for each.
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
    fn an_expired_name_leaves_with_the_next_that_comes() {
        let mut table = OnceTable::new(&StoreLimits::new());
        for number in 0..100_u64 {
            let remember = Duration::from_millis(number % 10 + 1);
            assert!(table.insert(1000, &number.to_string(), None, remember).unwrap().is_some());
        }
        table.remove("0");
        table.put("1", None, 2000);
        for (now, left) in [(1001, 90), (1005, 50 + 2), (1005, 50 + 3), (1010, 4), (2000, 0)] {
            let name = format!("{now} {left}");
            assert!(table.insert(now, &name, None, Duration::from_millis(500)).unwrap().is_some());
            assert_eq!((table.names.len(), table.by_expiry.len()), (left + 1, left + 1), "{name}");
        }
    }

    #[test]
    fn an_owner_leaves_room_for_others() {
        let mut table = OnceTable::new(&StoreLimits::new().names(7600));
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
        assert_eq!((table.size, table.owners.len(), table.names.len(), table.by_expiry.len()), (0, 0, 0, 0));
    }
}
