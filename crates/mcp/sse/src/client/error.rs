//! The errors of the HTTP+SSE client, such as a stream that ends or an `endpoint` event with a foreign origin.

use agentwire_jsonrpc::Printable;
use std::time::Duration;

use agentwire_transport::TransportError;
use agentwire_transport_http::client::HttpError;
use http::StatusCode;

/// Why a request over HTTP failed, or a stream ended.
///
/// The [`TransportError`] of a [`Packet::RequestFailed`](agentwire_transport::Packet::RequestFailed) holds it, and so
/// does the one at the end of a transport; see [`SseError::of`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SseError {
    /// A request over HTTP failed, or its stream broke off: as over Streamable HTTP.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The server has ended the stream, and with it the session.
    #[error("the server has closed the event stream")]
    Ended,
    /// The event `endpoint` took longer than [`Config::endpoint_timeout`](crate::client::Config::endpoint_timeout).
    #[error("the `endpoint` event of the stream took longer than {after:?}")]
    #[non_exhaustive]
    EndpointTimedOut {
        /// The limit.
        after: Duration,
    },
    /// The response to the GET is not an event stream, or is compressed.
    #[error(
        "HTTP status {status} with the content type `{}`, which is not an event stream: {}",
        Printable::display(.content_type),
        Printable::display(.excerpt)
    )]
    #[non_exhaustive]
    NoStream {
        /// The status: 2xx.
        status: StatusCode,
        /// Its content type; empty if absent.
        content_type: String,
        /// The beginning of the body, as one line of text.
        excerpt: String,
    },
    /// The first event of the stream is not `endpoint`. The server may speak Streamable HTTP.
    #[error("the event stream begins with `{}` and not with `endpoint`", Printable::display(.event))]
    #[non_exhaustive]
    NoEndpoint {
        /// The name of the event.
        event: String,
    },
    /// The event `endpoint` names no URI that HTTP leads to.
    #[error("the server wants messages at `{}`, which is not a URI that HTTP leads to", Printable::display(.uri))]
    #[non_exhaustive]
    InvalidEndpoint {
        /// The data of the event.
        uri: String,
    },
    /// The event `endpoint` names another origin (another scheme, host or port), which would receive the headers and the
    /// messages.
    #[error("the server wants messages at `{}`, which is of another origin", Printable::display(.uri))]
    #[non_exhaustive]
    ForeignEndpoint {
        /// The data of the event.
        uri: String,
    },
}

impl SseError {
    /// The `SseError` in an error of a transport, if it holds one.
    pub fn of(error: &TransportError) -> Option<&Self> {
        match error {
            TransportError::Other(error) => error.downcast_ref(),
            _ => None,
        }
    }

    /// The status of the response that caused the error, if there was one.
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
