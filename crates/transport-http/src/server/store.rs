use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::server::{Caller, SessionId};
use crate::sse::decimal;

/// Remembers what was sent, so that a client which lost a stream can have the rest of it.
///
/// An endpoint gives it every event of every session in the order of sending, and asks it when a client comes
/// back. A store in another process lets that client come back to another machine.
pub trait EventStore: fmt::Debug + Send + Sync + 'static {
    /// Learns who opened a session, before its first event. A store that has not room for all events can share it out
    /// among the callers by this. Does nothing by default.
    fn open(&self, session: SessionId, caller: &Caller) {
        let _ = (session, caller);
    }

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

/// A store whose panics end nothing else: they would leave locks of the endpoint poisoned, and all of its clients with
/// them.
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

/// What a function returns. None where it panics, of which the panic hook has told already.
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
