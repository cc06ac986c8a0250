//! The limits of a connection: unanswered requests, queued bytes, and bytes of answers that wait in batches.

use crate::{Dialect, Responses};

/// The configuration of a [`Connection`](crate::Connection).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The protocol's methods for cancellation and progress, and whether it allows batches and null ids.
    pub dialect: Dialect,
    /// Which messages of the peer's get a response (default [`Responses::All`]), until
    /// [`set_responses`](crate::Connection::set_responses) says otherwise.
    pub responses: Responses,
    /// How many requests of the peer's may be unanswered (default 1024). One more is refused with an error that names the
    /// limit. An answer that waits in a batch for the others still counts.
    pub request_limit: usize,
    /// How many bytes may be queued before calls and notifications should wait (default 64 KiB).
    pub high_water: usize,
    /// How many bytes may be queued before no more answers are [taken](crate::Connection::takes_answers), and before reading
    /// pauses while `request_limit` requests are unanswered (default 1 MiB). Below it, requests over the limit are
    /// refused: two peers that are both at their limits and have both stopped reading would deadlock.
    pub backlog_limit: usize,
    /// How many bytes of answers may wait in batches for the others of their batch (default 16 MiB). An answer that exceeds
    /// it becomes an error that names the limit: it cannot wait for room, because the others wait for it.
    pub batch_answers_limit: usize,
}

impl Config {
    /// Returns the defaults for a dialect.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            responses: Responses::All,
            request_limit: 1024,
            high_water: 64 << 10,
            backlog_limit: 1 << 20,
            batch_answers_limit: 16 << 20,
        }
    }

    /// Sets which messages of the peer's get a response.
    #[must_use]
    pub fn responses(mut self, responses: Responses) -> Self {
        self.responses = responses;
        self
    }

    /// Sets how many requests of the peer's may be unanswered.
    #[must_use]
    pub fn request_limit(mut self, requests: usize) -> Self {
        self.request_limit = requests;
        self
    }

    /// Sets how many bytes may be queued before calls and notifications should wait.
    #[must_use]
    pub fn high_water(mut self, bytes: usize) -> Self {
        self.high_water = bytes;
        self
    }

    /// Sets how many bytes may be queued before no more answers are taken and reading may pause.
    #[must_use]
    pub fn backlog_limit(mut self, bytes: usize) -> Self {
        self.backlog_limit = bytes;
        self
    }

    /// Sets how many bytes of answers may wait in batches.
    #[must_use]
    pub fn batch_answers_limit(mut self, bytes: usize) -> Self {
        self.batch_answers_limit = bytes;
        self
    }
}
