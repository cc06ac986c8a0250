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
pub struct ToolError(pub(crate) Kind);

pub(crate) enum Kind {
    Result(CallToolResult),
    Protocol(ErrorObject),
}

impl ToolError {
    /// The tool failed, for the reason that the text gives to the model.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Kind::Result(CallToolResult::from_error(text)))
    }

    /// The tool failed and has more to show than text.
    pub fn content(content: Vec<ContentBlock>) -> Self {
        Self(Kind::Result(CallToolResult::new(content).is_error(true)))
    }

    /// The call is answered with an error of the protocol, which models rarely see.
    pub fn protocol(error: ErrorObject) -> Self {
        Self(Kind::Protocol(error))
    }
}

/// Where the error knows what caused it and says so in the form `{:#}`, the model reads that too.
impl<E: fmt::Display> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::new(format!("{error:#}"))
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Result(result) => f.debug_tuple("ToolError").field(&result.text()).finish(),
            Kind::Protocol(error) => f.debug_tuple("ToolError").field(error).finish(),
        }
    }
}
