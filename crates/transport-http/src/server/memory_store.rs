//! Keeps the newest SSE events of each session in memory for replay. Over the common limit, the caller with the most bytes loses
//! its oldest events.

use std::collections::{BTreeMap, BinaryHeap, VecDeque, btree_map};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_sync::Mutex;
use futures::future::{self, BoxFuture};

use crate::server::{Caller, Event, EventId, EventStore, SessionId};

/// The bytes of an event beside its text: its place in the queue, up to half of which is empty, and the overhead of the
/// allocator, of [`Bytes`](bytes::Bytes) and of the lines around the text in the response.
const EVENT_COST: usize = 2 * size_of::<Event>() + 160;

/// The bytes of a session without events.
const LOG_COST: usize = 256;

/// Keeps the newest events in memory: up to 4 MiB of one session and 16 MiB of all sessions by default. The overhead of each
/// event counts too.
///
/// Where all together have more, the caller that has most gives way, and of its sessions the largest: their oldest
/// events are forgotten. So a caller that fills the store makes others lose nothing.
///
/// ```
/// use std::sync::Arc;
///
/// use agentwire_transport_http::server::{EndpointConfig, MemoryEventStore};
///
/// let store = MemoryEventStore::new(1 << 20, 64 << 20);
/// let config = EndpointConfig::new().event_store(Some(Arc::new(store)));
/// ```
#[derive(Debug)]
pub struct MemoryEventStore {
    session_limit: usize,
    limit: usize,
    logs: Mutex<Logs>,
}

#[derive(Debug, Default)]
struct Logs {
    sessions: BTreeMap<SessionId, Log>,
    /// Every caller that has a session.
    callers: BTreeMap<Caller, Arc<Account>>,
    size: usize,
}

/// How much the events of one caller take. Changed with the lock held, through its sessions, so that no event looks for
/// its caller.
#[derive(Debug)]
struct Account {
    caller: Caller,
    size: AtomicUsize,
}

/// The events of one session, oldest first.
#[derive(Debug)]
struct Log {
    account: Arc<Account>,
    events: VecDeque<Event>,
    size: usize,
}

impl Log {
    fn new(account: Arc<Account>) -> Self {
        Self { account, events: VecDeque::new(), size: 0 }
    }

    fn push(&mut self, event: Event, size: usize) {
        if self.events.capacity() == 0 {
            // Of a session that does no more than begin there is one event.
            self.events.reserve_exact(1);
        }
        self.events.push_back(event);
        self.size += size;
        self.account.size.fetch_add(size, Ordering::Relaxed);
    }

    /// Forgets the oldest event. Returns how much that gave back.
    fn shed(&mut self) -> usize {
        let size = self.events.pop_front().as_ref().map_or(0, size);
        self.size -= size;
        self.account.size.fetch_sub(size, Ordering::Relaxed);
        if self.events.capacity() > 2 * self.events.len() + 4 {
            self.events.shrink_to(self.events.len() + self.events.len() / 2);
        }
        size
    }
}

impl Logs {
    fn open(&mut self, session: SessionId, caller: &Caller) {
        if let btree_map::Entry::Vacant(place) = self.sessions.entry(session) {
            let account = self
                .callers
                .entry(caller.clone())
                .or_insert_with(|| Arc::new(Account { caller: caller.clone(), size: AtomicUsize::new(0) }));
            place.insert(Log::new(account.clone()));
            self.size += LOG_COST;
        }
    }

    /// Forgets events of a session until it has no more than so much.
    fn shed_session(&mut self, session: SessionId, limit: usize) {
        let Some(log) = self.sessions.get_mut(&session) else { return };
        while !log.events.is_empty() && log.size > limit {
            self.size -= log.shed();
        }
    }

    fn forget(&mut self, session: SessionId) {
        let Some(log) = self.sessions.remove(&session) else { return };
        self.size -= LOG_COST + log.size;
        log.account.size.fetch_sub(log.size, Ordering::Relaxed);
        // No other session has it, only the table.
        if Arc::strong_count(&log.account) == 2 {
            self.callers.remove(&log.account.caller);
        }
    }

    /// Forgets events until there is no more than so much, or none.
    fn shed(&mut self, limit: usize) {
        while self.size > limit {
            let sizes =
                self.callers.iter().map(|(caller, account)| (account.size.load(Ordering::Relaxed), caller));
            let mut callers: Vec<_> = sizes.collect();
            callers.sort_unstable();
            let Some((size, largest)) = callers.pop() else { return };
            let (largest, next) = (largest.clone(), callers.last().map_or(0, |(next, _)| *next));
            // Down to the one after it, and then both in turn.
            let excess = (self.size - limit).min((size - next).max(size / 16 + 1));
            let of_caller = self
                .sessions
                .iter()
                .filter(|(_, log)| log.account.caller == largest && !log.events.is_empty());
            let sessions: BinaryHeap<_> = of_caller.map(|(session, log)| (log.size, *session)).collect();
            if !self.shed_largest(sessions, excess) {
                return;
            }
        }
    }

    /// Forgets so much of the largest of these sessions. Returns whether that was anything.
    fn shed_largest(&mut self, mut sessions: BinaryHeap<(usize, SessionId)>, excess: usize) -> bool {
        let before = self.size;
        while before - self.size < excess
            && let Some((size, session)) = sessions.pop()
        {
            let next = sessions.peek().map_or(0, |(next, _)| *next);
            let left = excess - (before - self.size);
            self.shed_session(session, size.saturating_sub(left.min((size - next).max(size / 16 + 1))));
            if let Some(log) = self.sessions.get(&session).filter(|log| !log.events.is_empty()) {
                sessions.push((log.size, session));
            }
        }
        self.size < before
    }
}

impl MemoryEventStore {
    /// Keeps up to `session` bytes of each session and up to `all` bytes of all together. Where a session has more, its
    /// oldest events are forgotten; where all together have, the oldest of the largest, until a sixteenth is free.
    pub fn new(session: usize, all: usize) -> Self {
        Self { session_limit: session, limit: all, logs: Mutex::default() }
    }
}

impl Default for MemoryEventStore {
    fn default() -> Self {
        Self::new(4 << 20, 16 << 20)
    }
}

impl EventStore for MemoryEventStore {
    fn open(&self, session: SessionId, caller: &Caller) {
        self.logs.lock().open(session, caller);
    }

    fn append(&self, session: SessionId, event: Event) {
        let mut logs = self.logs.lock();
        let logs = &mut *logs;
        let size = size(&event);
        let log = match logs.sessions.get_mut(&session) {
            Some(log) => log,
            None => {
                logs.open(session, &Caller::UNKNOWN);
                logs.sessions.get_mut(&session).expect("it has just been opened")
            }
        };
        log.push(event, size);
        let is_too_large = log.size > self.session_limit;
        logs.size += size;
        if is_too_large {
            logs.shed_session(session, self.session_limit);
        }
        if logs.size > self.limit {
            // A sixteenth is left free, so that the search for the largest caller runs once in many events.
            logs.shed(self.limit - self.limit / 16);
        }
    }

    fn replay(&self, session: SessionId, after: EventId) -> BoxFuture<'static, Option<Vec<Event>>> {
        let logs = self.logs.lock();
        let of_stream = |event: &&Event| event.id.stream == after.stream;
        let found = logs.sessions.get(&session).and_then(|log| {
            let mut events = log.events.iter().filter(of_stream).peekable();
            events.peek()?;
            Some(events.filter(|event| event.id.place > after.place).cloned().collect())
        });
        Box::pin(future::ready(found))
    }

    fn forget(&self, session: SessionId) {
        let logs = &mut *self.logs.lock();
        logs.forget(session);
        if logs.sessions.is_empty() {
            // An empty tree keeps its last node, which would pin the heap behind the nodes of many sessions.
            logs.sessions = BTreeMap::new();
        }
    }
}

/// What an event costs to keep.
fn size(event: &Event) -> usize {
    event.data.len() + EVENT_COST
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn event(stream: u64, place: u64, length: usize) -> Event {
        Event::new(EventId::new(stream, place), vec![b'x'; length].into())
    }

    fn places(store: &MemoryEventStore, session: SessionId, after: EventId) -> Option<Vec<u64>> {
        let events = store.replay(session, after).now_or_never().unwrap();
        events.map(|events| events.iter().map(|event| event.id.place).collect())
    }

    fn count(store: &MemoryEventStore, session: SessionId) -> usize {
        places(store, session, EventId::new(1, 0)).map_or(0, |places| places.len())
    }

    fn open(store: &MemoryEventStore, caller: u8) -> SessionId {
        let session = SessionId::random().unwrap();
        store.open(session, &Caller::at([127, 0, 0, caller].into()));
        session
    }

    #[test]
    fn a_stream_is_replayed_alone() {
        let (store, session) = (MemoryEventStore::default(), SessionId::random().unwrap());
        for place in 1..4 {
            store.append(session, event(1, place, 1));
            store.append(session, event(2, place, 1));
        }
        assert_eq!(places(&store, session, EventId::new(2, 1)), Some(vec![2, 3]));
        assert_eq!(places(&store, session, EventId::new(1, 3)), Some(vec![]));
        assert_eq!(places(&store, session, EventId::new(3, 0)), None);
        assert_eq!(places(&store, SessionId::random().unwrap(), EventId::new(1, 0)), None);
        store.forget(session);
        assert_eq!(places(&store, session, EventId::new(1, 0)), None);
        let logs = store.logs.lock();
        assert_eq!((logs.size, logs.callers.len()), (0, 0));
    }

    #[test]
    fn the_oldest_are_forgotten_first() {
        let store = MemoryEventStore::new(2 * size(&event(1, 1, 100)), usize::MAX);
        let session = SessionId::random().unwrap();
        (1..=5).for_each(|place| store.append(session, event(1, place, 100)));
        assert_eq!(places(&store, session, EventId::new(1, 0)), Some(vec![4, 5]));
        store.append(session, event(1, 6, 10_000));
        assert_eq!(places(&store, session, EventId::new(1, 0)), None, "one that is too large is not kept");
    }

    #[test]
    fn all_sessions_share_one_limit_and_the_largest_gives_way() {
        let store = MemoryEventStore::new(usize::MAX, 300 * size(&event(1, 1, 100)));
        let (first, second) = (SessionId::random().unwrap(), SessionId::random().unwrap());
        (1..=100).for_each(|place| store.append(first, event(1, place, 100)));
        (1..=1000).for_each(|place| store.append(second, event(1, place, 100)));
        assert_eq!(count(&store, first), 100);
        assert!((170..=200).contains(&count(&store, second)), "{}", count(&store, second));
        assert!(store.logs.lock().size <= store.limit);
    }

    /// One caller fills the store from many sessions. The events of other callers stay.
    #[test]
    fn a_caller_that_fills_the_store_loses_its_own_events() {
        let store = MemoryEventStore::new(usize::MAX, 1000 * size(&event(1, 1, 100)));
        let hostile: Vec<_> = (0..50).map(|_| open(&store, 1)).collect();
        let polite = open(&store, 2);
        for place in 1..=200 {
            hostile.iter().for_each(|session| store.append(*session, event(1, place, 100)));
            if place <= 100 {
                store.append(polite, event(1, place, 100));
            }
        }
        assert_eq!(count(&store, polite), 100);
        let left: usize = hostile.iter().map(|session| count(&store, *session)).sum();
        assert!((750..900).contains(&left), "{left}");
        let late = open(&store, 3);
        store.append(late, event(1, 1, 100));
        hostile.iter().for_each(|session| store.append(*session, event(1, 1000, 100)));
        assert_eq!(count(&store, late), 1, "whoever comes late has a share too");
    }
}
