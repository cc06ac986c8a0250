//! Requests to authorization servers and for documents: bounded, without following redirects, and only to allowed addresses.

use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::Printable;
use agentwire_transport_http::client::{BoxError, HttpClient};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use http::header::{ACCEPT, LOCATION};
use http::{HeaderMap, HeaderValue, Request, StatusCode, Uri};
use serde::de::DeserializeOwned;

use crate::address::AddressPolicy;

/// The longest document by default: 256 KiB.
pub(crate) const DEFAULT_LIMIT: usize = 256 << 10;

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The [`AddressPolicy`] does not allow the URL.
    #[error("not requesting `{}`: {why}", Printable::display(.url))]
    #[non_exhaustive]
    Refused {
        /// The URL.
        url: String,
        /// Why not.
        why: String,
    },
    /// The server answered with a redirect, which is not followed.
    #[error("`{}` redirects to `{}`, which is not followed", Printable::display(.url), Printable::display(.location))]
    #[non_exhaustive]
    Redirected {
        /// The URL.
        url: String,
        /// The target, without its query.
        location: String,
    },
    /// The status is not 2xx.
    #[error("`{}` answers with HTTP status {status}", Printable::display(.url))]
    #[non_exhaustive]
    Status {
        /// The URL.
        url: String,
        /// The status.
        status: StatusCode,
    },
    /// The document is longer than the limit.
    #[error("`{}` is longer than the limit of {limit} bytes", Printable::display(.url))]
    #[non_exhaustive]
    TooLong {
        /// The URL.
        url: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The response is not a JSON object.
    #[error("`{}` is not a JSON object", Printable::display(.url))]
    #[non_exhaustive]
    NotJson {
        /// The URL.
        url: String,
    },
    /// The document cannot be read.
    #[error("`{}` cannot be read: {why}", Printable::display(.url))]
    #[non_exhaustive]
    Invalid {
        /// The URL.
        url: String,
        /// Why not.
        why: String,
    },
    /// The response took too long.
    #[error("`{}` has not answered within {after:?}", Printable::display(.url))]
    #[non_exhaustive]
    TimedOut {
        /// The URL.
        url: String,
        /// The time limit.
        after: Duration,
    },
    /// The server sent no response.
    #[error("`{}` cannot be reached", Printable::display(.url))]
    #[non_exhaustive]
    Unreachable {
        /// The URL.
        url: String,
        /// Why.
        #[source]
        cause: BoxError,
    },
}

impl FetchError {
    /// Whether the URL has no such document.
    pub(crate) fn is_absence(&self) -> bool {
        match self {
            Self::Status { status, .. } => !is_transient(*status),
            Self::NotJson { .. } => true,
            _ => false,
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::TimedOut { .. } | Self::Unreachable { .. } => true,
            Self::Status { status, .. } => is_transient(*status),
            _ => false,
        }
    }
}

/// Whether the same request may get another status later.
pub(crate) fn is_transient(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT)
}

/// A whole response.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) status: StatusCode,
    #[cfg_attr(not(feature = "client"), allow(dead_code, reason = "only token endpoints give nonces"))]
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Sends requests to URLs that a server names. A clone shares the client.
#[derive(Clone)]
pub(crate) struct Fetcher {
    http: Arc<dyn HttpClient>,
    policy: AddressPolicy,
    limit: usize,
    timeout: Duration,
}

impl Fetcher {
    pub(crate) fn new(
        http: Arc<dyn HttpClient>,
        policy: AddressPolicy,
        limit: usize,
        timeout: Duration,
    ) -> Self {
        Self { http, policy, limit, timeout }
    }

    /// How long a response may take.
    #[cfg(feature = "server")]
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Sends a request. Any status but a redirect is a response.
    pub(crate) async fn send(&self, request: Request<Bytes>) -> Result<Fetched, FetchError> {
        let url = shown(request.uri());
        let after = self.timeout;
        let sent = tokio::time::timeout(after, self.send_untimed(request, &url)).await;
        sent.unwrap_or(Err(FetchError::TimedOut { url, after }))
    }

    async fn send_untimed(&self, request: Request<Bytes>, url: &str) -> Result<Fetched, FetchError> {
        let url = || url.to_owned();
        let refused =
            |why: crate::address::RefusedUrl| FetchError::Refused { url: url(), why: why.to_string() };
        self.policy.check(request.uri()).await.map_err(refused)?;
        let unreachable = |cause| FetchError::Unreachable { url: url(), cause };
        let response = self.http.send(request).await.map_err(unreachable)?;
        let (head, mut pieces) = response.into_parts();
        if head.status.is_redirection() {
            let location = head.headers.get(LOCATION).map(HeaderValue::as_bytes).unwrap_or_default();
            // A query may hold secrets.
            let location = location.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or_default();
            let location = String::from_utf8_lossy(&location[..location.len().min(512)]).into_owned();
            return Err(FetchError::Redirected { url: url(), location });
        }
        let mut body = BytesMut::new();
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(unreachable)?;
            if body.len() + piece.len() > self.limit {
                return Err(FetchError::TooLong { url: url(), limit: self.limit });
            }
            body.extend_from_slice(&piece);
        }
        Ok(Fetched { status: head.status, headers: head.headers, body: body.freeze() })
    }

    /// Fetches a document of JSON.
    pub(crate) async fn get_json<T: DeserializeOwned>(&self, url: &str) -> Result<T, FetchError> {
        let invalid = |why: &str| FetchError::Refused { url: url.to_owned(), why: why.to_owned() };
        let uri: Uri = url.parse().map_err(|_| invalid("it is not a URL"))?;
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = uri;
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
        let fetched = self.send(request).await?;
        if !fetched.status.is_success() {
            return Err(FetchError::Status { url: url.to_owned(), status: fetched.status });
        }
        if !is_object(&fetched.body) {
            return Err(FetchError::NotJson { url: url.to_owned() });
        }
        read_json(&fetched.body)
            .map_err(|error| FetchError::Invalid { url: url.to_owned(), why: error.to_string() })
    }
}

/// Reads a JSON object, also after a byte order mark. Derived code would also accept an array, as members by position.
pub(crate) fn read_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, serde_json::Error> {
    if !is_object(body) {
        return Err(serde::de::Error::custom("it is not a JSON object"));
    }
    agentwire_jsonrpc::read_bytes(body)
}

/// Whether a body begins like an object. A web application may answer every path with its page.
fn is_object(body: &[u8]) -> bool {
    body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start().starts_with(b"{")
}

/// A URL without its query, which may hold secrets.
fn shown(url: &Uri) -> String {
    let text = url.to_string();
    text.split('?').next().unwrap_or_default().to_owned()
}
