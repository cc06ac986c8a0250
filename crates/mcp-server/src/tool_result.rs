use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_schema::{CallToolResult, ContentBlock, JsonSchema};
use agentwire_peer::BoxError;
use serde::Serialize;

use crate::ToolError;
use crate::arguments::output_schema;

/// What a tool may give.
///
/// Text (`String`, `&str`), nothing (`()`), one or more [`ContentBlock`]s, a value in [`Structured`], a whole
/// [`CallToolResult`], or a `Result` of any of these and any error. What becomes a [`BoxError`] is an error: the model reads its
/// text, with its causes, unless it is or holds a [`ToolError`], an [`AskError`](crate::AskError) or an [`ErrorObject`].
#[diagnostic::on_unimplemented(
    message = "a tool cannot give `{Self}`",
    note = "give a `String`, `()`, `Structured<T>`, `CallToolResult`, or a `Result` of one of them and `BoxError`"
)]
pub trait IntoToolResult {
    /// The schema of the structured content, if there always is one.
    fn output_schema() -> Option<JsonSchema> {
        None
    }

    /// The answer to the call.
    ///
    /// # Errors
    ///
    /// Only where there is no answer that a model could use; see [`ToolError::protocol`].
    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject>;
}

/// A value for programs: it becomes the structured content, with its JSON as text beside it, and its type
/// becomes the tool's output schema.
///
/// Structured content is an object. A value whose JSON is none is answered as text alone, without a schema.
/// Clients older than 2025-06-18 see the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "it is written by its field, like any wrapper")]
pub struct Structured<T>(pub T);

impl<T: Serialize + schemars::JsonSchema> IntoToolResult for Structured<T> {
    fn output_schema() -> Option<JsonSchema> {
        output_schema::<T>()
    }

    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject> {
        CallToolResult::from_structured(&self.0)
            .or_else(|_not_an_object| serde_json::to_string(&self.0).map(CallToolResult::from_text))
            .map_err(ErrorObject::internal_error)
    }
}

impl IntoToolResult for CallToolResult {
    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject> {
        Ok(self)
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject> {
        Ok(CallToolResult::from_text(self))
    }
}

impl IntoToolResult for &str {
    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject> {
        Ok(CallToolResult::from_text(self))
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject> {
        Ok(CallToolResult::default())
    }
}

impl IntoToolResult for ContentBlock {
    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject> {
        Ok(CallToolResult::new(vec![self]))
    }
}

impl IntoToolResult for Vec<ContentBlock> {
    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject> {
        Ok(CallToolResult::new(self))
    }
}

impl<T: IntoToolResult, E: Into<BoxError>> IntoToolResult for Result<T, E> {
    fn output_schema() -> Option<JsonSchema> {
        T::output_schema()
    }

    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject> {
        match self {
            Ok(value) => value.into_tool_result(),
            Err(error) => ToolError::from(error.into()).into_answer(),
        }
    }
}
