//! The errors of the commands, and how they are printed: a sentence on stderr, or a line of JSON.

use std::fmt;

use agentwire_jsonrpc::{ErrorObject, Printable};
use agentwire_mcp_client::HandshakeError;
use agentwire_mcp_hub::ConnectError;
use agentwire_peer::{BoxError, CallError};
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

/// The recorded program has ended with this exit code.
#[derive(Debug, thiserror::Error)]
#[error("the program ended with code {0}")]
pub(crate) struct ProgramEnded(pub(crate) u8);

/// A signal has ended the command. It has the exit code that a shell reports for a program which that signal kills.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted(pub(crate) u8);

/// A failed call, with a hint on what to do about it.
#[derive(Debug)]
pub(crate) struct ErrorWithHint {
    error: CallError,
    hint: String,
}

impl ErrorWithHint {
    pub(crate) fn new(error: CallError, hint: String) -> Self {
        Self { error, hint }
    }
}

impl fmt::Display for ErrorWithHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.error, self.hint)
    }
}

impl std::error::Error for ErrorWithHint {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Converts a boxed error. The known types are unboxed first, so that `downcast_ref` finds them later.
pub(crate) fn to_anyhow(error: BoxError) -> anyhow::Error {
    fn known<E: std::error::Error + Send + Sync + 'static>(
        error: BoxError,
    ) -> Result<anyhow::Error, BoxError> {
        error.downcast::<E>().map(anyhow::Error::new)
    }
    known::<CallError>(error)
        .or_else(known::<ErrorWithHint>)
        .or_else(known::<HandshakeError>)
        .or_else(known::<ConnectError>)
        .or_else(known::<ToolFailed>)
        .unwrap_or_else(|error| anyhow::Error::from_boxed(error.into_boxed()))
}

/// How many bytes of an error's text are shown.
const TEXT_LIMIT: usize = 16 << 10;

/// A failure and its causes as a sentence. A cause whose text the sentence has already is left out.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut sentence = beginning(error, TEXT_LIMIT);
    let escaped = |text: &str| Printable::new(text).to_string();
    for cause in error.chain().skip(1).map(|cause| beginning(cause, TEXT_LIMIT)) {
        // The error before it may have escaped its text.
        if !sentence.contains(&cause) && !escaped(&sentence).contains(&escaped(&cause)) {
            sentence = format!("{sentence}: {cause}");
        }
    }
    sentence
}

/// A failure as an object, with the peer's error where it was the peer that failed.
pub(crate) fn to_json(error: &anyhow::Error) -> impl Serialize + use<'_> {
    /// Serialized directly: the peer's error may have numbers that a `serde_json::Value` cannot hold.
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
        Some(refusal) => Failure::Refused { error: refusal, message: beginning(error, TEXT_LIMIT) },
        None => Failure::Other { error: Plain { code: (), message: sentence(error) } },
    }
}

/// The peer's JSON-RPC error: the answer to a call, or the body of an HTTP response.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_has_each_cause_once() {
        let refused = CallError::refused("m", ErrorObject::new(1, "\u{1b}[2Jno"));
        let error = anyhow::Error::new(ErrorWithHint::new(refused, "try again".into()));
        assert_eq!(sentence(&error), "m: the peer refused: ^[[2Jno (1); try again");
        let error = anyhow::Error::new(CallError::failed("m", "\u{1b}[2Jgone"));
        assert_eq!(sentence(&error), "m: ^[[2Jgone");
    }
}
