//! The trait of stores that replay SSE events to clients with `Last-Event-ID`. A wrapper catches the panics of a store.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::server::{Caller, SessionId};
use crate::sse::decimal;

/// Remembers the events of sessions, so that a client that lost a stream can resume it.
///
/// An endpoint appends every event of every session in the order of sending, and replays them when a client resumes a
/// stream. With a store in another process, a client can resume at another machine.
pub trait EventStore: fmt::Debug + Send + Sync + 'static {
    /// Called with the caller that opens a session, before its first event. A store can divide its room among callers by
    /// this. Does nothing by default.
    fn open(&self, session: SessionId, caller: &Caller) {
        let _ = (session, caller);
    }

    /// Takes an event. Called under a lock while messages wait, so a store that does I/O only queues it here.
    fn append(&self, session: SessionId, event: Event);

    /// The events of one stream after the given one, in order; where the oldest have been forgotten, those that are left.
    /// None for an unknown stream.
    fn replay(&self, session: SessionId, after: EventId) -> BoxFuture<'static, Option<Vec<Event>>>;

    /// Forgets the events of a session that has ended.
    fn forget(&self, session: SessionId);
}

/// A message that was sent, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Its place.
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

/// The id of an event within its session: its stream and its place there. On the wire `stream-place`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct EventId {
    /// The number of the stream, counted from 1 within the session.
    pub stream: u64,
    /// The place on the stream. Messages are counted from 1; 0 is the event without data at its beginning.
    pub place: u64,
}

impl EventId {
    /// The id of an event.
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

/// A store whose panics are caught: they would unwind through the endpoint and end sessions of other clients.
#[derive(Clone, Debug)]
pub(crate) struct GuardedStore(Arc<dyn EventStore>);

impl GuardedStore {
    pub(crate) fn new(store: Arc<dyn EventStore>) -> Self {
        Self(store)
    }

    pub(crate) fn open(&self, session: SessionId, caller: &Caller) {
        guard(|| self.0.open(session, caller));
    }

    pub(crate) fn append(&self, session: SessionId, event: Event) {
        guard(|| self.0.append(session, event));
    }

    pub(crate) fn replay(
        &self,
        session: SessionId,
        after: EventId,
    ) -> BoxFuture<'static, Option<Vec<Event>>> {
        match guard(|| self.0.replay(session, after)) {
            Some(events) => {
                AssertUnwindSafe(events).catch_unwind().map(|events| events.ok().flatten()).boxed()
            }
            None => std::future::ready(None).boxed(),
        }
    }

    pub(crate) fn forget(&self, session: SessionId) {
        guard(|| self.0.forget(session));
    }
}

/// The result of a function. None where it panics, which the panic hook has reported.
fn guard<T>(call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_on_the_wire() {
        assert_eq!(EventId::parse("12-0"), Some(EventId::new(12, 0)));
        assert_eq!(EventId::new(12, 7).to_string(), "12-7");
        for text in ["", "-", "1", "1-", "+1-2", "1-2-3", "99999999999999999999-1"] {
            assert_eq!(EventId::parse(text), None, "{text}");
        }
    }
}
