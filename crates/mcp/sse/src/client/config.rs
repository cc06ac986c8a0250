//! The settings of the HTTP+SSE client: those of the Streamable HTTP client, and two timeouts of its own.

use std::time::Duration;

use agentwire_transport_http::client::{Config as HttpConfig, InvalidHeader, shown_url};
use agentwire_wire_derive::Build;

/// The URL of a server, and the settings of a client for it: those of Streamable HTTP that concern it, and two timeouts.
///
/// ```
/// use std::time::Duration;
///
/// use agentwire_transport_sse::client::Config;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = Config::new("https://example.com/sse")?
///     .endpoint_timeout(Duration::from_secs(10))
///     .with_http(|http| http.message_limit(1 << 20));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Build)]
#[must_use]
pub struct Config {
    pub(crate) http: HttpConfig,
    /// Sets how long it may take, from the first poll, until the event `endpoint` arrives (default 30 s).
    pub(crate) endpoint_timeout: Duration,
    /// Sets how long the stream may be silent (default: for ever); a comment breaks the silence. Then the transport
    /// ends.
    ///
    /// It is off by default, because a stream cannot be resumed, and many servers of this transport send nothing
    /// while no request is unanswered: the limit would end sessions that work.
    #[build(optional)]
    pub(crate) idle_timeout: Option<Duration>,
}

/// The text is not a URL that a server can have: `http` or `https`, with a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not the URL of an MCP server: `https://host/sse` or `http://host:port/sse`", shown_url(.url))]
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
    /// When that is not an absolute URL of the scheme `http` or `https`.
    pub fn new(url: &str) -> Result<Self, InvalidUrl> {
        let http = HttpConfig::new(url).map_err(|_| InvalidUrl { url: url.to_owned() })?;
        Ok(Self { http, endpoint_timeout: Duration::from_secs(30), idle_timeout: None })
    }

    /// Adds a header to every GET and POST, as [`HttpConfig::header`] does.
    ///
    /// # Errors
    ///
    /// When the name or the value has characters that HTTP does not carry, or there are 1024 headers already.
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<[u8]>) -> Result<Self, InvalidHeader> {
        self.http = self.http.header(name, value)?;
        Ok(self)
    }

    /// Changes the settings that a client of Streamable HTTP has as well. These concern this one:
    ///
    /// | settings | differences |
    /// |---|---|
    /// | `connect_timeout` | |
    /// | `first_byte_timeout` | until a request is accepted; some servers accept one only after its answer |
    /// | `acceptance_timeout` | |
    /// | `close_timeout` | until the server has accepted the last notification or answer |
    /// | `message_limit`, `batch_limit` | |
    ///
    /// The others do nothing here.
    pub fn with_http(mut self, change: impl FnOnce(HttpConfig) -> HttpConfig) -> Self {
        self.http = change(self.http);
        self
    }
}
