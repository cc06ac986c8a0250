use std::time::Duration;

use agentwire_transport::TransportError;
use agentwire_transport_http::client::HttpError;
use http::StatusCode;

/// Why a request over HTTP came to nothing, or a stream to its end.
///
/// It is what the [`TransportError`] of a [`Packet::RequestFailed`](agentwire_transport::Packet::RequestFailed) holds, and that at the
/// end of a transport; see [`SseError::of`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SseError {
    /// A request over HTTP failed, or its stream broke off: as over Streamable HTTP.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The server has ended the stream, and with it the session.
    #[error("the server has closed the event stream")]
    Ended,
    /// The server took longer than [`Config::endpoint_timeout`](crate::client::Config::endpoint_timeout) to name the place to
    /// send messages to.
    #[error("the `endpoint` event of the stream took longer than {after:?}")]
    #[non_exhaustive]
    EndpointTimedOut {
        /// The limit.
        after: Duration,
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
            Self::Http(error) => error.status(),
            Self::NoStream { status, .. } => Some(*status),
            _ => None,
        }
    }
}

impl From<SseError> for TransportError {
    fn from(error: SseError) -> Self {
        Self::other(error)
    }
}
