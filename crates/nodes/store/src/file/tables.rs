//! The tables of a `FileStore` in memory, and the changes from which they can be rebuilt.

use super::change::Change;
use crate::table::event::EventTable;
use crate::table::once::OnceTable;
use crate::table::record::{RecordTable, StoredRecord};
use crate::{SessionId, StoreLimits, StreamRun};

#[derive(Debug)]
pub(super) struct Tables {
    pub(super) events: EventTable,
    pub(super) records: RecordTable,
    pub(super) once: OnceTable,
}

impl Tables {
    pub(super) fn new(limits: &StoreLimits) -> Self {
        Self {
            events: EventTable::new(limits),
            records: RecordTable::new(limits),
            once: OnceTable::new(limits),
        }
    }

    /// Applies a change that was read from the journal. Leaves out what exceeds the limits.
    pub(super) fn apply(&mut self, now: u64, change: Change) {
        match change {
            Change::Open { session, owner } => self.events.open(session, owner.as_deref()),
            Change::Begin { session, stream, node, requests } => {
                let _ = self.events.begin(session, stream, StreamRun::new(node, requests));
            }
            Change::Event { session, event, is_last } => {
                let _ = self.events.append(session, event, is_last);
            }
            Change::End { session, stream } => self.events.end(session, stream),
            Change::TakeOver { session, stream } => {
                let _ = self.events.take_over(session, stream, None);
            }
            Change::Forget { session } => self.events.forget(session),
            Change::Record { session, record, expires, next_stream } => {
                let stored = StoredRecord { record, expires, next_stream };
                let _ = self.records.put(now, session, stored);
            }
            Change::Touch { session, expires } => self.records.set_expires(session, expires),
            Change::Delete { session } => {
                self.records.remove(now, session);
                self.events.forget(session);
            }
            Change::Streams { session, next } => self.records.set_next_stream(session, next),
            Change::Name { name, owner, expires } => self.once.put(&name, owner.as_deref(), expires),
            Change::NameRemoved { name } => self.once.remove(&name),
            Change::Check => {}
        }
    }

    /// The change that adds the record of a session.
    pub(super) fn record(&self, now: u64, session: SessionId) -> Option<Change> {
        let StoredRecord { record, expires, next_stream } = self.records.get(now, session)?.clone();
        Some(Change::Record { session, record, expires, next_stream })
    }

    /// Removes what has expired, and the events of sessions that have no record.
    pub(super) fn prune(&mut self, now: u64) {
        self.records.remove_expired(now);
        self.records.sweep(now);
        self.once.remove_expired(now);
        let sessions: Vec<SessionId> = self.events.logs().map(|(session, _)| session).collect();
        for session in sessions {
            if self.records.get(now, session).is_none() {
                self.events.forget(session);
            }
        }
    }

    /// The changes that rebuild this content from empty tables.
    pub(super) fn changes(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        for (session, stored) in self.records.iter() {
            let StoredRecord { record, expires, next_stream } = stored.clone();
            changes.push(Change::Record { session, record, expires, next_stream });
        }
        for (session, log) in self.events.logs() {
            let owner = log.account().owner.as_deref().map(str::to_owned);
            changes.push(Change::Open { session, owner });
            for (stream, runs, _, _) in log.streams() {
                changes.extend(runs.map(|runs| Change::begin(session, stream, runs.clone())));
            }
            for event in log.events() {
                changes.push(Change::Event { session, event: event.clone(), is_last: false });
            }
            for (stream, _, ended, taken_over) in log.streams() {
                match (ended, taken_over) {
                    (true, true) => changes.push(Change::TakeOver { session, stream }),
                    (true, false) => changes.push(Change::End { session, stream }),
                    (false, _) => {}
                }
            }
        }
        for (name, owner, expires) in self.once.iter() {
            let (name, owner) = (name.to_owned(), owner.map(str::to_owned));
            changes.push(Change::Name { name, owner, expires });
        }
        changes
    }
}
