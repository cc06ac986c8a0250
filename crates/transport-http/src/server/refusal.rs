use std::borrow::Cow;

use agentwire_jsonrpc::{ErrorObject, Frame, Intent, Malformed, RequestId};
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};

use crate::revision::Revision;
use crate::server::response_stream::{HEADER_MISMATCH, UNSUPPORTED_VERSION};
use crate::server::text::Text;
use crate::server::{Body, Config, NoSession, QuotaExceeded};

/// What the errors of the transport itself are called.
const REFUSED: i64 = -32000;

/// Why a request is not served: a status, and an error that says more.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    id: RequestId,
    error: ErrorObject,
    allow: Option<&'static str>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, why: impl Into<Cow<'static, str>>) -> Self {
        Self { status, id: RequestId::NULL, error: ErrorObject::new(REFUSED, why), allow: None }
    }

    /// An error of JSON-RPC, under an id where one could be read.
    pub(crate) fn error(id: RequestId, error: ErrorObject) -> Self {
        Self { status: StatusCode::BAD_REQUEST, id, error, allow: None }
    }

    pub(crate) fn malformed(malformed: Malformed) -> Self {
        let id = match malformed.intent {
            Intent::Request(id) => id,
            _ => RequestId::NULL,
        };
        Self::error(id, malformed.error)
    }

    pub(crate) fn method_not_allowed(allow: &'static str) -> Self {
        let refusal = Self::new(StatusCode::METHOD_NOT_ALLOWED, "the HTTP method is not allowed here");
        Self { allow: Some(allow), ..refusal }
    }

    pub(crate) fn too_long(limit: usize) -> Self {
        let why = format!("the body is longer than the limit of {limit} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, why)
    }

    pub(crate) fn no_session() -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "the Mcp-Session-Id header is missing; a session begins with initialize",
        )
    }

    pub(crate) fn unknown_session() -> Self {
        Self::new(StatusCode::NOT_FOUND, "there is no such session, or it has ended")
    }

    pub(crate) fn busy(status: StatusCode, what: &str, limit: usize) -> Self {
        Self::new(status, format!("there are as many {what} as the limit of {limit} allows"))
    }

    /// The requests that are read or unanswered, and the answers that are not read, of this caller or of all, take too much
    /// memory.
    pub(crate) fn too_many_bytes(full: QuotaExceeded) -> Self {
        let whose = if full.is_callers { "of this caller " } else { "" };
        let why = format!(
            "requests {whose}that have no answer yet, and answers that are not read, take the limit of {} bytes",
            full.limit
        );
        Self::new(StatusCode::SERVICE_UNAVAILABLE, why)
    }

    pub(crate) fn unknown_event() -> Self {
        Self::new(StatusCode::BAD_REQUEST, "nothing is remembered of the stream that Last-Event-ID names")
    }

    pub(crate) fn in_flight(id: RequestId) -> Self {
        Self::error(id, ErrorObject::invalid_request("a request with this id has not been answered yet"))
    }

    /// The service of a request has ended without an answer.
    pub(crate) fn unanswered() -> Self {
        let refusal =
            Self::error(RequestId::NULL, ErrorObject::internal_error("the request was not answered"));
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, ..refusal }
    }

    pub(crate) fn closing() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down")
    }

    pub(crate) fn header_mismatch(id: RequestId, why: impl Into<Cow<'static, str>>) -> Self {
        Self::error(id, ErrorObject::new(HEADER_MISMATCH, why))
    }

    /// The endpoint does not speak a revision; says which it does.
    pub(crate) fn unsupported_version(config: &Config, id: RequestId, requested: &str) -> Self {
        let served = |revision: &Revision| match revision {
            Revision::November2024 => false,
            revision if revision.is_stateless() => config.stateless,
            _ => config.sessions,
        };
        let supported: Vec<_> = Revision::ALL.into_iter().filter(served).map(Revision::as_str).collect();
        let data = serde_json::json!({ "supported": supported, "requested": requested });
        let error = ErrorObject::new(UNSUPPORTED_VERSION, "this protocol version is not supported here");
        Self::error(id, error.with_data(&data))
    }

    /// The same under the id of a request, unless it has one.
    pub(crate) fn under(mut self, id: RequestId) -> Self {
        if self.id.is_null() {
            self.id = id;
        }
        self
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::text(error_text(self.id, self.error), None));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(allow) = self.allow {
            headers.insert(ALLOW, HeaderValue::from_static(allow));
        }
        if matches!(self.status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

impl From<NoSession> for Refusal {
    fn from(no_session: NoSession) -> Self {
        match no_session {
            NoSession::Closed => Self::closing(),
            NoSession::TooMany(full) => {
                let what = if full.is_callers { "sessions of this caller" } else { "sessions" };
                Self::busy(StatusCode::SERVICE_UNAVAILABLE, what, full.limit)
            }
        }
    }
}

/// An error response. Without an id that could be read it has none, which the schemas since 2025-11-25 want.
fn error_text(id: RequestId, error: ErrorObject) -> Text {
    if !id.is_null() {
        return Text::of(&Frame::Malformed(Malformed::request(id, error)));
    }
    #[derive(serde::Serialize)]
    struct WithoutId {
        jsonrpc: &'static str,
        error: ErrorObject,
    }
    let text =
        serde_json::to_vec(&WithoutId { jsonrpc: "2.0", error }).expect("an error object has a JSON form");
    text.into()
}
