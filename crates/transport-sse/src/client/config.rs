use std::time::Duration;

use agentwire_jsonrpc::{DEFAULT_BATCH_LIMIT, DEFAULT_LINE_LIMIT};
use agentwire_transport_http::client::{self, HttpClient};
use http::{HeaderName, HeaderValue};

use crate::client::Sse;
#[cfg(feature = "reqwest")]
use crate::client::SseError;

/// Where a server is, and how to speak to it.
///
/// Every limit has a default that fits most servers.
#[derive(Clone, Debug)]
#[must_use]
pub struct Config {
    /// Where it is, and what goes with every request.
    pub(crate) server: client::Config,
    #[cfg_attr(not(feature = "reqwest"), allow(dead_code, reason = "only that client is made here"))]
    pub(crate) connect_timeout: Duration,
    pub(crate) endpoint_timeout: Duration,
    pub(crate) first_byte_timeout: Duration,
    pub(crate) acceptance_timeout: Duration,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) close_timeout: Duration,
    pub(crate) message_limit: usize,
    pub(crate) batch_limit: usize,
}

/// The text is no URL that a server can have: `http` or `https`, with a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{url}` is no URL of an MCP server: `https://host/sse` or `http://host:port/sse`")]
#[non_exhaustive]
pub struct InvalidUrl {
    /// The text.
    pub url: String,
}

impl Config {
    /// The defaults for a server whose stream is at `url`. A user and a password in it become the header
    /// `Authorization`, unless [`header`](Self::header) sets that.
    ///
    /// # Errors
    ///
    /// When that is no absolute URL of the scheme `http` or `https`.
    pub fn new(url: &str) -> Result<Self, InvalidUrl> {
        let server = client::Config::new(url).map_err(|_| InvalidUrl { url: url.to_owned() })?;
        Ok(Self {
            server,
            connect_timeout: Duration::from_secs(10),
            endpoint_timeout: Duration::from_secs(30),
            first_byte_timeout: Duration::from_secs(300),
            acceptance_timeout: Duration::from_secs(30),
            idle_timeout: None,
            close_timeout: Duration::from_secs(5),
            message_limit: DEFAULT_LINE_LIMIT,
            batch_limit: DEFAULT_BATCH_LIMIT,
        })
    }

    /// Adds a header to every request, GET and POST, and to no request to another origin. Those that the transport
    /// sets itself win. Its value may be a secret, and is not shown by `Debug`.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.server = self.server.header(name, value);
        self
    }

    /// Sets how long a connection may take to be made (default 10 s). A client of your own sees to that itself.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets how long it may take, from the first poll, until the server has said where to send messages (default
    /// 30 s).
    pub fn endpoint_timeout(mut self, timeout: Duration) -> Self {
        self.endpoint_timeout = timeout;
        self
    }

    /// Sets how long a server may take to accept a request (default 5 min). Most do so at once; some only when the
    /// answer has gone out on the stream.
    pub fn first_byte_timeout(mut self, timeout: Duration) -> Self {
        self.first_byte_timeout = timeout;
        self
    }

    /// Sets how long a server may take to accept a notification or an answer (default 30 s). What is said after it
    /// waits that long.
    pub fn acceptance_timeout(mut self, timeout: Duration) -> Self {
        self.acceptance_timeout = timeout;
        self
    }

    /// Sets how long the stream may be silent (default: for ever); a comment breaks the silence. Then the transport
    /// ends.
    ///
    /// It is off unless set, because a stream cannot be resumed, and many servers of this transport say nothing at
    /// all while nobody asks for anything: their silence would end sessions that are well.
    pub fn idle_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Sets how long closing may take (default 5 s): until the server has accepted what was said last.
    pub fn close_timeout(mut self, timeout: Duration) -> Self {
        self.close_timeout = timeout;
        self
    }

    /// Sets how long a message of the server's may be, in bytes (default 32 MiB).
    pub fn message_limit(mut self, bytes: usize) -> Self {
        self.message_limit = bytes;
        self
    }

    /// Sets how many messages a batch of the server's may hold (default 1024).
    pub fn batch_limit(mut self, messages: usize) -> Self {
        self.batch_limit = messages;
        self
    }

    /// A transport that uses [`Reqwest`](agentwire_transport_http::client::Reqwest). Nothing is sent before it is
    /// polled.
    ///
    /// # Errors
    ///
    /// When TLS cannot be set up.
    #[cfg(feature = "reqwest")]
    pub fn open(self) -> Result<Sse, SseError> {
        use agentwire_transport_http::client::HttpError;

        let client = agentwire_transport_http::client::Reqwest::new(self.connect_timeout);
        Ok(self.open_with(client.map_err(HttpError::Unsent)?))
    }

    /// A transport that uses the client given. Nothing is sent before it is polled.
    pub fn open_with(self, client: impl HttpClient + 'static) -> Sse {
        Sse::with(self, Box::new(client))
    }
}
