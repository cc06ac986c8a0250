//! The client's settings: server URL, headers, time and size limits, retries. Moves credentials from the URL to `Authorization`.

use std::time::Duration;

use agentwire_jsonrpc::{DEFAULT_BATCH_LIMIT, DEFAULT_LINE_LIMIT, Printable};
use agentwire_wire_derive::Build;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue, Uri};

use crate::client::Wait;
use crate::client::url::server_url::ServerUrl;
use crate::client::url::shown_url::shown_url;

/// The URL of a server, and the settings of a client for it. Every limit has a default that fits most servers.
///
/// ```
/// use std::time::Duration;
///
/// use agentwire_transport_http::client::Config;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = Config::new("https://example.com/mcp")?
///     .header("Authorization", "Bearer token")?
///     .connect_timeout(Duration::from_secs(5));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Build)]
#[must_use]
pub struct Config {
    pub(crate) url: Uri,
    pub(crate) headers: HeaderMap,
    /// Whether the credentials among the headers are those of the URL.
    #[build(skip)]
    named_in_url: bool,
    pub(crate) limits: Limits,
    /// Sets how long the body of a response may be silent (default 5 min); a comment breaks the silence. After that the stream
    /// is resumed if it can be.
    pub(crate) idle_timeout: Duration,
    /// Sets how many times in a row a stream may fail to be resumed (default 5). A call whose server refuses connections fails
    /// after two or three times. A message is never sent twice.
    pub(crate) retries: u32,
    /// Sets how long to wait before a stream is resumed (default 500 ms), unless the server has sent `retry`. Each
    /// failure doubles it, and a random part is added, so that many clients do not come back at once.
    pub(crate) retry_delay: Duration,
    /// Sets the shortest wait before a stream is resumed (default 100 ms), also where the server asks for less with
    /// `retry: 0`.
    pub(crate) shortest_retry_delay: Duration,
    /// Sets the longest wait before a stream is resumed (default 60 s). A stream whose server asks for more is given up.
    pub(crate) longest_retry_delay: Duration,
    /// Sets whether a session opens a stream for the server's own requests and notifications (default true). Without it these
    /// arrive on the streams of requests only, if the server sends them there: changes of lists and resources seldom do.
    pub(crate) listen: bool,
    pub(crate) request_limit: usize,
}

/// The text is not a URL that a server can have: `http` or `https`, with a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not the URL of an MCP server: `https://host/path` or `http://host:port/path`", shown_url(.url))]
#[non_exhaustive]
pub struct InvalidUrl {
    /// The text.
    pub url: String,
}

/// An invalid HTTP header, or one beyond the limit of 1024. The value is not shown: it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is {}", Printable::one_line(.name), header_fault(*.limit))]
#[non_exhaustive]
pub struct InvalidHeader {
    /// Its name.
    pub name: String,
    /// The limit, if there are as many headers already. `None` if HTTP cannot carry the header.
    pub limit: Option<usize>,
}

fn header_fault(limit: Option<usize>) -> String {
    limit.map_or_else(
        || "not a header that HTTP can carry".to_owned(),
        |limit| format!("one header too many: the limit is {limit}"),
    )
}

/// The most headers of a configuration: far more than servers accept, and fewer than the 32,768 at which a `HeaderMap`
/// panics.
const MAX_HEADERS: usize = 1024;

impl Config {
    /// The defaults for a server at `url`. A user and a password in it become the header `Authorization`, unless
    /// [`header`](Self::header) sets that.
    ///
    /// # Errors
    ///
    /// When that is not an absolute URL of the scheme `http` or `https`.
    pub fn new(url: &str) -> Result<Self, InvalidUrl> {
        let invalid = || InvalidUrl { url: url.to_owned() };
        let ServerUrl { url, credentials } = ServerUrl::parse(url).ok_or_else(invalid)?;
        let named_in_url = credentials.is_some();
        let headers = credentials.map(|value| (AUTHORIZATION, value)).into_iter().collect();
        Ok(Self {
            url,
            headers,
            named_in_url,
            limits: Limits::new(),
            idle_timeout: Duration::from_secs(300),
            retries: 5,
            retry_delay: Duration::from_millis(500),
            shortest_retry_delay: Duration::from_millis(100),
            longest_retry_delay: Duration::from_secs(60),
            listen: true,
            request_limit: 256,
        })
    }

    /// Adds a header to every request to the server's origin. One name may be given more than once. Headers that the
    /// transport sets itself replace it. `Debug` does not show the value, which may be a secret.
    ///
    /// # Errors
    ///
    /// When the name or the value has characters that HTTP does not carry, or there are 1024 headers already.
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<[u8]>) -> Result<Self, InvalidHeader> {
        let name = name.as_ref();
        let invalid = || InvalidHeader { name: name.to_owned(), limit: None };
        let mut value = HeaderValue::from_bytes(value.as_ref().trim_ascii()).map_err(|_| invalid())?;
        if self.headers.len() >= MAX_HEADERS {
            return Err(InvalidHeader { limit: Some(MAX_HEADERS), ..invalid() });
        }
        let name = name.parse::<HeaderName>().map_err(|_| invalid())?;
        value.set_sensitive(true);
        if name == AUTHORIZATION && std::mem::take(&mut self.named_in_url) {
            self.headers.remove(AUTHORIZATION);
        }
        self.headers.append(name, value);
        Ok(self)
    }

    /// The URL of the server, without user and password.
    pub fn url(&self) -> &Uri {
        &self.url
    }

    /// The headers of every request. Their values are marked as sensitive.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Sets how many requests to the server may be unanswered (default 256, which is also the limit of a session of our
    /// server's). Further ones wait in order, while the timeouts of their calls run. Subscriptions do not count.
    pub fn request_limit(mut self, requests: usize) -> Self {
        self.request_limit = requests.clamp(1, tokio::sync::Semaphore::MAX_PERMITS);
        self
    }

    /// The limits that another client of MCP over HTTP has as well.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }
}

/// The limits that every client of MCP over HTTP has. Each field is the setting of [`Config`](crate::client::Config) of the
/// same name.
#[derive(Clone, Copy, Debug, Build)]
#[non_exhaustive]
#[build(new, of = Config, at = limits)]
pub struct Limits {
    /// Sets how long a connection may take to be made (default 10 s). An [`HttpClient`](crate::client::HttpClient) of your own
    /// has a limit of its own.
    #[build(default = Duration::from_secs(10))]
    pub connect_timeout: Duration,
    /// Sets how long the headers of the response to a request may take (default 5 min). A server that answers
    /// with JSON sends them when the work is done.
    #[build(default = Duration::from_secs(300))]
    pub first_byte_timeout: Duration,
    /// Sets how long a server may take to accept a notification or an answer (default 30 s). Later messages wait until
    /// then.
    #[build(default = Duration::from_secs(30))]
    pub acceptance_timeout: Duration,
    /// Sets how long closing may take (default 5 s): until the server has accepted the last message and the end of the
    /// session.
    #[build(default = Duration::from_secs(5))]
    pub close_timeout: Duration,
    /// Sets how long a message of the server's may be, in bytes (default 32 MiB).
    #[build(default = DEFAULT_LINE_LIMIT)]
    pub message_limit: usize,
    /// Sets how many messages a batch of the server's may hold (default 1024).
    #[build(default = DEFAULT_BATCH_LIMIT)]
    pub batch_limit: usize,
}

impl Limits {
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
