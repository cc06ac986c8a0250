//! The limits of a connection: unanswered requests, queued bytes, and bytes of responses that wait in batches.

use agentwire_wire_derive::Build;

use crate::{Dialect, ResponsePolicy};

/// The configuration of a [`Connection`](crate::Connection).
#[derive(Clone, Debug, Build)]
#[build(new = "Returns the defaults for a dialect.")]
#[non_exhaustive]
pub struct Config {
    /// The protocol's methods for cancellation and progress, and whether it allows batches and null ids.
    #[build(required)]
    pub dialect: Dialect,
    /// The messages of the peer that get a response (default [`ResponsePolicy::All`]), until
    /// [`set_responses`](crate::Connection::set_responses) changes it.
    #[build(default = ResponsePolicy::All)]
    pub responses: ResponsePolicy,
    /// How many requests of the peer may be unanswered (default 1024). One more is refused with an error that names the
    /// limit. A request whose response waits in a batch counts as unanswered.
    #[build(default = 1024)]
    pub request_limit: usize,
    /// How many bytes may be queued before calls and notifications should wait (default 64 KiB). It should be lower than
    /// `backlog_limit`.
    #[build(default = 64 << 10)]
    pub high_water: usize,
    /// How many bytes may be queued before [handlers pause](crate::Connection::may_run_handlers) (default 1 MiB). Reading pauses only
    /// if `request_limit` requests are unanswered too. Otherwise it goes on, and requests over `request_limit` are refused, because
    /// two peers that both stop reading at one limit would deadlock.
    #[build(default = 1 << 20)]
    pub backlog_limit: usize,
    /// How many bytes of responses may wait for the rest of their batches (default 16 MiB). A response that exceeds it
    /// becomes an error that names the limit. It cannot wait for room, because the other responses of its batch wait for it.
    #[build(default = 16 << 20)]
    pub batch_response_limit: usize,
}
