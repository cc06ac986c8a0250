//! The messages to the writer of events, and the limits of streams.

use std::time::Duration;

use agentwire_store::{SessionId, StoreError};
use bytes::Bytes;

use crate::events::shares::Room;
use crate::events::waiting::Waiter;

/// A message to the writer.
#[derive(Debug)]
pub(crate) enum Message {
    Write(Write),
    /// Deletes a stream that has lost an event. With `ended` it gets no further events.
    Delete {
        session: SessionId,
        stream: u64,
        ended: bool,
    },
    /// Deletes the streams of a session.
    Forget(SessionId),
}

/// A change of a stream, with its place in the queue and its caller.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) session: SessionId,
    pub(crate) stream: u64,
    pub(crate) change: Change,
    /// The bytes that it counts in the queue.
    pub(crate) size: usize,
    /// Its share of the queue.
    pub(crate) room: Room,
    pub(crate) waiter: Waiter,
}

impl Write {
    /// Frees the write's room, and gives its caller the result.
    pub(crate) fn finish(self, result: Result<(), StoreError>) {
        drop(self.room);
        self.waiter.complete(result);
    }
}

/// A change of a stream.
#[derive(Debug)]
pub(crate) enum Change {
    /// The stream begins, with this `StreamRun` as JSON.
    Begin(Bytes),
    /// An event is added.
    Event { place: u64, data: Bytes },
    /// An event is added, which ends the stream.
    Last { place: u64, data: Bytes },
    /// The stream ends without an event.
    End,
}

impl Change {
    /// The size of its data, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Begin(data) | Self::Event { data, .. } | Self::Last { data, .. } => data.len(),
            Self::End => 0,
        }
    }

    /// Returns whether it ends the stream.
    pub(crate) fn is_last(&self) -> bool {
        matches!(self, Self::Last { .. } | Self::End)
    }
}

/// The number of streams in a group of the list. The group of a stream is its number divided by this.
pub(crate) const GROUP: u64 = 64;

/// The limits of the events that are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamLimits {
    pub(crate) time: Duration,
    pub(crate) events: usize,
    pub(crate) bytes: usize,
    pub(crate) session_bytes: usize,
    pub(crate) session_streams: usize,
}

impl StreamLimits {
    /// The maximum number of groups in the list of a session's streams. It assumes that an eighth of each group is used: nodes take
    /// stream numbers in blocks, and do not use all of them.
    pub(crate) fn groups(&self) -> usize {
        self.session_streams / usize::try_from(GROUP / 8).unwrap_or(usize::MAX) + 2
    }
}

/// A duration in milliseconds, as the engine accepts it: at least 1, and at most 100 years.
pub(crate) fn millis(time: Duration) -> u64 {
    const LONGEST: u64 = 100 * 365 * 24 * 3_600_000;
    u64::try_from(time.as_millis()).unwrap_or(LONGEST).clamp(1, LONGEST)
}
