use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use agentwire_jsonrpc::ErrorObject;
use agentwire_transport::TransportError;
use http::{HeaderMap, StatusCode};

use crate::client::BoxError;
use crate::sse::DecodeError;

/// Why a request over HTTP came to nothing.
///
/// It is what the [`TransportError`] of a [`Packet::RequestFailed`](agentwire_transport::Packet::RequestFailed) holds, and that at the
/// end of a transport; see [`HttpError::of`]. Errors of the layers above have it among their sources:
///
/// ```
/// use std::error::Error;
///
/// use agentwire_transport_http::client::HttpError;
///
/// /// Whether the server wants to know who asks.
/// fn needs_login(error: &(dyn Error + 'static)) -> bool {
///     let mut causes = std::iter::successors(Some(error), |&error| error.source());
///     match causes.find_map(|cause| cause.downcast_ref()) {
///         Some(HttpError::Refused(refusal)) => refusal.headers.contains_key("www-authenticate"),
///         _ => false,
///     }
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// No response came: the name does not resolve, nobody listens, TLS fails, or the connection broke first.
    #[error("no HTTP response: {}", with_causes(&**.0))]
    Unsent(#[source] BoxError),
    /// The response broke off, and could not be resumed.
    #[error("the HTTP response broke off: {}", with_causes(&**.0))]
    Broken(#[source] BoxError),
    /// Something took longer than it may.
    #[error("{wait} took longer than {after:?}")]
    #[non_exhaustive]
    TimedOut {
        /// What was waited for.
        wait: Wait,
        /// The limit.
        after: Duration,
    },
    /// The server refused the request as such, by its status.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// The server no longer knows the session (404). All later requests would fail alike, so the transport ends;
    /// a new one begins with a new `initialize`.
    #[error("the server has ended the session")]
    SessionExpired,
    /// The server points to another place, and that is of another origin, or the method would change, or there
    /// is no end to it. Headers meant for one origin are never sent to another.
    #[error("HTTP status {}: not following the redirect to `{location}`", status.as_u16())]
    #[non_exhaustive]
    Redirected {
        /// The status.
        status: StatusCode,
        /// Where it points, as the server wrote it; empty where it does not say.
        location: String,
    },
    /// The response is neither JSON nor a stream of events.
    #[error("the response has the content type `{content_type}`")]
    #[non_exhaustive]
    ContentType {
        /// What it says it is; empty where it says nothing.
        content_type: String,
    },
    /// The response is compressed in a way that the [`HttpClient`](crate::client::HttpClient) did not undo. The
    /// default one undoes `gzip`, which is the only one that it asks for.
    #[error("the response is compressed by `{coding}`, and the HTTP client has not undone it")]
    #[non_exhaustive]
    ContentEncoding {
        /// How it is compressed, as the server wrote it.
        coding: String,
    },
    /// A response of JSON is longer than [`Config::message_limit`](crate::client::Config::message_limit).
    #[error("the response is longer than the limit of {limit} bytes")]
    #[non_exhaustive]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// A stream of events cannot be read.
    #[error(transparent)]
    Stream(#[from] DecodeError),
    /// What stands where the answer should is no JSON-RPC message.
    #[error("the response is no message: {0}")]
    NotAMessage(ErrorObject),
    /// The response ended without an answer to the request.
    #[error("the response ended without an answer")]
    NoAnswer,
}

impl HttpError {
    /// The error that a fault holds, if it is one of this transport's.
    pub fn of(fault: &TransportError) -> Option<&Self> {
        match fault {
            TransportError::Other(error) => error.downcast_ref(),
            _ => None,
        }
    }

    /// Whether nobody listens at the server's port.
    pub(crate) fn is_nobody_there(&self) -> bool {
        let mut causes = std::iter::successors(self.source(), |&error| error.source());
        causes.any(|cause| {
            let error: Option<&io::Error> = cause.downcast_ref();
            error.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        })
    }

    /// The status of the response, where there was one that decided.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Refused(refusal) => Some(refusal.status),
            Self::Redirected { status, .. } => Some(*status),
            Self::SessionExpired => Some(StatusCode::NOT_FOUND),
            _ => None,
        }
    }
}

impl From<HttpError> for TransportError {
    fn from(error: HttpError) -> Self {
        Self::other(error)
    }
}

/// An error and what lies behind it: what a client of HTTP says first is seldom more than that it failed.
fn with_causes(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// What may take too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wait {
    /// The first byte of a response to a request.
    FirstByte,
    /// The server's taking a notification or an answer.
    Acceptance,
    /// The next byte of a response.
    NextByte,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FirstByte => "the first byte of the response",
            Self::Acceptance => "the acceptance of a notification or an answer",
            Self::NextByte => "the next byte of the response",
        })
    }
}

/// A response whose status says that the request was refused.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// The status: not 2xx.
    pub status: StatusCode,
    /// The headers, such as `WWW-Authenticate`.
    pub headers: HeaderMap,
    /// The error of JSON-RPC in the body, where it is one.
    pub error: Option<ErrorObject>,
    /// The beginning of any other body, as one line of text.
    pub excerpt: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP status {}", self.status)?;
        match &self.error {
            Some(error) => write!(f, ": {error}"),
            None if self.excerpt.is_empty() => Ok(()),
            None => write!(f, ": {}", self.excerpt),
        }
    }
}
