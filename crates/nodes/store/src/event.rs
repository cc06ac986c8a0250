//! The trait of a store for the events of resumable streams. MCP over HTTP and ACP over HTTP number events in the same way.

use std::fmt;

use agentwire_jsonrpc::RequestId;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::{NodeId, SessionId, StoreError};

/// Stores the events of sessions, so that a client that lost a stream can resume it at any node.
///
/// # Requirements on an implementation
///
/// - [`begin`](Self::begin), [`append`](Self::append) and [`end`](Self::end) are called under a lock, in the order of sending.
///   They only queue. The operation completes even if the [`Durable`] is dropped.
/// - The operations on a stream take effect in their order.
/// - An event is stored only if its place is higher than every stored place of its stream. Otherwise it is refused with
///   [`StoreError::TakenOver`].
/// - After a last event, [`end`](Self::end) or [`take_over`](Self::take_over), no further event of that stream is replayed, and
///   one that is appended is refused with [`StoreError::TakenOver`]. This holds for as long as the store remembers the stream.
/// - A replay has every event that was appended before at the same node, unless the store has refused or forgotten it. Its events
///   are durable unless their append has failed. While the store cannot tell, the replay fails with [`StoreError::Away`].
/// - A store may forget the oldest events of a session at any time. It bounds the events of each session, and their age or
///   those of all sessions.
pub trait EventStore: fmt::Debug + Send + Sync + 'static {
    /// Called before the first event of a session at this node. `owner` names the caller whose share of the room the session
    /// uses; a store can divide its room among owners. Does nothing by default.
    fn open(&self, session: SessionId, owner: Option<&str>) {
        let _ = (session, owner);
    }

    /// Stores that a stream runs, before its first event. Not called for a stream whose first event is its last. The call is not
    /// repeated: a store that cannot do it yet does it before it takes the first event, or refuses all events of the stream.
    fn begin(&self, session: SessionId, stream: u64, runs: StreamRun) -> Durable;

    /// Stores an event. With `is_last` the stream ends with it. The event and the end become durable together, so a node that
    /// dies in between cannot leave a stream that has its result and seems to run.
    fn append(&self, session: SessionId, event: Event, is_last: bool) -> Durable;

    /// Stores that a stream has ended without a last event in [`append`](Self::append). A stream without stored data stays
    /// unknown.
    fn end(&self, session: SessionId, stream: u64) -> Durable;

    /// Returns the events of one stream after the given place, in order. If the oldest have been forgotten, returns the rest.
    /// Returns events of up to `limit` bytes of data together, and one more.
    fn replay(
        &self,
        session: SessionId,
        after: EventId,
        limit: usize,
    ) -> BoxFuture<'static, Result<Replay, StoreError>>;

    /// Ends a stream whose node has died, with `last` as its last event. The place of that event is [`TAKE_OVER_GAP`] above the
    /// place of the last stored event. So a client that has received events which are not stored still resumes before it. Returns
    /// whether this call has ended the stream: false if the stream has ended already or is unknown. Of several calls at once, one
    /// returns true.
    ///
    /// The former node of the stream, should it live, can append nothing more.
    fn take_over(
        &self,
        session: SessionId,
        stream: u64,
        last: Option<Bytes>,
    ) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Forgets the events of a session that has ended.
    fn forget(&self, session: SessionId);
}

/// The difference between the place of the last stored event of a stream and that of the last event of [`EventStore::take_over`].
/// No node sends as many events that are not stored yet.
pub const TAKE_OVER_GAP: u64 = 1 << 32;

/// The durability of an operation: reached already, or reached when a future completes.
#[expect(clippy::exhaustive_enums, reason = "an operation is durable already, or it is waited for")]
#[must_use = "a result is written to the socket once it is durable"]
pub enum Durable {
    /// The operation is durable.
    Now,
    /// The operation is durable when this future completes. Dropping the future takes nothing back.
    Later(BoxFuture<'static, Result<(), StoreError>>),
}

impl Durable {
    /// A failed operation.
    pub fn failed(error: StoreError) -> Self {
        Self::Later(Box::pin(std::future::ready(Err(error))))
    }

    /// Waits until the operation is durable.
    ///
    /// # Errors
    ///
    /// When it is not durable, or was refused.
    pub async fn wait(self) -> Result<(), StoreError> {
        match self {
            Self::Now => Ok(()),
            Self::Later(durable) => durable.await,
        }
    }
}

impl fmt::Debug for Durable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Now) { "Now" } else { "Later" })
    }
}

/// The node that runs a stream, and the requests that the stream must answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StreamRun {
    /// The node that runs it.
    pub node: NodeId,
    /// The requests that the stream answers; empty for the stream of a GET. A node that takes the stream over sends an error for
    /// each of them that no stored event answers.
    pub requests: Vec<RequestId>,
}

impl StreamRun {
    /// A stream that `node` runs, and that answers `requests`.
    pub fn new(node: NodeId, requests: Vec<RequestId>) -> Self {
        Self { node, requests }
    }
}

/// The stored part of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// The events.
    pub events: Vec<Event>,
    /// The state of the stream after the last of them.
    pub rest: Rest,
}

impl Replay {
    /// Replayed events, and the state of the stream after them.
    pub fn new(events: Vec<Event>, rest: Rest) -> Self {
        Self { events, rest }
    }
}

/// The state of a stream after the replayed events.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rest {
    /// The store does not know the stream.
    Unknown,
    /// The store has more events, for which the limit left no room.
    More,
    /// The stream runs, so more events may come. The value is that of [`EventStore::begin`], or `None` if that is forgotten.
    Running(Option<StreamRun>),
    /// The stream has ended.
    Ended,
}

/// A message that was sent, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Its stream and place.
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
    /// The number of the stream, counted from 1 within the session. Nodes take numbers in blocks, so there are gaps.
    pub stream: u64,
    /// The place on the stream. Messages are counted from 1. The event without data at the beginning has place 0 and is not
    /// stored. An event that the store refuses leaves a gap.
    pub place: u64,
}

impl EventId {
    /// The id of an event.
    pub fn new(stream: u64, place: u64) -> Self {
        Self { stream, place }
    }

    /// Reads the form on the wire, which has one spelling.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| {
            let number = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))?;
            (text.len() == 1 || !text.starts_with('0')).then_some(number)
        };
        let (stream, place) = text.split_once('-')?;
        Some(Self { stream: number(stream)?, place: number(place)? })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.stream, self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_on_the_wire() {
        assert_eq!(EventId::parse("12-0"), Some(EventId::new(12, 0)));
        assert_eq!(EventId::new(12, 7).to_string(), "12-7");
        for text in ["", "-", "1", "1-", "+1-2", "01-2", "1-2-3", "99999999999999999999-1"] {
            assert_eq!(EventId::parse(text), None, "{text}");
        }
    }
}
