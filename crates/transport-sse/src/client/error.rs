use std::error::Error;
use std::fmt;
use std::time::Duration;

use agentwire_transport::TransportError;
use agentwire_transport_http::client::{BoxError, Refusal};
use agentwire_transport_http::sse::DecodeError;
use http::StatusCode;

/// Why a request over HTTP came to nothing, or a stream to its end.
///
/// It is what the [`TransportError`] of a [`Packet::RequestFailed`](agentwire_transport::Packet::RequestFailed) holds, and that at the
/// end of a transport; see [`SseError::of`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SseError {
    /// No response came: the name does not resolve, nobody listens, TLS fails, or the connection broke first.
    #[error("no HTTP response: {}", with_causes(&**.0))]
    Unsent(#[source] BoxError),
    /// The stream broke off. What was asked on it gets no answer.
    #[error("the event stream broke off: {}", with_causes(&**.0))]
    Broken(#[source] BoxError),
    /// The server has ended the stream, and with it the session.
    #[error("the server has closed the event stream")]
    Ended,
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
    /// What answers the GET is no event stream, or it is compressed.
    #[error(
        "HTTP status {status} with the content type `{content_type}`, which is no event stream: {excerpt}"
    )]
    #[non_exhaustive]
    NoStream {
        /// The status: 2xx.
        status: StatusCode,
        /// What it says it is; empty where it says nothing.
        content_type: String,
        /// The beginning of the body, as one line of text.
        excerpt: String,
    },
    /// The first event of the stream is not the one that says where to send messages. The server may speak
    /// Streamable HTTP.
    #[error("the event stream begins with `{event}` and not with `endpoint`")]
    #[non_exhaustive]
    NoEndpoint {
        /// The name of the event.
        event: String,
    },
    /// What the server says is the place to send messages to is none.
    #[error("the server wants messages at `{uri}`, which is no URI that HTTP leads to")]
    #[non_exhaustive]
    InvalidEndpoint {
        /// What it says.
        uri: String,
    },
    /// The server wants messages at another origin than its own (another scheme, host or port), where the headers
    /// and the messages would fall into other hands.
    #[error("the server wants messages at `{uri}`, which is of another origin")]
    #[non_exhaustive]
    ForeignEndpoint {
        /// What it says.
        uri: String,
    },
    /// The stream cannot be read.
    #[error(transparent)]
    Stream(#[from] DecodeError),
}

impl SseError {
    /// The error that a fault holds, if it is one of this transport's.
    pub fn of(fault: &TransportError) -> Option<&Self> {
        match fault {
            TransportError::Other(error) => error.downcast_ref(),
            _ => None,
        }
    }

    /// The status of the response, where there was one that decided.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Refused(refusal) => Some(refusal.status),
            Self::Redirected { status, .. } | Self::NoStream { status, .. } => Some(*status),
            _ => None,
        }
    }
}

impl From<SseError> for TransportError {
    fn from(error: SseError) -> Self {
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
    /// The event that says where to send messages.
    Endpoint,
    /// The server's taking a request.
    FirstByte,
    /// The server's taking a notification or an answer.
    Acceptance,
    /// The next byte of the stream.
    NextByte,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Endpoint => "the `endpoint` event of the stream",
            Self::FirstByte => "the acceptance of a request",
            Self::Acceptance => "the acceptance of a notification or an answer",
            Self::NextByte => "the next byte of the stream",
        })
    }
}
