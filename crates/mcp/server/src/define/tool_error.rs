//! The error of a tool, and how an error of any type is answered.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use agentwire_jsonrpc::{ErrorObject, Printable, WithCauses};
use agentwire_mcp_schema::{CallToolResult, ContentBlock};
use agentwire_peer::{BoxError, CallError, Closed};

use crate::AskError;

/// Why a tool has no result, for a function that distinguishes what the model reads from errors of the protocol.
///
/// A function may return any error. Its text, with its causes, is what the model reads: a result with `isError`, from which
/// it can learn and try again. A `ToolError` has more: [`content`](Self::content) shows other things than text, and
/// [`protocol`](Self::protocol) answers the call with a JSON-RPC error. It may be wrapped: it is found among the sources of
/// an error, and in an `anyhow::Error`.
///
/// `?` makes one of text, of a [`BoxError`], of [`CallError`] and [`AskError`], and of the usual errors of the standard library.
/// A function with other errors returns `Result<_, BoxError>`.
///
/// ```
/// use agentwire_mcp_server::{BoxError, ErrorObject, Server, ToolError};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Read {
///     path: String,
/// }
///
/// async fn read(Read { path }: Read) -> Result<String, BoxError> {
///     if path.contains("..") {
///         return Err(ToolError::protocol(ErrorObject::invalid_params("no parent folders")).into());
///     }
///     Ok(std::fs::read_to_string(path)?) // the model reads why it fails
/// }
///
/// let server = Server::new("files", "1.0.0").tool("read", "Read a file", read);
/// # let _ = server;
/// ```
pub struct ToolError(ToolFailure);

enum ToolFailure {
    Content(FailedResult),
    Protocol(ErrorObject),
    Other(BoxError),
}

impl ToolError {
    /// The tool failed, for the reason that the text gives to the model.
    pub fn new(text: impl Into<String>) -> Self {
        Self(ToolFailure::Other(text.into().into()))
    }

    /// The tool failed and has more to show than text.
    pub fn content(content: Vec<ContentBlock>) -> Self {
        Self(ToolFailure::Content(FailedResult(CallToolResult::new(content).is_error(true))))
    }

    /// The call is answered with an error of the protocol, which models rarely see.
    pub fn protocol(error: ErrorObject) -> Self {
        Self(ToolFailure::Protocol(error))
    }

    /// The answer to the call.
    ///
    /// # Errors
    ///
    /// An error of the protocol, which is in the error or among its sources.
    pub(crate) fn into_answer(self) -> Result<CallToolResult, ErrorObject> {
        match self.0 {
            ToolFailure::Content(FailedResult(result)) => Ok(result),
            ToolFailure::Protocol(error) => Err(error),
            ToolFailure::Other(error) => {
                answer_of(&error).unwrap_or_else(|| Ok(CallToolResult::from_error(error.message())))
            }
        }
    }

    fn answer(&self) -> Option<Result<CallToolResult, ErrorObject>> {
        match &self.0 {
            ToolFailure::Content(FailedResult(result)) => Some(Ok(result.clone())),
            ToolFailure::Protocol(error) => Some(Err(error.clone())),
            ToolFailure::Other(error) => answer_of(error),
        }
    }
}

/// The answer that an error holds, itself or as a source. `None` if its text is the answer.
///
/// A refusal of another peer is text: it is not an answer to this call.
pub(crate) fn answer_of(error: &BoxError) -> Option<Result<CallToolResult, ErrorObject>> {
    for error in error.chain() {
        if let Some(error) = error.downcast_ref::<ToolError>() {
            return error.answer();
        }
        if let Some(FailedResult(result)) = error.downcast_ref() {
            return Some(Ok(result.clone()));
        }
        if let Some(error) = error.downcast_ref::<ErrorObject>() {
            return Some(Err(error.clone()));
        }
        if error.is::<CallError>() {
            return None;
        }
    }
    None
}

impl Error for ToolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            // `anyhow` hides an error that it holds, but not its sources.
            ToolFailure::Content(result) => Some(result),
            ToolFailure::Protocol(error) => Some(error),
            ToolFailure::Other(error) => error.as_error().source(),
        }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            // The source has the text.
            ToolFailure::Content(_) | ToolFailure::Protocol(_) => f.write_str("the tool failed"),
            ToolFailure::Other(error) => fmt::Display::fmt(error.as_error(), f),
        }
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolError").field(&WithCauses::new(self).to_string()).finish()
    }
}

/// A result with `isError`, as the source of an error.
#[derive(Debug)]
struct FailedResult(CallToolResult);

impl Error for FailedResult {}

impl fmt::Display for FailedResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0.text() {
            "" => f.write_str("its result has no text"),
            text => Printable::new(text).fmt(f),
        }
    }
}

impl From<BoxError> for ToolError {
    fn from(error: BoxError) -> Self {
        error.downcast().unwrap_or_else(|error| Self(ToolFailure::Other(error)))
    }
}

macro_rules! from {
    ($($error:ty)+) => {
        $(impl From<$error> for ToolError {
            fn from(error: $error) -> Self {
                BoxError::from(error).into()
            }
        })+
    };
}

from! {
    AskError CallError Closed ErrorObject Box<dyn Error + Send + Sync>
    &str String Cow<'_, str>
    fmt::Error std::io::Error serde_json::Error
    std::num::ParseFloatError std::num::ParseIntError std::num::TryFromIntError
    std::str::ParseBoolError std::str::Utf8Error std::string::FromUtf8Error
    std::time::SystemTimeError
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot save")]
    struct Wrapped(#[source] BoxedSource);

    type BoxedSource = Box<dyn Error + Send + Sync>;

    fn answer(error: impl Into<BoxError>) -> Result<CallToolResult, ErrorObject> {
        ToolError::from(error.into()).into_answer()
    }

    fn text(error: impl Into<BoxError>) -> String {
        let result = answer(error).expect("a result");
        assert!(result.is_error);
        result.text().into_owned()
    }

    #[test]
    fn the_model_reads_any_error_with_its_causes() {
        assert_eq!(text("no disk"), "no disk");
        assert_eq!(text(Wrapped("no disk".into())), "cannot save: no disk");
        assert_eq!(text(anyhow::anyhow!("no disk").context("cannot save")), "cannot save: no disk");
        assert_eq!(text("\u{1b}[1mred"), "\u{1b}[1mred", "a model is not a terminal");
        let parse = || -> Result<u8, ToolError> { Ok("x".parse::<u8>()?) };
        assert_eq!(text(parse().unwrap_err()), "invalid digit found in string");
    }

    #[test]
    fn a_tool_error_keeps_its_meaning_however_it_is_wrapped() {
        let protocol = || ToolError::protocol(ErrorObject::new(-32042, "go there first"));
        let expected = Err(ErrorObject::new(-32042, "go there first"));
        assert_eq!(answer(protocol()), expected);
        assert_eq!(answer(Wrapped(protocol().into())), expected);
        assert_eq!(answer(anyhow::Error::new(protocol()).context("cannot save")), expected);
        assert_eq!(answer(ToolError::from(BoxError::from(protocol()))), expected);
        assert_eq!(answer(ErrorObject::new(-32042, "go there first")), expected);

        let blocks = || vec![ContentBlock::image("AA==", "image/png")];
        for error in [
            BoxError::from(ToolError::content(blocks())),
            anyhow::Error::new(ToolError::content(blocks())).into(),
        ] {
            let result = answer(error).expect("a result");
            assert!(result.is_error && result.content == blocks());
        }
    }

    #[test]
    fn refusal_of_another_peer_is_text() {
        let refused = CallError::refused("m", ErrorObject::new(1, "no"));
        assert_eq!(text(refused), "m: refused: no (1)");
    }
}
