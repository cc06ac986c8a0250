//! The errors of an HTTP request, and the refusal that a non-2xx response carries. Converts them to and from `TransportError`.

use std::fmt;
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Printable};
use agentwire_transport::TransportError;
use http::{HeaderMap, StatusCode};

use crate::client::BoxError;
use crate::sse::DecodeError;

/// Why a request over HTTP failed.
///
/// The [`TransportError`] of a [`Packet::RequestFailed`](agentwire_transport::Packet::RequestFailed) holds it, and so does
/// the one at the end of a transport; see [`HttpError::of`]. Errors of the layers above have it among their sources:
///
/// ```
/// use std::error::Error;
///
/// use agentwire_transport_http::client::HttpError;
///
/// /// Whether the server asks for credentials.
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
    /// No response came: the name does not resolve, no server listens, TLS fails, or the connection broke first.
    #[error("no HTTP response")]
    Unsent(#[source] BoxError),
    /// The [`HttpClient`](crate::client::HttpClient) has not sent the request, or not returned its response, for a reason of its own:
    /// its error was a [`Declined`].
    #[error("the HTTP client declined the request")]
    Declined(#[source] BoxError),
    /// The response broke off, and could not be resumed.
    #[error("the HTTP response broke off")]
    Broken(#[source] BoxError),
    /// A step took longer than its limit.
    #[error("{wait} took longer than {after:?}")]
    #[non_exhaustive]
    TimedOut {
        /// The wait that took too long.
        wait: Wait,
        /// The limit.
        after: Duration,
    },
    /// The server refused the request as such, by its status.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// The server no longer knows the session (404). All later requests would fail alike, so the transport ends, after the
    /// requests in flight have got their outcomes, and at most [`Config::close_timeout`](crate::client::Config::close_timeout)
    /// later. A new session begins with a new `initialize`.
    ///
    /// In a [`Packet::RequestFailed`](agentwire_transport::Packet::RequestFailed) it means that the server has not
    /// worked on the request, so the request may be sent again in another session.
    #[error("the server has ended the session")]
    SessionExpired,
    /// The server redirects to another origin, with a change of the method, or too often. Headers meant for one origin are
    /// never sent to another.
    #[error("HTTP status {}: not following the redirect to `{}`", status.as_u16(), Printable::display(.location))]
    #[non_exhaustive]
    Redirected {
        /// The status.
        status: StatusCode,
        /// The target, as the server wrote it; empty if absent.
        location: String,
    },
    /// The response is neither JSON nor a stream of events.
    #[error("the response has the content type `{}`", Printable::display(.content_type))]
    #[non_exhaustive]
    ContentType {
        /// Its content type; empty if absent.
        content_type: String,
    },
    /// The response is compressed in a way that the [`HttpClient`](crate::client::HttpClient) did not undo. The
    /// default one undoes `gzip`, which is the only one that it asks for.
    #[error("the response is compressed by `{}`, and the HTTP client has not undone it", Printable::display(.coding))]
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
    /// The text in place of the answer is not a JSON-RPC message.
    #[error("the response is not a message: {0}")]
    NotAMessage(ErrorObject),
    /// The response ended without an answer to the request.
    #[error("the response ended without an answer")]
    NoAnswer,
    /// The response ended without an answer to the request, and has other content.
    #[error("the response ended without an answer: {}", Printable::display(.found))]
    #[non_exhaustive]
    OtherContent {
        /// The content of the response.
        found: String,
    },
}

impl HttpError {
    /// The `HttpError` in an error of a transport, if it holds one.
    pub fn of(fault: &TransportError) -> Option<&Self> {
        match fault {
            TransportError::Other(error) => error.downcast_ref(),
            _ => None,
        }
    }

    /// The status of the response that caused the error, if there was one.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Refused(refusal) => Some(refusal.status),
            Self::Redirected { status, .. } => Some(*status),
            Self::SessionExpired => Some(StatusCode::NOT_FOUND),
            _ => None,
        }
    }
}

/// The error of an [`HttpClient`](crate::client::HttpClient) that has a reason of its own for not sending a request, such as a token
/// that it cannot get. The transport reports it as [`HttpError::Declined`]; any other error means that there was no response.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client declined the request")]
pub struct Declined(#[source] BoxError);

impl Declined {
    /// The reason.
    pub fn new(reason: impl Into<BoxError>) -> Self {
        Self(reason.into())
    }

    /// The reason.
    pub fn into_inner(self) -> BoxError {
        self.0
    }
}

impl HttpError {
    /// The error of a client that gave no response.
    pub(crate) fn unsent(error: BoxError) -> Self {
        match error.downcast::<Declined>() {
            Ok(declined) => Self::Declined(declined.0),
            Err(error) => Self::Unsent(error),
        }
    }
}

impl From<HttpError> for TransportError {
    fn from(error: HttpError) -> Self {
        Self::other(error)
    }
}

/// Why an [`HttpClient`](crate::client::HttpClient) of this crate cannot be created. The cause is its [source](std::error::Error::source).
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client cannot be created")]
pub struct HttpClientError(#[source] BoxError);

#[cfg(feature = "rustls-no-provider")]
impl HttpClientError {
    pub(crate) fn new(cause: impl Into<BoxError>) -> Self {
        Self(cause.into())
    }
}

/// A step that has a time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wait {
    /// The first byte of a response to a request.
    FirstByte,
    /// The acceptance of a notification or an answer.
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

/// A response whose status is a refusal of the request.
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

impl Refusal {
    /// Whether the server has no room for the request at present (429 or 503). The server has not begun the request
    /// then, and a JSON-RPC error in the body is not its answer. The header `Retry-After` may name the time of a retry.
    pub fn is_overload(&self) -> bool {
        matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
    }

    /// Whether the status is a 4xx that is about the request itself, and neither about the caller (401, 403, 407) nor
    /// about the time (408, 429). A server refuses a message that it does not understand with such a status.
    pub fn is_about_request(&self) -> bool {
        self.status.is_client_error()
            && !matches!(
                self.status,
                StatusCode::UNAUTHORIZED
                    | StatusCode::FORBIDDEN
                    | StatusCode::PROXY_AUTHENTICATION_REQUIRED
                    | StatusCode::REQUEST_TIMEOUT
                    | StatusCode::TOO_MANY_REQUESTS
            )
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP status {}", self.status)?;
        match &self.error {
            Some(error) => write!(f, ": {error}"),
            None if self.excerpt.is_empty() => Ok(()),
            None => write!(f, ": {}", Printable::new(&self.excerpt)),
        }
    }
}
