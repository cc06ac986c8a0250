use std::time::Duration;

use agentwire_connection::Dialect;

/// What a [`Driver`](crate::Driver) is told at the start.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Limits and dialect of the exchange itself.
    pub connection: agentwire_connection::Config,
    /// How many bytes the params of the peer's requests may have that are being worked on (default 32 MiB). A request
    /// that would make it more is refused with an error that names the limit, unless it is the only one.
    pub request_bytes_limit: usize,
    /// How much memory the result of a call may take once decoded, in bytes, by the estimate of
    /// [`TreeCost`](agentwire_jsonrpc::TreeCost): rather too high, and without the text of strings. A call whose result would
    /// take more fails with an error that names the limit (default: no limit). Whoever reads results in a way of its own
    /// ([`Call::decode_by`](crate::Call::decode_by)) sees to that itself.
    pub value_limit: usize,
    /// After the peer has closed its side: how long requests that are being worked on may take to end and
    /// answers to leave (default 1 s).
    pub drain: Duration,
    /// How long the transport may take to close before it is dropped (default 10 s).
    pub close: Duration,
}

impl Config {
    /// The defaults for a dialect.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            connection: agentwire_connection::Config::new(dialect),
            request_bytes_limit: 32 << 20,
            value_limit: usize::MAX,
            drain: Duration::from_secs(1),
            close: Duration::from_secs(10),
        }
    }

    /// Sets how long work may go on after the peer has closed its side.
    #[must_use]
    pub fn drain(mut self, time: Duration) -> Self {
        self.drain = time;
        self
    }

    /// Sets how long the transport may take to close.
    #[must_use]
    pub fn close(mut self, time: Duration) -> Self {
        self.close = time;
        self
    }

    /// Sets how many requests of the peer's may wait for their answer (default 1024).
    #[must_use]
    pub fn request_limit(mut self, requests: usize) -> Self {
        self.connection.request_limit = requests;
        self
    }

    /// Sets how many bytes the params of the peer's requests may have that are being worked on (default 32 MiB).
    #[must_use]
    pub fn request_bytes_limit(mut self, bytes: usize) -> Self {
        self.request_bytes_limit = bytes;
        self
    }

    /// Sets how much memory a result may take once decoded, in bytes (default: no limit).
    #[must_use]
    pub fn value_limit(mut self, bytes: usize) -> Self {
        self.value_limit = bytes;
        self
    }

    /// Sets how many bytes may wait to be sent (default 64 KiB).
    #[must_use]
    pub fn high_water(mut self, bytes: usize) -> Self {
        self.connection.high_water = bytes;
        self
    }

    /// Sets how many bytes may wait to be sent before the handlers of requests wait too, and before nothing more is
    /// read while as many requests as may be wait for their answer (default 1 MiB).
    #[must_use]
    pub fn backlog_limit(mut self, bytes: usize) -> Self {
        self.connection.backlog_limit = bytes;
        self
    }
}
