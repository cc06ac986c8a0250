//! Converts the value that a tool's function returns into the result of the call.

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_schema::{CallToolResult, ContentBlock, JsonSchema};
use agentwire_peer::BoxError;
use serde::Serialize;

use crate::ToolError;
use crate::decode::arguments::output_schema;

/// The result of a tool.
///
/// Text (`String`, `&str`), nothing (`()`), one or more [`ContentBlock`]s, a value in [`Structured`], also
/// [with](Structured::with) more content, a whole
/// [`CallToolResult`], or a `Result` of any of these and any error. What becomes a [`BoxError`] is an error: the model reads its
/// text, with its causes, unless it is or holds a [`ToolError`], an [`AskError`](crate::AskError) or an [`ErrorObject`].
#[diagnostic::on_unimplemented(
    message = "a tool cannot give `{Self}`",
    note = "give a `String`, `()`, `Structured<T>`, `CallToolResult`, or a `Result` of one of them and an error: `BoxError`, or what implements `std::error::Error`"
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

/// A value for programs: it becomes the structured content, and its type becomes the tool's output schema.
///
/// Beside it is one text block with the same JSON, as the specification advises: for models, and for clients older than
/// 2025-06-18, which have no structured content. [`with`](Self::with) adds blocks behind that text. Structured content is an
/// object. A value whose JSON is none is answered as the text alone, without a schema.
///
/// ```
/// use agentwire_mcp_server::schema::ContentBlock;
/// use agentwire_mcp_server::{Server, Structured, StructuredWith};
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Plot {
///     points: usize,
/// }
///
/// async fn plot() -> StructuredWith<Plot> {
///     let png = b"\x89PNG\r\n";
///     Structured(Plot { points: 3 }).with(ContentBlock::image_bytes(png, "image/png"))
/// }
///
/// let server = Server::new("plots", "1.0.0").tool("plot", "Plot the points", plot);
/// # let _ = server;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "it is written by its field, like any wrapper")]
pub struct Structured<T>(pub T);

impl<T> Structured<T> {
    /// Adds a block of content behind the text: a picture, a link to a resource, a sentence for the model.
    #[must_use]
    pub fn with(self, block: impl Into<ContentBlock>) -> StructuredWith<T> {
        StructuredWith { value: self, content: vec![block.into()] }
    }
}

/// A [`Structured`] value with more content: the text with its JSON comes first, then the blocks in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct StructuredWith<T> {
    value: Structured<T>,
    content: Vec<ContentBlock>,
}

impl<T> StructuredWith<T> {
    /// Adds another block of content.
    #[must_use]
    pub fn with(mut self, block: impl Into<ContentBlock>) -> Self {
        self.content.push(block.into());
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + schemars::JsonSchema> IntoToolResult for StructuredWith<T> {
    fn output_schema() -> Option<JsonSchema> {
        output_schema::<T>()
    }

    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject> {
        let mut result = self.value.into_tool_result()?;
        result.content.extend(self.content);
        Ok(result)
    }
}

#[diagnostic::do_not_recommend]
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

#[diagnostic::do_not_recommend]
impl IntoToolResult for CallToolResult {
    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject> {
        Ok(CallToolResult::from_text(self))
    }
}

#[diagnostic::do_not_recommend]
impl IntoToolResult for &str {
    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject> {
        Ok(CallToolResult::from_text(self))
    }
}

#[diagnostic::do_not_recommend]
impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject> {
        Ok(CallToolResult::default())
    }
}

#[diagnostic::do_not_recommend]
impl IntoToolResult for ContentBlock {
    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject> {
        Ok(CallToolResult::new(vec![self]))
    }
}

#[diagnostic::do_not_recommend]
impl IntoToolResult for Vec<ContentBlock> {
    fn into_tool_result(self) -> Result<CallToolResult, ErrorObject> {
        Ok(CallToolResult::new(self))
    }
}

#[diagnostic::do_not_recommend]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_content_comes_behind_the_text() {
        #[derive(Serialize, schemars::JsonSchema)]
        struct Sum {
            sum: i64,
        }

        let value = Structured(Sum { sum: 42 })
            .with(ContentBlock::image_bytes([1, 2], "image/png"))
            .with("the answer");
        assert_eq!(StructuredWith::<Sum>::output_schema(), Structured::<Sum>::output_schema());
        let result = value.into_tool_result().expect("a result");
        let blocks = [
            ContentBlock::text(r#"{"sum":42}"#),
            ContentBlock::image("AQI=", "image/png"),
            "the answer".into(),
        ];
        assert_eq!(result.content, blocks);
        assert_eq!(result.structured_content.expect("structured").as_str(), r#"{"sum":42}"#);

        let text = Structured(42).with("the answer").into_tool_result().expect("a result");
        assert_eq!((text.text().as_ref(), &text.structured_content), ("42\nthe answer", &None), "no object");
    }
}
