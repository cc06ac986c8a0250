//! Responses over HTTP: a status alone, an error of JSON-RPC, or an event stream.

use agentwire_jsonrpc::{ErrorObject, Frame, Message, RequestId, Response as RpcResponse};
use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::{Either, Full};

use super::event_queue::EventBody;

/// The body of a response.
pub(super) type Body = Either<Full<Bytes>, EventBody>;

/// The header that names a connection.
pub(super) const CONNECTION_ID: &str = "acp-connection-id";
/// The header that names a session.
pub(super) const SESSION_ID: &str = "acp-session-id";

/// A response without a body.
pub(super) fn status(status: StatusCode) -> Response<Body> {
    with_body(status, Bytes::new())
}

/// A refusal, with an error of JSON-RPC for the request with that id, or for none.
pub(super) fn refusal(status: StatusCode, id: Option<&RequestId>, why: &'static str) -> Response<Body> {
    let id = id.cloned().unwrap_or(RequestId::NULL);
    json(status, &RpcResponse::new(id, Err(ErrorObject::invalid_request(why))).into())
}

/// A response with a message.
pub(super) fn json(status: StatusCode, message: &Message) -> Response<Body> {
    let mut text = Vec::new();
    message.write(&mut text);
    with_json(status, text)
}

/// A response with the answer to what is not a message.
pub(super) fn malformed(frame: &Frame) -> Response<Body> {
    let mut text = Vec::new();
    frame.write(&mut text);
    with_json(StatusCode::BAD_REQUEST, text)
}

/// A response that is an event stream.
pub(super) fn stream(body: EventBody) -> Response<Body> {
    let mut response = Response::new(Either::Right(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// The endpoint has no such method.
pub(super) fn not_allowed() -> Response<Body> {
    let mut response = status(StatusCode::METHOD_NOT_ALLOWED);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
    response
}

/// There are too many connections.
pub(super) fn full() -> Response<Body> {
    let mut response = status(StatusCode::SERVICE_UNAVAILABLE);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
    response
}

fn with_json(status: StatusCode, text: Vec<u8>) -> Response<Body> {
    let mut response = with_body(status, Bytes::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn with_body(status: StatusCode, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::new(body)));
    *response.status_mut() = status;
    response
}
