use std::fmt;

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_schema::{CallToolResult, ContentBlock};

/// Why a tool has no result.
///
/// Usually it is what the model sees: a result with `isError`, from which it can learn and try again. Anything
/// that can be displayed becomes one with `?`. The rare error that means "there was no such call" is made with
/// [`protocol`](Self::protocol).
///
/// It is not itself an [`Error`](std::error::Error), because then `?` could not make it from all of them.
pub struct ToolError(pub(crate) ToolErrorKind);

pub(crate) enum ToolErrorKind {
    Result(CallToolResult),
    Protocol(ErrorObject),
}

impl ToolError {
    /// The tool failed, for the reason that the text gives to the model.
    pub fn new(text: impl Into<String>) -> Self {
        Self(ToolErrorKind::Result(CallToolResult::from_error(text)))
    }

    /// The tool failed and has more to show than text.
    pub fn content(content: Vec<ContentBlock>) -> Self {
        Self(ToolErrorKind::Result(CallToolResult::new(content).is_error(true)))
    }

    /// The call is answered with an error of the protocol, which models rarely see.
    pub fn protocol(error: ErrorObject) -> Self {
        Self(ToolErrorKind::Protocol(error))
    }
}

/// The text is that of `{:#}`, which includes the causes for some error types.
impl<E: fmt::Display> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::new(format!("{error:#}"))
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ToolErrorKind::Result(result) => f.debug_tuple("ToolError").field(&result.text()).finish(),
            ToolErrorKind::Protocol(error) => f.debug_tuple("ToolError").field(error).finish(),
        }
    }
}
