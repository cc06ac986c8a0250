use agentwire_jsonrpc::{RawJson, RawObject};
use serde::Serialize;

use crate::wire::{is_false, null_as_default};
use crate::{AudioContent, ContentBlock, ImageContent, JsonObject, Meta, TextContent};

/// One piece of a conversation with the client's model.
///
/// A kind that we do not know is kept as it came.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SamplingContent {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// A sound. Since 2025-03-26.
    Audio(AudioContent),
    /// The model wants a tool to be used. Since 2025-11-25.
    ToolUse(ToolUseContent),
    /// What came of using it. Since 2025-11-25.
    ToolResult(ToolResultContent),
    /// A block of a kind that this version of the library does not know, `type` included.
    Unknown(RawObject),
}

tagged_union!(SamplingContent by "type" {
    "text" => Text,
    "image" => Image,
    "audio" => Audio,
    "tool_use" => ToolUse,
    "tool_result" => ToolResult,
    _ => Unknown
});

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

macro_rules! from_blocks {
    ($( $block:ident => $variant:ident, )+) => {
        $(
            impl From<$block> for SamplingContent {
                fn from(block: $block) -> Self {
                    Self::$variant(block)
                }
            }
        )+
    };
}

from_blocks! {
    TextContent => Text,
    ImageContent => Image,
    AudioContent => Audio,
    ToolUseContent => ToolUse,
    ToolResultContent => ToolResult,
}

object! {
    /// The model wants a tool to be used, a `tool_use` block. Since 2025-11-25.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(tag = "type", rename = "tool_use", rename_all = "camelCase")]
    #[cfg_attr(
        feature = "schema",
        schemars(rename = "ToolUseContent", transform = crate::schema::Tag("type", "tool_use"))
    )]
    #[non_exhaustive]
    pub struct ToolUseContent {
        /// Names this use; the result says it again.
        pub id: String,
        /// The tool's name.
        pub name: String,
        /// The tool's arguments.
        pub input: JsonObject,
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

impl ToolUseContent {
    /// That use of that tool.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: JsonObject) -> Self {
        Self { id: id.into(), name: name.into(), input, meta: None }
    }
}

setters!(ToolUseContent {
    some meta: Meta,
});

object! {
    /// What came of using a tool, a `tool_result` block. Since 2025-11-25.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(tag = "type", rename = "tool_result", rename_all = "camelCase")]
    #[cfg_attr(
        feature = "schema",
        schemars(rename = "ToolResultContent", transform = crate::schema::Tag("type", "tool_result"))
    )]
    #[non_exhaustive]
    pub struct ToolResultContent {
        /// Which use it was.
        pub tool_use_id: String,
        /// The answer for the model.
        #[serde(default, deserialize_with = "null_as_default")]
        pub content: Vec<ContentBlock>,
        /// The answer for programs, an object.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Value>"))]
        pub structured_content: Option<RawJson>,
        /// Whether the tool failed.
        #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "is_false")]
        pub is_error: bool,
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

impl ToolResultContent {
    /// The result of that use.
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
