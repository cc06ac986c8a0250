//! The events of resumable streams. MCP over HTTP and ACP over HTTP number them alike.

use std::fmt;

use bytes::Bytes;
use futures_core::future::BoxFuture;

use crate::{SessionId, StoreError};

/// Remembers the events of sessions, so that a client that lost a stream can resume it, at this node or at another.
///
/// # Requirements on an implementation
///
/// - [`append`](Self::append) is called under a lock, in the order of sending. It only queues; what it starts goes on also where
///   nobody polls what it returns. The events of a stream become durable in their order.
/// - Two events with the same id are never both kept. The second is refused with [`StoreError::TakenOver`].
/// - After [`end`](Self::end) or [`take_over`](Self::take_over), no event of that stream is kept.
pub trait EventStore: fmt::Debug + Send + Sync + 'static {
    /// Called before the first event of a session. `owner` is the name of who pays for its room: a store can divide its room
    /// among owners by this. Does nothing by default.
    fn open(&self, session: SessionId, owner: Option<&str>) {
        let _ = (session, owner);
    }

    /// Takes an event.
    fn append(&self, session: SessionId, event: Event) -> Durable;

    /// Notes that a stream has no more events.
    fn end(&self, session: SessionId, stream: u64) -> Durable;

    /// The events of one stream after the given one, in order; where the oldest have been forgotten, those that are left. At most
    /// `limit` bytes of data, and one event more.
    fn replay(
        &self,
        session: SessionId,
        after: EventId,
        limit: usize,
    ) -> BoxFuture<'static, Result<Replay, StoreError>>;

    /// Ends a stream whose node has died, with a last event behind all that are kept. Its node, should it live, can append nothing
    /// more. Returns the place of that event, or none where the stream had ended already.
    fn take_over(
        &self,
        session: SessionId,
        stream: u64,
        last: Bytes,
    ) -> BoxFuture<'static, Result<Option<u64>, StoreError>>;

    /// Forgets the events of a session that has ended.
    fn forget(&self, session: SessionId);
}

/// When an event is as durable as the store makes events.
pub enum Durable {
    /// It is now.
    Now,
    /// It is when this completes. Dropping this takes nothing back.
    Later(BoxFuture<'static, Result<(), StoreError>>),
}

impl fmt::Debug for Durable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Now) { "Now" } else { "Later" })
    }
}

/// What a store has of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The events.
    pub events: Vec<Event>,
    /// How the stream stands behind the last of them.
    pub status: StreamStatus,
}

/// How a stream stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamStatus {
    /// The store does not know it.
    Unknown,
    /// It has more events, for which the limit left no room.
    Longer,
    /// It runs at a node: more events may come.
    Running,
    /// It has ended.
    Ended,
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
    /// The number of the stream, counted from 1 within the session. Nodes take numbers in blocks, so there are gaps.
    pub stream: u64,
    /// The place on the stream. Messages are counted from 1; 0 is the event without data at its beginning, which is not stored.
    pub place: u64,
}

impl EventId {
    /// The id of an event.
    pub fn new(stream: u64, place: u64) -> Self {
        Self { stream, place }
    }
}
