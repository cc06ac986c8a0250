//! The errors of the commands, and how they are printed: a sentence on stderr, or a line of JSON.

use std::fmt;

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_client::HandshakeError;
use agentwire_mcp_hub::ConnectError;
use agentwire_peer::CallError;
use agentwire_transport_http::client::HttpError;
use serde::Serialize;

use crate::text::beginning;

/// An error of the command line that no single argument shows.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// A failure that stdout already has as JSON.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct AlreadyPrinted(pub(crate) anyhow::Error);

/// The tool reports that it failed. Its result is printed already.
#[derive(Debug, thiserror::Error)]
#[error("the tool failed")]
pub(crate) struct ToolFailed;

/// A failed call, and what to do about it.
#[derive(Debug)]
pub(crate) struct Explained {
    error: CallError,
    hint: String,
}

impl Explained {
    pub(crate) fn new(error: CallError, hint: String) -> Self {
        Self { error, hint }
    }
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.error, self.hint)
    }
}

impl std::error::Error for Explained {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// An error out of a closure that may fail with anything, as what it was before it was boxed: only so does it
/// say later which kind it is.
pub(crate) fn unboxed(error: Box<dyn std::error::Error + Send + Sync>) -> anyhow::Error {
    fn known<E: std::error::Error + Send + Sync + 'static>(
        error: Box<dyn std::error::Error + Send + Sync>,
    ) -> Result<anyhow::Error, Box<dyn std::error::Error + Send + Sync>> {
        error.downcast::<E>().map(|error| anyhow::Error::new(*error))
    }
    known::<CallError>(error)
        .or_else(known::<Explained>)
        .or_else(known::<HandshakeError>)
        .or_else(known::<ConnectError>)
        .or_else(known::<ToolFailed>)
        .unwrap_or_else(anyhow::Error::from_boxed)
}

/// How many bytes of what a failure says are shown.
const SHOWN: usize = 16 << 10;

/// A failure and its causes as a sentence, as far as they are not too long. A cause that the words before it tell already is
/// not told again.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut sentence = beginning(error, SHOWN);
    for cause in error.chain().skip(1).map(|cause| beginning(cause, SHOWN)) {
        if !sentence.contains(&cause) {
            sentence = format!("{sentence}: {cause}");
        }
    }
    sentence
}

/// A failure as an object: what the other side said, where it was the other side.
pub(crate) fn to_json(error: &anyhow::Error) -> impl Serialize + use<'_> {
    /// It is written and never made a `Value`: what the other side said may hold numbers that no `Value` can.
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Failure<'a> {
        Refused { error: &'a ErrorObject, message: String },
        Other { error: Plain },
    }

    #[derive(Serialize)]
    struct Plain {
        code: (),
        message: String,
    }

    match error.chain().find_map(refusal) {
        Some(refusal) => Failure::Refused { error: refusal, message: beginning(error, SHOWN) },
        None => Failure::Other { error: Plain { code: (), message: sentence(error) } },
    }
}

/// The error of JSON-RPC that the other side gave: as the answer to a call, or with a status of HTTP.
fn refusal<'a>(cause: &'a (dyn std::error::Error + 'static)) -> Option<&'a ErrorObject> {
    if let Some(HttpError::Refused(refusal)) = cause.downcast_ref() {
        return refusal.error.as_ref();
    }
    let call = cause.downcast_ref::<CallError>().or(match cause.downcast_ref() {
        Some(HandshakeError::Call(call)) => Some(call),
        _ => None,
    });
    call.and_then(CallError::refusal)
}
