//! The time and size limits that the Streamable HTTP and the HTTP+SSE clients share, with their defaults.

use std::time::Duration;

use agentwire_jsonrpc::{DEFAULT_BATCH_LIMIT, DEFAULT_LINE_LIMIT};

use crate::client::Wait;

/// The limits that every client of MCP over HTTP has. Each field is the setting of [`Config`](crate::client::Config) of the
/// same name.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// [`Config::connect_timeout`](crate::client::Config::connect_timeout).
    pub connect_timeout: Duration,
    /// [`Config::first_byte_timeout`](crate::client::Config::first_byte_timeout).
    pub first_byte_timeout: Duration,
    /// [`Config::acceptance_timeout`](crate::client::Config::acceptance_timeout).
    pub acceptance_timeout: Duration,
    /// [`Config::close_timeout`](crate::client::Config::close_timeout).
    pub close_timeout: Duration,
    /// [`Config::message_limit`](crate::client::Config::message_limit), in bytes.
    pub message_limit: usize,
    /// [`Config::batch_limit`](crate::client::Config::batch_limit), in messages.
    pub batch_limit: usize,
}

impl Limits {
    /// The defaults, which the setters of [`Config`](crate::client::Config) state.
    pub(crate) fn new() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(300),
            acceptance_timeout: Duration::from_secs(30),
            close_timeout: Duration::from_secs(5),
            message_limit: DEFAULT_LINE_LIMIT,
            batch_limit: DEFAULT_BATCH_LIMIT,
        }
    }

    /// The limit of a line of an event stream: that of a message, and the name of the line's field.
    pub fn line_limit(&self) -> usize {
        self.message_limit.saturating_add("data: ".len())
    }

    /// How long a request may take until its response begins.
    pub fn response_timeout(&self, wait: Wait) -> Duration {
        match wait {
            Wait::FirstByte => self.first_byte_timeout,
            _ => self.acceptance_timeout,
        }
    }
}
