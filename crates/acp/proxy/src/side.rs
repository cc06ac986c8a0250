//! One side of a relay: its port, its limits and its closing.

use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use agentwire_peer::runtime::{IncomingId, Input, Port};
use agentwire_transport::{Transport, TransportError};

use crate::deadline::after;

/// If a side accepts no frames for this long, the other side is read up to the backlog limit, not only to `high_water`.
const READ_ON: Duration = Duration::from_secs(5);

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "there are two ways")]
pub enum Direction {
    /// From the client to the agent.
    ToAgent,
    /// From the agent to the client.
    ToClient,
}

/// One of the two sides of a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Client,
    Agent,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Client, Self::Agent];

    pub(crate) fn other(self) -> Self {
        match self {
            Self::Client => Self::Agent,
            Self::Agent => Self::Client,
        }
    }

    /// Returns the direction of messages from this side.
    pub(crate) fn outbound(self) -> Direction {
        match self {
            Self::Client => Direction::ToAgent,
            Self::Agent => Direction::ToClient,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Agent => "agent",
        }
    }
}

/// A request that passes a relay: the side that it came from, and its id in that side's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RequestKey {
    pub(crate) from: Side,
    pub(crate) incoming: IncomingId,
}

/// The port to one side of a relay, with the state of its closing.
#[derive(Debug)]
pub(crate) struct RelaySide<T> {
    pub(crate) port: Port<T>,
    pub(crate) sink: SinkState,
    /// Set when writing has failed: the deadline for reading to report the cause, and the error of the write.
    pub(crate) failed: Option<(Instant, Option<TransportError>)>,
    error: Option<TransportError>,
    /// Set when this side has ended: the deadline after which the other side is closed.
    pub(crate) other_closes_by: Option<Instant>,
    /// Set when closing began: the deadline until which this side is read before its sink is closed.
    pub(crate) read_until: Option<Instant>,
    /// Set when closing began: the deadline after which this side counts as closed.
    pub(crate) closes_by: Option<Instant>,
    /// The number of frames taken at the last check, and since when queued frames are not taken.
    taken: (u64, Option<Instant>),
    /// Whether it was read since it was last asked to close: a transport may drop unread packets.
    was_read: bool,
}

/// The state of a sink's closing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SinkState {
    Open,
    Closing,
    Closed,
}

impl<T: Transport> RelaySide<T> {
    pub(crate) fn new(port: Port<T>) -> Self {
        Self {
            port,
            sink: SinkState::Open,
            failed: None,
            error: None,
            other_closes_by: None,
            read_until: None,
            closes_by: None,
            taken: (0, None),
            was_read: false,
        }
    }

    /// Reads a packet, if the gate is open.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, gate: bool) -> Poll<Input> {
        let input = self.port.poll_read(cx, gate);
        self.was_read |= !self.port.is_paused();
        input
    }

    /// Checks whether queued frames are taken. Called after each round of writing.
    pub(crate) fn note_taken(&mut self, now: Instant) {
        let (sent, waits) = (self.port.sent(), self.port.wants_output());
        let since = self.taken.1.filter(|_| waits && sent == self.taken.0);
        self.taken = (sent, since.or(waits.then_some(now)));
    }

    /// Returns the moment at which it will have taken nothing for this time, or `None` if nothing is queued for it.
    pub(crate) fn stuck_deadline(&self, time: Duration) -> Option<Instant> {
        self.taken.1.map(|since| after(since, time))
    }

    /// Returns whether a message can be queued for it, so that the other side is read. If it takes nothing, the limit is
    /// the backlog's, so that the end of the other side is noticed.
    pub(crate) fn has_room(&self, now: Instant) -> bool {
        let is_stuck = || self.stuck_deadline(READ_ON).is_some_and(|at| at <= now);
        self.port.has_room() || is_stuck() && self.port.has_backlog_room()
    }

    /// Closes the sink. Returns whether that is complete, or its time has passed.
    pub(crate) fn poll_close(&mut self, cx: &mut Context<'_>, is_read: bool, is_late: bool) -> bool {
        // The packets of the transport are read first.
        let is_unread = self.port.is_paused() || !std::mem::take(&mut self.was_read);
        if !is_read && self.port.is_reading() && is_unread {
            return false;
        }
        self.port.poll_close(cx).is_ready() || is_late
    }

    /// Keeps the first error.
    pub(crate) fn report(&mut self, error: Option<TransportError>) {
        if self.error.is_none() {
            self.error = error;
        }
    }

    pub(crate) fn take_fault(&mut self) -> Option<TransportError> {
        self.error.take()
    }

    /// Returns the deadlines of its closing and of its stalling.
    pub(crate) fn deadlines(&self) -> impl Iterator<Item = Instant> {
        let failed = self.failed.as_ref().map(|(until, _)| *until);
        let stuck = [READ_ON, self.port.config().stall].map(|time| self.stuck_deadline(time));
        [self.other_closes_by, self.read_until, self.closes_by, failed].into_iter().chain(stuck).flatten()
    }
}
