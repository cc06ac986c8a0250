use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Mutex;

use bytes::Bytes;
use futures::future::{self, BoxFuture};

use crate::server::SessionId;
use crate::sse::decimal;

/// Remembers what was sent, so that a client which lost a stream can have the rest of it.
///
/// An endpoint gives it every event of every session in the order of sending, and asks it when a client comes
/// back. A store in another process lets that client come back to another machine.
pub trait EventStore: fmt::Debug + Send + Sync + 'static {
    /// Takes an event. Called while messages wait, so a store that does I/O only notes it here.
    fn append(&self, session: SessionId, event: Event);

    /// The events of one stream after the one named, in order. None if nothing is known of the stream; where
    /// the oldest have been forgotten, those that are left.
    fn replay(&self, session: SessionId, after: EventId) -> BoxFuture<'static, Option<Vec<Event>>>;

    /// Forgets a session, which has ended.
    fn forget(&self, session: SessionId);
}

/// What was sent, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Where it stands.
    pub id: EventId,
    /// The JSON text of the message, on one line.
    pub data: Bytes,
}

impl Event {
    /// An event.
    pub fn new(id: EventId, data: Bytes) -> Self {
        Self { id, data }
    }
}

/// Names an event within its session: the stream that it was sent on and its place there. On the wire
/// `stream-place`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct EventId {
    /// The number of the stream, counted from 1 within the session.
    pub stream: u64,
    /// The place on the stream. Messages are counted from 1; 0 is the event without data at its beginning.
    pub place: u64,
}

impl EventId {
    /// The name of an event.
    pub fn new(stream: u64, place: u64) -> Self {
        Self { stream, place }
    }

    /// Writes the form on the wire.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        decimal(self.stream, out);
        out.push(b'-');
        decimal(self.place, out);
    }

    /// Reads the form on the wire.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let number =
            |text: &str| text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        let (stream, place) = text.split_once('-')?;
        Some(Self { stream: number(stream)?, place: number(place)? })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.stream, self.place)
    }
}

/// Keeps the newest events in memory: of one session up to 4 MiB, of all together up to 64 MiB, unless it is told
/// otherwise.
#[derive(Debug)]
pub struct MemoryEventStore {
    session_limit: usize,
    limit: usize,
    logs: Mutex<Logs>,
}

#[derive(Debug, Default)]
struct Logs {
    sessions: BTreeMap<SessionId, Log>,
    size: usize,
}

/// The events of one session, oldest first.
#[derive(Debug, Default)]
struct Log {
    events: VecDeque<Event>,
    size: usize,
}

impl Log {
    /// Forgets the oldest event; says how much that gave back.
    fn shed(&mut self) -> usize {
        let size = self.events.pop_front().as_ref().map_or(0, size);
        self.size -= size;
        size
    }
}

impl MemoryEventStore {
    /// Keeps up to `session` bytes of each session and up to `all` bytes of all together. When there is more, the
    /// oldest events of the session that sends are forgotten.
    pub fn new(session: usize, all: usize) -> Self {
        Self { session_limit: session, limit: all, logs: Mutex::default() }
    }
}

impl Default for MemoryEventStore {
    fn default() -> Self {
        Self::new(4 << 20, 64 << 20)
    }
}

impl EventStore for MemoryEventStore {
    fn append(&self, session: SessionId, event: Event) {
        let mut logs = self.logs.lock().expect("no panic while it was held");
        let logs = &mut *logs;
        // Of a session that does no more than begin there is one event.
        let log = || Log { events: VecDeque::with_capacity(1), size: 0 };
        let log = logs.sessions.entry(session).or_insert_with(log);
        logs.size += size(&event);
        log.size += size(&event);
        log.events.push_back(event);
        while !log.events.is_empty() && (log.size > self.session_limit || logs.size > self.limit) {
            logs.size -= log.shed();
        }
    }

    fn replay(&self, session: SessionId, after: EventId) -> BoxFuture<'static, Option<Vec<Event>>> {
        let logs = self.logs.lock().expect("no panic while it was held");
        let of_stream = |event: &&Event| event.id.stream == after.stream;
        let found = logs.sessions.get(&session).and_then(|log| {
            let mut events = log.events.iter().filter(of_stream).peekable();
            events.peek()?;
            Some(events.filter(|event| event.id.place > after.place).cloned().collect())
        });
        Box::pin(future::ready(found))
    }

    fn forget(&self, session: SessionId) {
        let mut logs = self.logs.lock().expect("no panic while it was held");
        if let Some(log) = logs.sessions.remove(&session) {
            logs.size -= log.size;
        }
        if logs.sessions.is_empty() {
            // An empty tree still has the last of its nodes, which lies somewhere among those that a crowd left.
            logs.sessions = BTreeMap::new();
        }
    }
}

/// What an event costs to keep.
fn size(event: &Event) -> usize {
    event.data.len() + size_of::<Event>()
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
        assert_eq!(store.logs.lock().unwrap().size, 0);
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
    fn all_sessions_share_one_limit() {
        let store = MemoryEventStore::new(usize::MAX, 3 * size(&event(1, 1, 100)));
        let (first, second) = (SessionId::random().unwrap(), SessionId::random().unwrap());
        (1..=2).for_each(|place| store.append(first, event(1, place, 100)));
        (1..=3).for_each(|place| store.append(second, event(1, place, 100)));
        assert_eq!(places(&store, first, EventId::new(1, 0)), Some(vec![1, 2]));
        assert_eq!(places(&store, second, EventId::new(1, 0)), Some(vec![3]));
    }

    #[test]
    fn the_form_on_the_wire() {
        assert_eq!(EventId::parse("12-0"), Some(EventId::new(12, 0)));
        assert_eq!(EventId::new(12, 7).to_string(), "12-7");
        for text in ["", "-", "1", "1-", "+1-2", "1-2-3", "99999999999999999999-1"] {
            assert_eq!(EventId::parse(text), None, "{text}");
        }
    }
}
