//! Turns a refused request into an HTTP response: a status, and a JSON-RPC error as the body.

use std::borrow::Cow;

use agentwire_jsonrpc::{ErrorObject, Frame, Malformed, RequestId, code};
use agentwire_mcp_wire::{Revision, code as mcp_code};
use agentwire_store::StoreError;
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};

use crate::server::admission::bearer::Unauthorized;
use crate::server::admission::denied::Denied;
use crate::server::admission::quota::QuotaExceeded;
use crate::server::endpoint::drain::cut_error;
use crate::server::response::text::Text;
use crate::server::session::DeliverError;
use crate::server::session::session_table::NoSession;
use crate::server::{Body, EndpointConfig};

/// The refusal of a request: a status, and an error of JSON-RPC with the reason. Other endpoints beside an
/// [`Endpoint`](crate::server::Endpoint) refuse alike with it.
///
/// ```
/// use agentwire_transport_http::runtime::server::Refusal;
/// use http::StatusCode;
///
/// let refusal = Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path");
/// assert_eq!(refusal.into_response().status(), StatusCode::NOT_FOUND);
/// ```
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    id: RequestId,
    error: ErrorObject,
    header: Option<RefusalHeader>,
}

/// A header beside the usual ones.
#[derive(Debug)]
enum RefusalHeader {
    Allow(&'static str),
    WwwAuthenticate(Box<HeaderValue>),
}

impl Refusal {
    /// A refusal with the code `-32600` (invalid request), or `-32603` (internal error) where the status is a server error.
    /// MCP defines no code for a refused HTTP request, and since 2026-07-28 reserves the codes from -32000 to -32019.
    pub fn new(status: StatusCode, why: impl Into<Cow<'static, str>>) -> Self {
        let code = if status.is_server_error() { code::INTERNAL_ERROR } else { code::INVALID_REQUEST };
        Self { status, id: RequestId::NULL, error: ErrorObject::new(code, why), header: None }
    }

    /// A refusal with status 400 and that error, under the id of the request if one could be read, else
    /// [`RequestId::NULL`].
    pub fn error(id: RequestId, error: ErrorObject) -> Self {
        Self { status: StatusCode::BAD_REQUEST, id, error, header: None }
    }

    pub(crate) fn malformed(malformed: Malformed) -> Self {
        let id = malformed.intent.response_id().unwrap_or(RequestId::NULL);
        Self::error(id, malformed.error)
    }

    /// 405, and the methods that are allowed.
    pub fn method_not_allowed(allow: &'static str) -> Self {
        let refusal = Self::new(StatusCode::METHOD_NOT_ALLOWED, "the HTTP method is not allowed here");
        Self { header: Some(RefusalHeader::Allow(allow)), ..refusal }
    }

    pub(crate) fn no_session() -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "the Mcp-Session-Id header is missing; a session begins with initialize",
        )
    }

    /// 404: there is no such session, or it is another caller's.
    pub fn unknown_session() -> Self {
        Self::new(StatusCode::NOT_FOUND, "there is no such session, or it has ended")
    }

    /// `setter` is the setting of the server that raises the limit.
    pub(crate) fn busy(status: StatusCode, what: &str, limit: usize, setter: &str) -> Self {
        Self::new(
            status,
            format!(
                "there are as many {what} as the limit of {limit} allows; the server's `{setter}` raises it"
            ),
        )
    }

    /// 503: the unanswered requests and unread answers of this caller, or of all callers, take too much memory.
    pub(crate) fn too_many_bytes(full: QuotaExceeded) -> Self {
        let whose = if full.is_callers { "of this caller " } else { "" };
        let why = format!(
            "requests {whose}that have no answer yet, and answers that are not read, take the limit of {} bytes",
            full.limit
        );
        Self::new(StatusCode::SERVICE_UNAVAILABLE, why)
    }

    /// 503: the records of the sessions of this caller, or of all callers, take too much memory.
    pub(crate) fn too_many_records(full: QuotaExceeded) -> Self {
        let what = if full.is_callers { "records of this caller's sessions" } else { "records of sessions" };
        let why = format!("the {what} take the limit of {} bytes", full.limit);
        Self::new(StatusCode::SERVICE_UNAVAILABLE, why)
    }

    pub(crate) fn unknown_event() -> Self {
        Self::new(StatusCode::BAD_REQUEST, "nothing is remembered of the stream that Last-Event-ID names")
    }

    /// 503: the store that the nodes share cannot be used. The operator is warned.
    pub(crate) fn store(error: &StoreError, config: &EndpointConfig) -> Self {
        config.warnings.store(error);
        let why = match error {
            StoreError::Full(_) => {
                "there is no room for this in the store that the nodes of this server share"
            }
            _ => return Self::store_away(),
        };
        Self::new(StatusCode::SERVICE_UNAVAILABLE, why)
    }

    /// The same, for a caller that has warned the operator.
    pub(crate) fn store_away() -> Self {
        let why = "the store that the nodes of this server share cannot be used at present";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, why)
    }

    /// 503: the session has just left this node, or other nodes change it all the time. It may be loaded again.
    pub(crate) fn elsewhere() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the session is not at this node at present")
    }

    /// 503: another node waits for what the client has sent, and nodes with sealed sessions do not know each other.
    pub(crate) fn asked_elsewhere() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the request that this answers is not one of this node")
    }

    pub(crate) fn in_flight(id: RequestId) -> Self {
        Self::error(id, ErrorObject::invalid_request("a request with this id has not been answered yet"))
    }

    /// 500: the service of a request has ended without an answer.
    pub(crate) fn unanswered() -> Self {
        let refusal =
            Self::error(RequestId::NULL, ErrorObject::internal_error("the request was not answered"));
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, ..refusal }
    }

    /// 500: no task serves the sessions of the endpoint.
    pub(crate) fn not_running() -> Self {
        let why = "no task serves the sessions of this endpoint: spawn `endpoint.run()` beside the web server, or pass the \
                   endpoint to `serve`";
        let refusal = Self::error(RequestId::NULL, ErrorObject::internal_error(why));
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, ..refusal }
    }

    /// 503: the request has not been answered within the grace of a shutdown.
    pub(crate) fn cut() -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, ..Self::error(RequestId::NULL, cut_error()) }
    }

    /// 503: the server is shutting down.
    pub fn closing() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down")
    }

    pub(crate) fn header_mismatch(id: RequestId, why: impl Into<Cow<'static, str>>) -> Self {
        Self::error(id, ErrorObject::new(mcp_code::HEADER_MISMATCH, why))
    }

    /// 400: the endpoint does not speak a revision. The error lists those that it speaks.
    pub(crate) fn unsupported_version(config: &EndpointConfig, id: RequestId, requested: &str) -> Self {
        let is_served =
            |revision: &&Revision| revision.has_streamable_http() && config.era.includes(**revision);
        let supported: Vec<_> =
            Revision::ALL.iter().filter(is_served).map(|revision| revision.as_str()).collect();
        let data = serde_json::json!({ "supported": supported, "requested": requested });
        let error = ErrorObject::new(
            mcp_code::UNSUPPORTED_PROTOCOL_VERSION,
            "this protocol version is not supported here",
        );
        Self::error(id, error.with_data(&data))
    }

    /// The same under the id of a request, unless it has one.
    #[must_use]
    pub fn under(mut self, id: RequestId) -> Self {
        if self.id.is_null() {
            self.id = id;
        }
        self
    }

    /// The HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// The JSON-RPC error of the refusal.
    pub(crate) fn into_error(self) -> ErrorObject {
        self.error
    }

    /// The response, with a body of JSON.
    pub fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::text(error_text(self.id, self.error), None));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let header = self.header.map(|header| match header {
            RefusalHeader::Allow(methods) => (ALLOW, HeaderValue::from_static(methods)),
            RefusalHeader::WwwAuthenticate(challenge) => (WWW_AUTHENTICATE, *challenge),
        });
        headers.extend(header);
        if matches!(self.status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

impl From<QuotaExceeded> for Refusal {
    fn from(full: QuotaExceeded) -> Self {
        Self::too_many_bytes(full)
    }
}

impl From<NoSession> for Refusal {
    fn from(no_session: NoSession) -> Self {
        match no_session {
            NoSession::Closed => Self::closing(),
            NoSession::TooMany(full) => {
                let what = if full.is_callers { "sessions of this caller" } else { "sessions" };
                let setter = if full.is_callers { "caller_session_limit" } else { "session_limit" };
                Self::busy(StatusCode::SERVICE_UNAVAILABLE, what, full.limit, setter)
            }
        }
    }
}

impl From<Denied> for Refusal {
    fn from(denied: Denied) -> Self {
        let refusal = Self::new(denied.status, denied.reason);
        Self { header: denied.challenge.map(RefusalHeader::WwwAuthenticate), ..refusal }
    }
}

impl From<Unauthorized> for Refusal {
    fn from(unauthorized: Unauthorized) -> Self {
        let (challenge, why) = match unauthorized {
            Unauthorized::Missing => ("Bearer", "a bearer token is needed"),
            Unauthorized::Invalid => (r#"Bearer error="invalid_token""#, "the bearer token is not valid"),
            Unauthorized::Panicked => return Self::unanswered(),
            Unauthorized::Denied(denied) => return denied.into(),
        };
        let denied = Denied::new(StatusCode::UNAUTHORIZED, why);
        denied.with_challenge(HeaderValue::from_static(challenge)).into()
    }
}

impl From<DeliverError> for Refusal {
    fn from(error: DeliverError) -> Self {
        match error {
            DeliverError::Gone => Self::unknown_session(),
            DeliverError::InFlight(id) => Self::in_flight(id),
            DeliverError::Away => Self::elsewhere(),
            DeliverError::NoEvent => Self::unknown_event(),
            DeliverError::TooMany(limit) => {
                let what = "unanswered requests or open streams of the session";
                Self::busy(StatusCode::TOO_MANY_REQUESTS, what, limit, "stream_limit")
            }
        }
    }
}

/// An error response. Its id is absent if none could be read, as the schemas since 2025-11-25 require.
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
