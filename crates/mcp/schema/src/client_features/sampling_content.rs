//! The content blocks of sampling messages, including `tool_use` and `tool_result`. An unknown block type is kept as raw JSON.

use agentwire_jsonrpc::{RawJson, RawObject};
use agentwire_wire_derive::Wire;

use crate::{AudioContent, ContentBlock, ImageContent, JsonObject, Meta, TextContent};

/// One piece of a conversation with the client's model.
///
/// A kind that we do not know is kept as it came.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type", without_schema)]
#[non_exhaustive]
pub enum SamplingContent {
    /// Text.
    #[wire("text", from)]
    Text(TextContent),
    /// A picture.
    #[wire("image", from)]
    Image(ImageContent),
    /// A sound. Since 2025-03-26.
    #[wire("audio", from)]
    Audio(AudioContent),
    /// A request of the model to use a tool. Since 2025-11-25.
    #[wire("tool_use", from)]
    ToolUse(ToolUseContent),
    /// The result of the use of a tool. Since 2025-11-25.
    #[wire("tool_result", from)]
    ToolResult(ToolResultContent),
    /// A block of a kind that this version of the library does not know, `type` included.
    #[wire(unknown)]
    Unknown(RawObject),
}

impl SamplingContent {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// The text, if it is a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }
}

impl From<&str> for SamplingContent {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for SamplingContent {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// A request of the model to use a tool, a `tool_use` block. Since 2025-11-25.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[wire(tag = "type", value = "tool_use")]
#[non_exhaustive]
pub struct ToolUseContent {
    /// The id of this use; the result repeats it.
    #[wire(required)]
    pub id: String,
    /// The tool's name.
    #[wire(required)]
    pub name: String,
    /// The tool's arguments.
    #[wire(required)]
    pub input: JsonObject,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl ToolUseContent {
    /// The use `id` of the tool `name` with these arguments.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: JsonObject) -> Self {
        Self { id: id.into(), name: name.into(), input, meta: None }
    }
}

setters!(ToolUseContent {
    some meta: Meta,
});

/// The result of using a tool, a `tool_result` block. Since 2025-11-25.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type", value = "tool_result")]
#[non_exhaustive]
pub struct ToolResultContent {
    /// The id of the use.
    #[wire(required)]
    pub tool_use_id: String,
    /// The answer for the model.
    #[wire(default_list)]
    pub content: Vec<ContentBlock>,
    /// The answer for programs, an object.
    #[wire(optional, schema(with = "Option<serde_json::Value>"))]
    pub structured_content: Option<RawJson>,
    /// Whether the tool failed.
    #[wire(flag)]
    pub is_error: bool,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl ToolResultContent {
    /// The result of the use with this id.
    pub fn new(tool_use_id: impl Into<String>, content: Vec<ContentBlock>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content,
            structured_content: None,
            is_error: false,
            meta: None,
        }
    }
}

setters!(ToolResultContent {
    some structured_content: RawJson,
    set is_error: bool,
    some meta: Meta,
});

has_meta!(ToolUseContent, ToolResultContent);
