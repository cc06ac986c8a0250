//! The events of all sessions. Over the common limit, the owner with the most bytes loses its oldest events.

use std::collections::{BTreeMap, BinaryHeap, btree_map};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

use super::log::{Account, LOG_COST, Log};
use crate::{Event, EventId, Replay, Rest, SessionId, StoreError, StoreLimits, StreamRun};

/// The events of all sessions.
#[derive(Debug)]
pub(crate) struct EventTable {
    session_limit: usize,
    limit: usize,
    sessions: BTreeMap<SessionId, Log>,
    /// Every owner that has a session.
    owners: BTreeMap<Option<Arc<str>>, Arc<Account>>,
    size: usize,
}

impl EventTable {
    pub(crate) fn new(limits: &StoreLimits) -> Self {
        let (session_limit, limit) = (limits.session_events, limits.events);
        Self { session_limit, limit, sessions: BTreeMap::new(), owners: BTreeMap::new(), size: 0 }
    }

    pub(crate) fn open(&mut self, session: SessionId, owner: Option<&str>) {
        if let btree_map::Entry::Vacant(place) = self.sessions.entry(session) {
            let owner: Option<Arc<str>> = owner.map(Arc::from);
            let new = || Arc::new(Account { owner: owner.clone(), size: AtomicUsize::new(0) });
            let account = self.owners.entry(owner.clone()).or_insert_with(new);
            place.insert(Log::new(account.clone()));
            self.size += LOG_COST;
        }
    }

    pub(crate) fn begin(
        &mut self,
        session: SessionId,
        stream: u64,
        runs: StreamRun,
    ) -> Result<(), StoreError> {
        self.change(session, |log, _| log.begin(stream, runs))
    }

    pub(crate) fn append(
        &mut self,
        session: SessionId,
        event: Event,
        is_last: bool,
    ) -> Result<(), StoreError> {
        self.change(session, |log, limit| log.append(event, is_last, limit))
    }

    pub(crate) fn end(&mut self, session: SessionId, stream: u64) {
        if self.sessions.contains_key(&session) {
            self.change(session, |log, _| log.end(stream));
        }
    }

    /// Returns whether the stream was taken over, and its last event.
    pub(crate) fn take_over(
        &mut self,
        session: SessionId,
        stream: u64,
        last: Option<Bytes>,
    ) -> (bool, Option<Event>) {
        if !self.sessions.contains_key(&session) {
            return (false, None);
        }
        self.change(session, |log, limit| log.take_over(stream, last, limit))
    }

    pub(crate) fn replay(&self, session: SessionId, after: EventId, limit: usize) -> Replay {
        match self.sessions.get(&session) {
            Some(log) => log.replay(after, limit),
            None => Replay::new(Vec::new(), Rest::Unknown),
        }
    }

    pub(crate) fn forget(&mut self, session: SessionId) {
        let Some(log) = self.sessions.remove(&session) else { return };
        self.size -= LOG_COST + log.size();
        log.account().size.fetch_sub(log.size(), Ordering::Relaxed);
        // Only this log and the table still hold the account.
        if Arc::strong_count(log.account()) == 2 {
            self.owners.remove(&log.account().owner);
        }
        if self.sessions.is_empty() {
            // An empty tree keeps its last node, which would pin the heap behind the nodes of many sessions.
            self.sessions = BTreeMap::new();
        }
    }

    /// The sessions and their logs.
    #[cfg(feature = "file")]
    pub(crate) fn logs(&self) -> impl Iterator<Item = (SessionId, &Log)> {
        self.sessions.iter().map(|(session, log)| (*session, log))
    }

    /// Changes a session's log, and opens it if necessary. Keeps the limits. The closure gets the largest size of an event.
    fn change<T>(&mut self, session: SessionId, change: impl FnOnce(&mut Log, usize) -> T) -> T {
        let log = match self.sessions.get_mut(&session) {
            Some(log) => log,
            None => {
                self.open(session, None);
                self.sessions.get_mut(&session).expect("it has just been opened")
            }
        };
        let before = log.size();
        let result = change(log, self.session_limit.min(self.limit - self.limit / 16));
        if log.size() > self.session_limit {
            log.shed(self.session_limit);
        }
        self.size = self.size - before + log.size();
        if self.size > self.limit {
            // A sixteenth is left free, so that the search for the largest owner runs once in many events.
            self.shed(self.limit - self.limit / 16);
        }
        result
    }

    /// Forgets events of a session until it has at most `limit` bytes.
    fn shed_session(&mut self, session: SessionId, limit: usize) {
        let Some(log) = self.sessions.get_mut(&session) else { return };
        let before = log.size();
        log.shed(limit);
        self.size -= before - log.size();
    }

    /// Forgets events until there are at most `limit` bytes, or no events.
    fn shed(&mut self, limit: usize) {
        while self.size > limit {
            let sizes =
                self.owners.iter().map(|(owner, account)| (account.size.load(Ordering::Relaxed), owner));
            let mut owners: Vec<_> = sizes.collect();
            owners.sort_unstable();
            let Some((size, largest)) = owners.pop() else { return };
            let (largest, next) = (largest.clone(), owners.last().map_or(0, |(next, _)| *next));
            // First down to the size of the next largest owner, then both in turn.
            let excess = (self.size - limit).min((size - next).max(size / 16 + 1));
            let of_owner =
                self.sessions.iter().filter(|(_, log)| log.account().owner == largest && !log.is_empty());
            let sessions: BinaryHeap<_> = of_owner.map(|(session, log)| (log.size(), *session)).collect();
            if !self.shed_largest(sessions, excess) {
                return;
            }
        }
    }

    /// Forgets `excess` bytes of the largest of these sessions. Returns whether anything was forgotten.
    fn shed_largest(&mut self, mut sessions: BinaryHeap<(usize, SessionId)>, excess: usize) -> bool {
        let before = self.size;
        while before - self.size < excess
            && let Some((size, session)) = sessions.pop()
        {
            let next = sessions.peek().map_or(0, |(next, _)| *next);
            let left = excess - (before - self.size);
            self.shed_session(session, size.saturating_sub(left.min((size - next).max(size / 16 + 1))));
            if let Some(log) = self.sessions.get(&session).filter(|log| !log.is_empty()) {
                sessions.push((log.size(), session));
            }
        }
        self.size < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(stream: u64, place: u64, length: usize) -> Event {
        Event::new(EventId::new(stream, place), vec![b'x'; length].into())
    }

    fn table(session: usize, all: usize) -> EventTable {
        EventTable::new(&StoreLimits::new().session_events(session).events(all))
    }

    fn open(table: &mut EventTable, owner: Option<&str>) -> SessionId {
        let session = SessionId::random().unwrap();
        table.open(session, owner);
        session
    }

    fn append(table: &mut EventTable, session: SessionId, event: Event) {
        table.append(session, event, false).unwrap();
    }

    fn places(table: &EventTable, session: SessionId, after: EventId) -> Vec<u64> {
        table.replay(session, after, usize::MAX).events.iter().map(|event| event.id.place).collect()
    }

    fn count(table: &EventTable, session: SessionId) -> usize {
        places(table, session, EventId::new(1, 0)).len()
    }

    /// The memory of one event of 100 bytes, on a stream that has others.
    fn cost() -> usize {
        let mut table = table(usize::MAX >> 1, usize::MAX >> 1);
        let session = open(&mut table, None);
        append(&mut table, session, event(1, 1, 100));
        let before = table.size;
        append(&mut table, session, event(1, 2, 100));
        table.size - before
    }

    #[test]
    fn the_oldest_are_forgotten_first_and_a_larger_event_is_refused() {
        let mut table = table(3 * cost() - 1, usize::MAX >> 1);
        let session = open(&mut table, None);
        (1..=5).for_each(|place| append(&mut table, session, event(1, place, 100)));
        assert_eq!(places(&table, session, EventId::new(1, 0)), [4, 5]);
        let refused = table.append(session, event(1, 6, 10_000), true);
        assert!(matches!(refused, Err(StoreError::Full(_))), "{refused:?}");
        let replay = table.replay(session, EventId::new(1, 4), usize::MAX);
        assert_eq!((replay.events.len(), replay.rest), (1, Rest::Ended));
        table.forget(session);
        assert_eq!((table.size, table.owners.len()), (0, 0));
    }

    #[test]
    fn streams_without_events_take_room_only_while_they_run() {
        let mut table = table(1 << 20, 1 << 20);
        let session = open(&mut table, None);
        let before = table.size;
        let runs = StreamRun::new(crate::NodeId::new(1), vec!["a long id of a request".into()]);
        for stream in 1..1000 {
            table.begin(session, stream, runs.clone()).unwrap();
            table.end(session, stream);
        }
        assert_eq!(table.size, before);
        for stream in 1000..200_000 {
            table.begin(session, stream, runs.clone()).unwrap();
        }
        assert!(table.size <= 1 << 20, "{}", table.size);
        let kept = table.replay(session, EventId::new(199_999, 0), usize::MAX);
        assert_eq!(kept.rest, Rest::Running(Some(runs)));
        assert_eq!(table.replay(session, EventId::new(1000, 0), usize::MAX).rest, Rest::Unknown);
    }

    #[test]
    fn all_sessions_share_one_limit_and_the_largest_gives_way() {
        let mut table = table(usize::MAX >> 1, 300 * cost());
        let (first, second) = (open(&mut table, None), open(&mut table, None));
        (1..=100).for_each(|place| append(&mut table, first, event(1, place, 100)));
        (1..=1000).for_each(|place| append(&mut table, second, event(1, place, 100)));
        assert_eq!(count(&table, first), 100);
        assert!((170..=200).contains(&count(&table, second)), "{}", count(&table, second));
        assert!(table.size <= table.limit);
    }

    /// One owner fills the table from many sessions. The events of other owners stay.
    #[test]
    fn an_owner_that_fills_the_table_loses_its_own_events() {
        let mut table = table(usize::MAX >> 1, 1000 * cost());
        let hostile: Vec<_> = (0..50).map(|_| open(&mut table, Some("hostile"))).collect();
        let polite = open(&mut table, Some("polite"));
        for place in 1..=200 {
            hostile.iter().for_each(|session| append(&mut table, *session, event(1, place, 100)));
            if place <= 100 {
                append(&mut table, polite, event(1, place, 100));
            }
        }
        assert_eq!(count(&table, polite), 100);
        let left: usize = hostile.iter().map(|session| count(&table, *session)).sum();
        assert!((700..900).contains(&left), "{left}");
        let late = open(&mut table, Some("late"));
        append(&mut table, late, event(1, 1, 100));
        hostile.iter().for_each(|session| append(&mut table, *session, event(1, 1000, 100)));
        assert_eq!(count(&table, late), 1, "an owner that comes late has a share too");
    }
}
