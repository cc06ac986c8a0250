//! The work of the writer of events.

use std::time::Duration;

use agentwire_store::{SessionId, StoreError};
use bytes::Bytes;

use crate::events::shares::Room;
use crate::events::waiting::Waiter;

/// The work of the writer.
#[derive(Debug)]
pub(crate) enum Message {
    Write(Write),
    /// Deletes a stream, of which not all events could be stored. With `ended` nothing more comes of it.
    Delete {
        session: SessionId,
        stream: u64,
        ended: bool,
    },
    /// Deletes the streams of a session.
    Forget(SessionId),
}

/// A change of a stream.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) session: SessionId,
    pub(crate) stream: u64,
    pub(crate) change: Change,
    /// The bytes that it counts in the queue.
    pub(crate) size: usize,
    /// Its room there.
    pub(crate) room: Room,
    pub(crate) waiter: Waiter,
}

impl Write {
    /// Answers its sender. Its room is free then.
    pub(crate) fn answer(self, result: Result<(), StoreError>) {
        drop(self.room);
        self.waiter.tell(result);
    }
}

/// A change of a stream.
#[derive(Debug)]
pub(crate) enum Change {
    /// It begins, and runs as in this JSON.
    Begin(Bytes),
    /// It has an event.
    Event { place: u64, data: Bytes },
    /// It has a last event.
    Last { place: u64, data: Bytes },
    /// It ends.
    End,
}

impl Change {
    /// Its data, in bytes.
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

/// How many streams are listed together. The group of a stream is its number divided by this.
pub(crate) const GROUP: u64 = 64;

/// How much is kept of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamLimits {
    pub(crate) time: Duration,
    pub(crate) events: usize,
    pub(crate) bytes: usize,
    pub(crate) session_bytes: usize,
    pub(crate) session_streams: usize,
}

impl StreamLimits {
    /// How many groups of streams of a session stay in the list of them. They may be full to an eighth: nodes take numbers in blocks, and
    /// leave some of them out.
    pub(crate) fn groups(&self) -> usize {
        self.session_streams / usize::try_from(GROUP / 8).unwrap_or(usize::MAX) + 2
    }
}

/// Milliseconds as the engine takes them: at least one, and at most 100 years.
pub(crate) fn millis(time: Duration) -> u64 {
    const LONGEST: u64 = 100 * 365 * 24 * 3_600_000;
    u64::try_from(time.as_millis()).unwrap_or(LONGEST).clamp(1, LONGEST)
}
