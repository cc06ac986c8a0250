//! The settings of a driver: the connection's limits, memory limits, shutdown timeouts and the observer.

use std::sync::Arc;
use std::time::Duration;

use agentwire_connection::Dialect;
use agentwire_wire_derive::Build;

use crate::event_loop::shutdown::Shutdown;
use crate::observe::Observer;

/// The configuration of a [`Driver`](crate::Driver).
#[derive(Clone, Debug, Build)]
#[non_exhaustive]
pub struct Config {
    /// The limits and the dialect of the connection.
    #[build(skip)]
    pub connection: agentwire_connection::Config,
    /// The total size of the params of requests whose handlers are at work, in bytes (default 32 MiB). A request that
    /// exceeds it is refused with an error that names the limit, unless it is the only one.
    pub request_bytes_limit: usize,
    /// How much memory the result of a call may take once decoded, in bytes (default: no limit). A call whose result would
    /// take more fails with an error that names the limit. The estimate of [`TreeCost`](agentwire_jsonrpc::TreeCost) is
    /// too high rather than too low, and does not count the text of strings. Results that a function of
    /// [`CallExt::decode_by`](crate::runtime::CallExt::decode_by) decodes are not checked.
    pub value_limit: usize,
    /// Sets how long handlers may go on after the peer has closed its side, or after the signal of
    /// [`shutdown`](Self::shutdown) (default 1 s).
    pub drain: Duration,
    /// How long the transport may take to close before it is dropped (default 10 s).
    pub close: Duration,
    /// How long a side of a proxy may accept no data while [`backlog_limit`](Self::backlog_limit) bytes are queued for
    /// it, before its connection fails (default 60 s). Without a proxy, a connection waits for its peer.
    pub stall: Duration,
    /// The signal at which [`Driver::serve`](crate::Driver::serve) ends the connection (default: none).
    #[build(skip)]
    pub shutdown: Option<Shutdown>,
    /// Sets the observer of the connection (default: none); see [`observe`](crate::observe).
    pub observer: Option<Arc<dyn Observer>>,
}

impl Config {
    /// Returns the defaults for a dialect.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            connection: agentwire_connection::Config::new(dialect),
            request_bytes_limit: 32 << 20,
            value_limit: usize::MAX,
            drain: Duration::from_secs(1),
            close: Duration::from_secs(10),
            stall: Duration::from_secs(60),
            shutdown: None,
            observer: None,
        }
    }

    /// Sets the signal at which each connection that is [served](crate::Driver::serve) with this configuration ends (default:
    /// none). From then on further requests get an error. The handlers at work have [`drain`](Self::drain) to end, and may
    /// still call the peer. Then the transport is closed. A signal that panics counts as never given.
    #[must_use]
    pub fn shutdown(mut self, signal: impl Future<Output = ()> + Send + 'static) -> Self {
        self.shutdown = Some(Shutdown::new(signal));
        self
    }

    /// Sets how many requests of the peer may be unanswered (default 1024).
    #[must_use]
    pub fn request_limit(mut self, requests: usize) -> Self {
        self.connection.request_limit = requests;
        self
    }

    /// Sets how many bytes may be queued before calls and notifications wait (default 64 KiB).
    #[must_use]
    pub fn high_water(mut self, bytes: usize) -> Self {
        self.connection.high_water = bytes;
        self
    }

    /// Sets how many bytes of responses may wait for the rest of their batches (default 16 MiB).
    #[must_use]
    pub fn batch_response_limit(mut self, bytes: usize) -> Self {
        self.connection.batch_response_limit = bytes;
        self
    }

    /// Sets how many bytes may be queued before handlers of requests are not polled, and before reading pauses while
    /// [`request_limit`](Self::request_limit) requests are unanswered (default 1 MiB).
    #[must_use]
    pub fn backlog_limit(mut self, bytes: usize) -> Self {
        self.connection.backlog_limit = bytes;
        self
    }
}
