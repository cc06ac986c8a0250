//! A table of session records with expiry times, and with a limit for each owner.

use std::collections::BTreeMap;
use std::time::Duration;

use agentwire_jsonrpc::RawJson;

use crate::clock::millis;
use crate::{SessionId, SessionRecord, StoreError, StoreLimits, StreamBlock};

/// The bytes of a record in addition to its messages.
const RECORD_COST: usize = 2 * size_of::<StoredRecord>() + 64;

/// One owner gets up to this part of the room.
const OWNER_SHARE: usize = 4;

/// The interval between removals of expired records, in milliseconds.
const SWEEP: u64 = 60_000;

/// How long after a removal of expired records a full table removes them again, in milliseconds.
const SWEEP_FULL: u64 = 1000;

/// The records of sessions. Times are milliseconds since 1970.
#[derive(Debug)]
pub(crate) struct RecordTable {
    limit: usize,
    records: BTreeMap<SessionId, StoredRecord>,
    size: usize,
    /// The bytes of the records of each owner.
    owners: BTreeMap<String, usize>,
    swept: u64,
    /// The sessions whose expired records were removed, until [`sweep`](Self::sweep) returns them.
    expired: Vec<SessionId>,
}

/// A record, when it expires, and the next number for a stream.
#[derive(Clone, Debug)]
pub(crate) struct StoredRecord {
    pub(crate) record: SessionRecord,
    pub(crate) expires: u64,
    pub(crate) next_stream: u64,
}

impl RecordTable {
    pub(crate) fn new(limits: &StoreLimits) -> Self {
        Self {
            limit: limits.records,
            records: BTreeMap::new(),
            size: 0,
            owners: BTreeMap::new(),
            swept: 0,
            expired: Vec::new(),
        }
    }

    pub(crate) fn create(
        &mut self,
        now: u64,
        session: SessionId,
        record: SessionRecord,
        time_to_live: Duration,
    ) -> Result<(), StoreError> {
        let stored = StoredRecord { record, expires: now + millis(time_to_live), next_stream: 1 };
        self.put(now, session, stored)
    }

    /// Adds a record, or replaces one.
    pub(crate) fn put(
        &mut self,
        now: u64,
        session: SessionId,
        mut stored: StoredRecord,
    ) -> Result<(), StoreError> {
        // Each message is a slice of a larger text, which would stay in memory as well.
        stored.record.messages = stored.record.messages.iter().map(RawJson::detached).collect();
        if let Err(full) = self.room_for(session, &stored) {
            if now.saturating_sub(self.swept) < SWEEP_FULL {
                return Err(full);
            }
            self.remove_expired(now);
            self.room_for(session, &stored)?;
        }
        self.take(session);
        self.size += stored.size();
        if let Some(owner) = &stored.record.owner {
            *self.owners.entry(owner.clone()).or_default() += stored.size();
        }
        self.records.insert(session, stored);
        Ok(())
    }

    /// Checks that a record fits in place of the session's present one.
    fn room_for(&self, session: SessionId, stored: &StoredRecord) -> Result<(), StoreError> {
        let replaced = self.records.get(&session);
        if self.size - replaced.map_or(0, StoredRecord::size) + stored.size() > self.limit {
            let reason = format!("the records of all sessions may take {} bytes", self.limit);
            return Err(StoreError::full(reason));
        }
        let Some(owner) = &stored.record.owner else { return Ok(()) };
        let replaced = replaced.filter(|replaced| replaced.record.owner.as_ref() == Some(owner));
        let of_owner = self.owners.get(owner).copied().unwrap_or(0);
        let share = self.limit / OWNER_SHARE;
        if of_owner - replaced.map_or(0, StoredRecord::size) + stored.size() > share {
            return Err(StoreError::full(format!("the records of one owner may take {share} bytes")));
        }
        Ok(())
    }

    /// Removes and returns a record.
    fn take(&mut self, session: SessionId) -> Option<StoredRecord> {
        let stored = self.records.remove(&session)?;
        self.size -= stored.size();
        if let Some(owner) = &stored.record.owner
            && let Some(size) = self.owners.get_mut(owner)
        {
            *size -= stored.size();
            if *size == 0 {
                self.owners.remove(owner);
            }
        }
        Some(stored)
    }

    /// The record of a session, if it has not expired. Does not restart its time to live.
    pub(crate) fn get(&self, now: u64, session: SessionId) -> Option<&StoredRecord> {
        self.records.get(&session).filter(|stored| stored.expires > now)
    }

    /// Restarts the time to live. Returns when the record expires.
    pub(crate) fn touch(&mut self, now: u64, session: SessionId, time_to_live: Duration) -> Option<u64> {
        let stored = self.records.get_mut(&session).filter(|stored| stored.expires > now)?;
        stored.expires = now + millis(time_to_live);
        Some(stored.expires)
    }

    /// Whether there is a record whose version is 0.
    pub(crate) fn is_unused(&self, now: u64, session: SessionId) -> bool {
        self.get(now, session).is_some_and(|stored| stored.record.version == 0)
    }

    /// Replaces a record if the stored version equals the given one. Returns the new stored record.
    pub(crate) fn update(
        &mut self,
        now: u64,
        session: SessionId,
        mut record: SessionRecord,
    ) -> Result<Option<StoredRecord>, StoreError> {
        let Some(stored) = self.get(now, session).filter(|stored| stored.record.version == record.version)
        else {
            return Ok(None);
        };
        record.version += 1;
        let stored = StoredRecord { record, ..stored.clone() };
        self.put(now, session, stored.clone())?;
        Ok(Some(stored))
    }

    /// Removes a record. Returns whether there was one that had not expired.
    pub(crate) fn remove(&mut self, now: u64, session: SessionId) -> bool {
        let Some(stored) = self.take(session) else { return false };
        if self.records.is_empty() {
            // An empty tree keeps its last node, which would pin the heap.
            self.records = BTreeMap::new();
        }
        stored.expires > now
    }

    pub(crate) fn take_streams(&mut self, now: u64, session: SessionId, count: u64) -> Option<StreamBlock> {
        let stored = self.records.get_mut(&session).filter(|stored| stored.expires > now)?;
        let first = stored.next_stream;
        stored.next_stream = first.saturating_add(count);
        Some(first..stored.next_stream)
    }

    /// Removes expired records, if the last removal was long ago. Returns the sessions whose expired records were removed since
    /// the last call.
    pub(crate) fn sweep(&mut self, now: u64) -> Vec<SessionId> {
        if now.saturating_sub(self.swept) >= SWEEP {
            self.remove_expired(now);
        }
        std::mem::take(&mut self.expired)
    }

    /// Removes expired records. [`sweep`](Self::sweep) returns their sessions.
    pub(crate) fn remove_expired(&mut self, now: u64) {
        self.swept = now;
        let expired = self.records.iter().filter(|(_, stored)| stored.expires <= now);
        let expired: Vec<_> = expired.map(|(session, _)| *session).collect();
        for session in &expired {
            self.remove(now, *session);
        }
        self.expired.extend(expired);
    }

    #[cfg(feature = "file")]
    pub(crate) fn set_expires(&mut self, session: SessionId, expires: u64) {
        if let Some(stored) = self.records.get_mut(&session) {
            stored.expires = expires;
        }
    }

    #[cfg(feature = "file")]
    pub(crate) fn set_next_stream(&mut self, session: SessionId, next: u64) {
        if let Some(stored) = self.records.get_mut(&session) {
            stored.next_stream = next;
        }
    }

    /// All records, including expired ones.
    #[cfg(feature = "file")]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SessionId, &StoredRecord)> {
        self.records.iter().map(|(session, stored)| (*session, stored))
    }
}

impl StoredRecord {
    fn size(&self) -> usize {
        let message = |message: &RawJson| size_of::<RawJson>() + 32 + message.len();
        let owner = self.record.owner.as_ref().map_or(0, String::len);
        RECORD_COST + owner + self.record.messages.iter().map(message).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn record(length: usize) -> SessionRecord {
        SessionRecord::new(None, vec![RawJson::encode(&"x".repeat(length)).unwrap()])
    }

    #[test]
    fn expired_records_make_room_and_their_sessions_are_returned_once() {
        let mut table = RecordTable::new(&StoreLimits::new().records(10_000));
        let mut sessions = Vec::new();
        let full = loop {
            let session = SessionId::random().unwrap();
            match table.create(5000, session, record(1000), HOUR) {
                Ok(()) => sessions.push(session),
                Err(full) => break full,
            }
        };
        assert!(matches!(full, StoreError::Full(_)), "{full:?}");
        assert!((6..10).contains(&sessions.len()), "{}", sessions.len());
        let (later, session) = (6000 + millis(HOUR), SessionId::random().unwrap());
        assert!(table.get(later, sessions[0]).is_none());
        table.create(later, session, record(1000), HOUR).unwrap();
        sessions.sort();
        assert_eq!(table.sweep(later), sessions);
        assert_eq!(table.sweep(later), []);
        assert!(table.remove(later, session));
        assert_eq!(table.size, 0);
    }

    /// One owner fills its share. Others have theirs.
    #[test]
    fn an_owner_has_a_share() {
        let mut table = RecordTable::new(&StoreLimits::new().records(40_000));
        let of = |owner: &str| SessionRecord { owner: Some(owner.to_owned()), ..record(1000) };
        let mut create = |owner| table.create(0, SessionId::random().unwrap(), of(owner), HOUR);
        let count = (0..).take_while(|_| create("hostile").is_ok()).count();
        assert!((6..10).contains(&count), "{count}");
        assert!(create("polite").is_ok());
        let session = SessionId::random().unwrap();
        table.create(0, session, of("third"), HOUR).unwrap();
        assert!(table.remove(0, session));
        assert_eq!(table.owners.len(), 2);
    }

    #[test]
    fn an_update_counts_the_version_and_keeps_the_numbers() {
        let (mut table, session) = (RecordTable::new(&StoreLimits::new()), SessionId::random().unwrap());
        table.create(0, session, record(1), HOUR).unwrap();
        assert_eq!(table.take_streams(0, session, 64), Some(1..65));
        assert_eq!(table.update(0, session, record(2)).unwrap().unwrap().record.version, 1);
        assert!(table.update(0, session, record(3)).unwrap().is_none());
        assert_eq!(table.take_streams(0, session, 1), Some(65..66));
    }
}
