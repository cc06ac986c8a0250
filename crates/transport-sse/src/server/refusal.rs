use std::borrow::Cow;

use agentwire_jsonrpc::{ErrorObject, Frame, Intent, Malformed, RequestId};
use agentwire_transport_http::server::{Body, Denied, NoSession, QuotaExceeded};
use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};

/// What the errors of the transport itself are called.
const REFUSED: i64 = -32000;

/// Why a request is not served: a status, and an error that says more.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    id: RequestId,
    error: ErrorObject,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, why: impl Into<Cow<'static, str>>) -> Self {
        Self { status, id: RequestId::NULL, error: ErrorObject::new(REFUSED, why) }
    }

    /// An error of JSON-RPC, under an id where one could be read.
    pub(crate) fn error(id: RequestId, error: ErrorObject) -> Self {
        Self { status: StatusCode::BAD_REQUEST, id, error }
    }

    pub(crate) fn malformed(malformed: Malformed) -> Self {
        let id = match malformed.intent {
            Intent::Request(id) => id,
            _ => RequestId::NULL,
        };
        Self::error(id, malformed.error)
    }

    pub(crate) fn unknown_session() -> Self {
        Self::new(StatusCode::NOT_FOUND, "there is no such session, or it has ended")
    }

    pub(crate) fn closing() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down")
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::from(error_text(self.id, self.error)));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        match self.status {
            StatusCode::METHOD_NOT_ALLOWED => {
                headers.insert(ALLOW, HeaderValue::from_static("GET, POST"));
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}

impl From<NoSession> for Refusal {
    fn from(no_session: NoSession) -> Self {
        match no_session {
            NoSession::TooMany(full) => {
                let whose = if full.is_callers { " of this caller" } else { "" };
                let why = format!("there are as many sessions{whose} as the limit of {} allows", full.limit);
                Self::new(StatusCode::SERVICE_UNAVAILABLE, why)
            }
            _ => Self::closing(),
        }
    }
}

impl From<QuotaExceeded> for Refusal {
    fn from(full: QuotaExceeded) -> Self {
        let whose = if full.is_callers { " of this caller" } else { "" };
        let why = format!("messages{whose} that wait take the limit of {} bytes", full.limit);
        Self::new(StatusCode::SERVICE_UNAVAILABLE, why)
    }
}

impl From<Denied> for Refusal {
    fn from(denied: Denied) -> Self {
        Self::new(denied.status, denied.reason)
    }
}

/// An error response. Without an id that could be read it has none.
fn error_text(id: RequestId, error: ErrorObject) -> Bytes {
    if !id.is_null() {
        let mut text = Vec::new();
        Frame::Malformed(Malformed::request(id, error)).write(&mut text);
        return text.into();
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
