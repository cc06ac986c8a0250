//! The reason and the HTTP status with which a check of the request refuses it.

use std::borrow::Cow;

use http::{HeaderValue, StatusCode};

/// Why a request is not served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct Denied {
    /// The status to answer with.
    pub status: StatusCode,
    /// The fault of the request.
    pub reason: Cow<'static, str>,
    /// The value of `WWW-Authenticate`, which names the required credentials.
    pub challenge: Option<Box<HeaderValue>>,
}

impl Denied {
    /// A status, and a reason for it.
    pub fn new(status: StatusCode, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { status, reason: reason.into(), challenge: None }
    }

    /// The same with a value of `WWW-Authenticate`, which names the required credentials.
    #[must_use]
    pub fn with_challenge(mut self, challenge: HeaderValue) -> Self {
        self.challenge = Some(Box::new(challenge));
        self
    }

    /// 413: a body is longer than `limit` bytes.
    pub fn too_long(limit: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is longer than the limit of {limit} bytes"),
        )
    }
}
