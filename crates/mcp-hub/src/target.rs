//! Where a server is.

use std::fmt;
use std::sync::Arc;

use agentwire_mcp_client::BoxError;
use agentwire_transport::{Fault, Packet, Transport};
use agentwire_transport_http::client::Config;
use agentwire_transport_sse::client as sse;
use agentwire_transport_stdio::{Command, ParseCommandError};
use futures::{Sink, Stream};
use http::{HeaderName, HeaderValue};

/// Where a server is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Target {
    /// A process, to be started and spoken to over its stdin and stdout. Never start what somebody else
    /// configured without asking.
    Stdio(Command),
    /// A server on the network.
    Http(HttpTarget),
    /// A server that is reached in a way of the caller's own.
    Custom(CustomTarget),
}

/// The text says of no server where it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseTargetError {
    /// It is no command line.
    #[error(transparent)]
    Command(#[from] ParseCommandError),
    /// It begins as a URL does, and is none.
    #[error(transparent)]
    Url(#[from] InvalidUrl),
}

impl Target {
    /// Reads what a user wrote: a URL if it begins with `http://` or `https://`, in letters of any size, otherwise
    /// a command line as [`Command::parse`] reads it.
    ///
    /// # Errors
    ///
    /// When it is neither.
    pub fn parse(text: &str) -> Result<Self, ParseTargetError> {
        let text = text.trim();
        let begins =
            |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        if begins("http://") || begins("https://") {
            Ok(Self::Http(HttpTarget::new(text)?))
        } else {
            Ok(Self::Stdio(Command::parse(text)?))
        }
    }
}

impl From<Command> for Target {
    fn from(command: Command) -> Self {
        Self::Stdio(command)
    }
}

impl From<HttpTarget> for Target {
    fn from(target: HttpTarget) -> Self {
        Self::Http(target)
    }
}

impl From<CustomTarget> for Target {
    fn from(target: CustomTarget) -> Self {
        Self::Custom(target)
    }
}

/// A server that is reached in a way of the caller's own: one in this process behind a
/// [`duplex`](agentwire_transport::duplex), or behind a transport that this library does not have.
///
/// It is spoken to as a process is: both eras are tried on one connection.
#[derive(Clone)]
pub struct CustomTarget {
    name: String,
    open: Arc<dyn Fn() -> Result<CustomTransport, BoxError> + Send + Sync>,
}

/// A transport whose type nobody needs to know.
pub(crate) type CustomTransport = Box<dyn Moved>;

/// A [`Transport`] that may move between threads, as one trait, so that there can be a box of it.
pub(crate) trait Moved:
    Sink<Packet, Error = Fault> + Stream<Item = Result<Packet, Fault>> + Unpin + Send
{
}

impl<T: Transport + Send> Moved for T {}

impl CustomTarget {
    /// A server of that name, which tells it from others in a [`Memory`](crate::Memory); `open` makes a connection to
    /// it, each time that one is needed.
    pub fn new<T: Transport + Send + 'static>(
        name: impl Into<String>,
        open: impl Fn() -> Result<T, BoxError> + Send + Sync + 'static,
    ) -> Self {
        let open = move || -> Result<CustomTransport, BoxError> { Ok(Box::new(open()?)) };
        Self { name: name.into(), open: Arc::new(open) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn open(&self) -> Result<CustomTransport, BoxError> {
        (self.open)()
    }
}

impl fmt::Debug for CustomTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomTarget").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A server on the network: its URL, what to send along, and over which of MCP's transports.
#[derive(Clone, Debug)]
pub struct HttpTarget {
    url: String,
    kind: HttpKind,
    configs: Box<Configs>,
}

/// What each of the transports needs to know.
#[derive(Clone, Debug)]
struct Configs {
    streamable: Config,
    sse: sse::Config,
}

/// The transports that MCP has over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum HttpKind {
    /// Streamable HTTP, and where the server refuses that, HTTP+SSE at the same URL: for a URL of which a user
    /// knows no more, as the specification describes it under *Backward Compatibility*.
    #[default]
    Any,
    /// Streamable HTTP alone.
    Streamable,
    /// HTTP+SSE alone, the transport of 2024-11-05.
    Sse,
}

/// The text is no URL that a server can have: `http` or `https`, with a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{url}` is no URL of an MCP server, such as `https://host/path` or `http://host:port/path`")]
#[non_exhaustive]
pub struct InvalidUrl {
    /// The text.
    pub url: String,
}

/// What cannot be a header of HTTP. Its value is not shown: it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no header that HTTP can carry")]
#[non_exhaustive]
pub struct InvalidHeader {
    /// Its name.
    pub name: String,
}

impl HttpTarget {
    /// A server at that URL. A user and a password in it become the header `Authorization`, unless
    /// [`header`](Self::header) sets that.
    ///
    /// # Errors
    ///
    /// When that is no absolute URL of the scheme `http` or `https`.
    pub fn new(url: &str) -> Result<Self, InvalidUrl> {
        let invalid = || InvalidUrl { url: url.to_owned() };
        let streamable = Config::new(url).map_err(|_| invalid())?;
        let sse = sse::Config::new(url).map_err(|_| invalid())?;
        let url = streamable.url().to_string();
        Ok(Self { url, kind: HttpKind::default(), configs: Box::new(Configs { streamable, sse }) })
    }

    /// Sends a header with every request to the server, and with none to another origin. One name may be given
    /// more than once. Headers that the transport sets itself win.
    ///
    /// # Errors
    ///
    /// When the name or the value has characters that HTTP does not carry.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, InvalidHeader> {
        let invalid = || InvalidHeader { name: name.to_owned() };
        let parsed = name.parse::<HeaderName>().map_err(|_| invalid())?;
        let value = value.trim().parse::<HeaderValue>().map_err(|_| invalid())?;
        let Configs { streamable, sse } = *self.configs;
        let (streamable, sse) = (streamable.header(parsed.clone(), value.clone()), sse.header(parsed, value));
        self.configs = Box::new(Configs { streamable, sse });
        Ok(self)
    }

    /// Changes what Streamable HTTP is spoken with, such as its time-outs and limits. Where the server is, and how long a
    /// connection may take to be made (10 s), stay as they are.
    ///
    /// ```
    /// use agentwire_mcp_hub::HttpTarget;
    ///
    /// # fn target() -> Result<HttpTarget, agentwire_mcp_hub::InvalidUrl> {
    /// let target = HttpTarget::new("https://example.com/mcp")?
    ///     .streamable_with(|config| config.message_limit(1 << 20).retries(2));
    /// # Ok(target)
    /// # }
    /// ```
    #[must_use]
    pub fn streamable_with(mut self, change: impl FnOnce(Config) -> Config) -> Self {
        self.configs.streamable = change(self.configs.streamable);
        self
    }

    /// Changes what HTTP+SSE is spoken with, as [`streamable_with`](Self::streamable_with) does.
    #[must_use]
    pub fn sse_with(mut self, change: impl FnOnce(sse::Config) -> sse::Config) -> Self {
        self.configs.sse = change(self.configs.sse);
        self
    }

    /// Sets over which transport to speak (default: [`HttpKind::Any`]).
    #[must_use]
    pub fn kind(mut self, kind: HttpKind) -> Self {
        self.kind = kind;
        self
    }

    /// Where the server is, without user and password.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn transport(&self) -> HttpKind {
        self.kind
    }

    pub(crate) fn streamable(&self) -> Config {
        self.configs.streamable.clone()
    }

    pub(crate) fn sse(&self) -> sse::Config {
        self.configs.sse.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_told_from_a_command() {
        let parse = |text| Target::parse(text);
        assert!(
            matches!(parse(" https://example.com/mcp "), Ok(Target::Http(target)) if target.url() == "https://example.com/mcp")
        );
        assert!(matches!(parse("HTTPS://example.com"), Ok(Target::Http(_))));
        assert!(matches!(parse("http-server http://example.com"), Ok(Target::Stdio(_))));
        for text in ["http://", "http://:80/", "http://127.0.0.1:99999/"] {
            assert!(matches!(parse(text), Err(ParseTargetError::Url(_))), "{text}");
        }
        assert!(matches!(parse("'"), Err(ParseTargetError::Command(_))));
    }

    #[test]
    fn the_value_of_a_header_is_never_shown() {
        let target = HttpTarget::new("http://example.com").unwrap();
        let shown = format!("{:?}", target.clone().header("Authorization", "Bearer hunter2").unwrap());
        let named = HttpTarget::new("http://me:hunter2@example.com").unwrap();
        let shown = format!("{shown} {named:?}");
        assert!(shown.contains("authorization") && !shown.contains("hunter2"), "{shown}");
        let refused = target.header("X-Key", "hunter2\r\nX-Other: 1").unwrap_err();
        assert_eq!(refused.to_string(), "`X-Key` is no header that HTTP can carry");
    }
}
