//! The address of a server: a process, a URL or a custom transport.

pub(crate) mod attempt;
#[cfg(feature = "http")]
pub(crate) mod http;
#[cfg(feature = "http")]
pub(crate) mod http_failure;

use std::fmt;
use std::sync::Arc;

use agentwire_mcp_client::BoxError;
use agentwire_transport::{Packet, Transport, TransportError};
use agentwire_transport_stdio::{Command, ParseCommandError};
use futures_util::{Sink, Stream};

#[cfg(feature = "http")]
use crate::target::http::{HttpTarget, InvalidUrl};

/// The address of a server.
///
/// ```
/// use agentwire_mcp_hub::Target;
/// use agentwire_transport_stdio::Command;
///
/// let written_by_a_user = Target::parse("https://example.com/mcp")?;
/// let process = Target::from(Command::new("file-server").env("LOG", "warn"));
/// # let _ = (written_by_a_user, process);
/// # Ok::<(), agentwire_mcp_hub::ParseTargetError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Target {
    /// A process to start, with its stdin and stdout as the transport. Ask the user before starting a command that another
    /// person configured.
    Stdio(Command),
    /// A server on the network (feature `http`).
    #[cfg(feature = "http")]
    Http(HttpTarget),
    /// A server behind a transport of the caller.
    Custom(CustomTarget),
}

/// The text is not the address of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseTargetError {
    /// It is not a command line.
    #[error(transparent)]
    Command(#[from] ParseCommandError),
    /// It begins like a URL, but is not a valid one.
    #[cfg(feature = "http")]
    #[error(transparent)]
    Url(#[from] InvalidUrl),
    /// It is a URL, and the feature `http` is off.
    #[error(
        "servers over HTTP are not supported: this program is built without the feature `http` of agentwire-mcp-hub"
    )]
    NoHttp,
}

impl Target {
    /// Reads what a user wrote: a URL if it begins with `http://` or `https://`, in upper or lower case, otherwise
    /// a command line as [`Command::parse`] reads it.
    ///
    /// # Errors
    ///
    /// When it is neither, and for each URL where the feature `http` is off.
    pub fn parse(text: &str) -> Result<Self, ParseTargetError> {
        let text = text.trim();
        let begins =
            |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        if begins("http://") || begins("https://") {
            #[cfg(feature = "http")]
            return Ok(Self::Http(HttpTarget::new(text)?));
            #[cfg(not(feature = "http"))]
            Err(ParseTargetError::NoHttp)
        } else {
            Ok(Self::Stdio(Command::parse(text)?))
        }
    }
}

impl Target {
    /// Identifies the server: its address. Values of headers and of the environment are no part of it.
    pub(crate) fn key(&self) -> String {
        match self {
            // `Debug` of a command leaves out the values of its environment.
            Self::Stdio(command) => format!("{command:?}"),
            #[cfg(feature = "http")]
            Self::Http(target) => format!("{:?} {}", target.transport(), target.url()),
            Self::Custom(target) => format!("custom {}", target.name()),
        }
    }

    /// Returns whether the transport is HTTP+SSE alone.
    pub(crate) fn is_sse(&self) -> bool {
        #[cfg(feature = "sse")]
        return matches!(self, Self::Http(target) if target.transport() == crate::HttpKind::Sse);
        #[cfg(not(feature = "sse"))]
        false
    }
}

impl From<Command> for Target {
    fn from(command: Command) -> Self {
        Self::Stdio(command)
    }
}

#[cfg(feature = "http")]
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

/// A server behind a transport of the caller: a server in this process behind a
/// [`duplex`](agentwire_transport::duplex), or behind a transport that this library does not have.
///
/// As with a process, both kinds of revisions, modern and legacy, are tried on one connection.
#[derive(Clone)]
pub struct CustomTarget {
    name: String,
    open: Arc<dyn Fn() -> Result<BoxTransport, BoxError> + Send + Sync>,
}

/// A transport of any type, so that the connection code is compiled once and not for each transport.
pub(crate) type BoxTransport = Box<dyn Moved>;

/// A [`Transport`] that may move between threads, as one trait, so that there can be a box of it.
pub(crate) trait Moved:
    Sink<Packet, Error = TransportError> + Stream<Item = Result<Packet, TransportError>> + Unpin + Send
{
}

impl<T: Transport + Send> Moved for T {}

impl CustomTarget {
    /// Creates a target with that name, which identifies it in a [`Memory`](crate::Memory). `open` is called for each new
    /// connection.
    pub fn new<T: Transport + Send + 'static>(
        name: impl Into<String>,
        open: impl Fn() -> Result<T, BoxError> + Send + Sync + 'static,
    ) -> Self {
        let open = move || -> Result<BoxTransport, BoxError> { Ok(Box::new(open()?)) };
        Self { name: name.into(), open: Arc::new(open) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn open(&self) -> Result<BoxTransport, BoxError> {
        (self.open)()
    }
}

impl fmt::Debug for CustomTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomTarget").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_told_from_a_command() {
        let parse = |text| Target::parse(text);
        #[cfg(feature = "http")]
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
}
