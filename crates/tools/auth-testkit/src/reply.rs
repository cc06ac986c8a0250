//! The server's reaction to a request: it answers, or it closes the connection.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

use crate::body::{AnswerBody, whole};

pub(crate) enum Reply {
    Answer(Response<AnswerBody>),
    /// Closes the connection without an answer.
    Close,
}

impl Reply {
    pub(crate) fn new(status: StatusCode, content_type: &'static str, body: AnswerBody) -> Self {
        let mut response = Response::new(body);
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        Self::Answer(response)
    }

    pub(crate) fn json(status: StatusCode, value: &Value) -> Self {
        let reply = Self::new(status, "application/json", whole(value.to_string()));
        reply.with(CACHE_CONTROL, "no-store")
    }

    pub(crate) fn ok(value: &Value) -> Self {
        Self::json(StatusCode::OK, value)
    }

    /// An error of OAuth (RFC 6749, 5.2).
    pub(crate) fn error(status: StatusCode, code: &str, description: &str) -> Self {
        Self::json(status, &json!({"error": code, "error_description": description}))
    }

    pub(crate) fn bad(code: &str, description: &str) -> Self {
        Self::error(StatusCode::BAD_REQUEST, code, description)
    }

    pub(crate) fn empty(status: StatusCode) -> Self {
        let mut response = Response::new(whole(""));
        *response.status_mut() = status;
        Self::Answer(response)
    }

    pub(crate) fn text(status: StatusCode, text: &'static str) -> Self {
        Self::new(status, "text/plain", whole(text))
    }

    /// A page where JSON is expected.
    pub(crate) fn page() -> Self {
        Self::new(StatusCode::OK, "text/html", whole("<!doctype html><title>Sign in</title>"))
    }

    /// 503 with `Retry-After: 1`.
    pub(crate) fn unavailable() -> Self {
        Self::text(StatusCode::SERVICE_UNAVAILABLE, "unavailable").with(RETRY_AFTER, "1")
    }

    pub(crate) fn redirect(status: StatusCode, location: &str) -> Self {
        Self::empty(status).with(LOCATION, location)
    }

    /// Adds a header, unless its value is none.
    pub(crate) fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let (Self::Answer(response), Ok(value)) = (&mut self, HeaderValue::from_str(value)) {
            response.headers_mut().append(name, value);
        }
        self
    }
}
