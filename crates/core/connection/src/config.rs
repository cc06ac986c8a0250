//! The limits of a connection: unanswered requests, queued bytes, and bytes of answers that wait in batches.

use agentwire_wire_derive::Build;

use crate::{Dialect, Responses};

/// The configuration of a [`Connection`](crate::Connection).
#[derive(Clone, Debug, Build)]
#[build(new = "Returns the defaults for a dialect.")]
#[non_exhaustive]
pub struct Config {
    /// The protocol's methods for cancellation and progress, and whether it allows batches and null ids.
    #[build(required)]
    pub dialect: Dialect,
    /// The messages of the peer that get a response (default [`Responses::All`]), until
    /// [`set_responses`](crate::Connection::set_responses) changes it.
    #[build(default = Responses::All)]
    pub responses: Responses,
    /// How many requests of the peer's may be unanswered (default 1024). One more is refused with an error that names the
    /// limit. An answer that waits in a batch for the others still counts.
    #[build(default = 1024)]
    pub request_limit: usize,
    /// How many bytes may be queued before calls and notifications should wait (default 64 KiB).
    #[build(default = 64 << 10)]
    pub high_water: usize,
    /// How many bytes may be queued before no more answers are [taken](crate::Connection::may_run_handlers), and before reading
    /// pauses while `request_limit` requests are unanswered (default 1 MiB). Below it, requests over the limit are
    /// refused: two peers that are both at their limits and have both stopped reading would deadlock.
    #[build(default = 1 << 20)]
    pub backlog_limit: usize,
    /// How many bytes of answers may wait in batches for the others of their batch (default 16 MiB). An answer that exceeds
    /// it becomes an error that names the limit: it cannot wait for room, because the others wait for it.
    #[build(default = 16 << 20)]
    pub batch_answers_limit: usize,
}
