//! The params and result of `tools/call`. `CallToolParams` borrows from the message text, so that arguments are not copied.

use std::borrow::Cow;

use agentwire_jsonrpc::{Printable, RawJson, read};
use agentwire_wire_derive::Wire;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::content::join_lines;
use crate::tasks::core::TaskMetadata;
use crate::wire::{borrowed_object, encode_object, rare};
use crate::{ContentBlock, InputResponses, Meta};

/// Calls a tool.
///
/// The arguments stay JSON text, so that they are decoded once, into the type of the tool's function.
/// See <https://modelcontextprotocol.io/specification/2025-11-25/server/tools#calling-tools>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct CallToolRequest {
    /// The tool's name.
    #[wire(required)]
    pub name: String,
    /// Its arguments, an object. Absent means none.
    #[wire(raw_object, schema(with = "Option<crate::JsonObject>"))]
    pub arguments: Option<RawJson>,
    /// Asks to run it as a task. Only 2025-11-25.
    #[wire(optional)]
    pub task: Option<TaskMetadata>,
    /// The client's answers to an [`InputRequiredResult`](crate::InputRequiredResult). Since 2026-07-28.
    #[wire(optional, schema(with = "Option<crate::schema::InputResponsesSchema>"))]
    pub input_responses: Option<std::collections::BTreeMap<String, crate::InputResponse>>,
    /// The state from that result, returned without being read. Since 2026-07-28.
    #[wire(optional)]
    pub request_state: Option<String>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl CallToolRequest {
    /// Calls that tool without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: None,
            task: None,
            input_responses: None,
            request_state: None,
            meta: None,
        }
    }

    /// The same call with these arguments, encoded.
    ///
    /// # Errors
    ///
    /// When their JSON form is not an object.
    pub fn encode_arguments<T: Serialize + ?Sized>(
        mut self,
        arguments: &T,
    ) -> Result<Self, serde_json::Error> {
        self.arguments = Some(encode_object(arguments)?);
        Ok(self)
    }
}

setters!(CallToolRequest {
    some arguments: RawJson,
    some task: TaskMetadata,
    some input_responses: InputResponses,
    some request_state: String,
    some meta: Meta,
});

/// [`CallToolRequest`], borrowed from the message it came in.
///
/// For readers of calls: nothing is copied, however large the arguments are, and rare members are not decoded in advance.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(expecting = "an object")]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallToolParams<'a> {
    /// The tool's name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Its arguments, an object. Absent means none.
    #[serde(borrow, default, deserialize_with = "borrowed_object", skip_serializing_if = "Option::is_none")]
    pub arguments: Option<&'a RawValue>,
    /// The text of [`CallToolRequest::task`]. Only 2025-11-25.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub task: Option<&'a RawValue>,
    /// The text of [`CallToolRequest::input_responses`]. Since 2026-07-28.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<&'a RawValue>,
    /// The text of [`CallToolRequest::request_state`]. Since 2026-07-28.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub request_state: Option<&'a RawValue>,
    /// Extension metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl<'a> CallToolParams<'a> {
    /// The JSON text of the arguments; `{}` if they are absent.
    pub fn arguments_json(&self) -> &'a str {
        self.arguments.map_or("{}", RawValue::get)
    }

    /// The metadata of the task, if the call is to run as one.
    ///
    /// # Errors
    ///
    /// When the text has another form.
    #[inline]
    pub fn decode_task(&self) -> Result<Option<TaskMetadata>, serde_json::Error> {
        self.task.map(|task| read(task.get())).transpose()
    }

    /// The client's answers to an [`InputRequiredResult`](crate::InputRequiredResult), if it has sent some.
    ///
    /// # Errors
    ///
    /// When the text has another form.
    #[inline]
    pub fn decode_input_responses(&self) -> Result<Option<InputResponses>, serde_json::Error> {
        self.input_responses.map(|responses| read(responses.get())).transpose()
    }

    /// The state from that result, if the client has sent it back.
    ///
    /// # Errors
    ///
    /// When it is not a string.
    #[inline]
    pub fn decode_request_state(&self) -> Result<Option<String>, serde_json::Error> {
        self.request_state.map(|state| read(state.get())).transpose()
    }
}

/// The result of calling a tool.
///
/// A tool that failed answers with `is_error` and the reason in its content, where the model sees it. That is
/// not an error of the protocol, which means that the tool was not called. The structured content is text, not a tree
/// of values, so a large answer is copied once, into the message.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
pub struct CallToolResult {
    /// The answer for the model.
    #[wire(default_list)]
    pub content: Vec<ContentBlock>,
    /// The answer for programs, which fits the tool's output schema. Since 2025-06-18, an object until
    /// 2025-11-25.
    #[wire(optional, schema(with = "Option<serde_json::Value>"))]
    pub structured_content: Option<RawJson>,
    /// Whether the tool failed.
    #[wire(flag)]
    pub is_error: bool,
    /// The kind of this result; absent means complete. Since 2026-07-28.
    #[wire(optional, read = rare)]
    pub result_type: Option<crate::ResultType>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl CallToolResult {
    /// The tool answered with these blocks.
    pub fn new(content: Vec<ContentBlock>) -> Self {
        Self { content, ..Self::default() }
    }

    /// The tool answered with text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self::new(vec![ContentBlock::text(text)])
    }

    /// The tool failed, for the reason that the text gives to the model.
    pub fn from_error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::from_text(text) }
    }

    /// The tool answered with a value.
    ///
    /// The same JSON goes into a text block, as the specification advises, for clients that do not know
    /// structured content.
    ///
    /// # Errors
    ///
    /// When the value's JSON form is not an object.
    pub fn from_structured<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        let json = encode_object(value)?;
        Ok(Self::from_text(json.as_str()).structured_content(json))
    }

    /// The structured content as a type.
    ///
    /// ```
    /// use agentwire_mcp_schema::CallToolResult;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Debug, PartialEq, Serialize, Deserialize)]
    /// struct Sum {
    ///     sum: i64,
    /// }
    ///
    /// # fn main() -> Result<(), serde_json::Error> {
    /// let result = CallToolResult::from_structured(&Sum { sum: 42 })?;
    /// assert_eq!(result.structured::<Sum>()?, Sum { sum: 42 });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When the tool failed, there is no structured content, or it is not of the type.
    pub fn structured<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match &self.structured_content {
            Some(content) if !self.is_error => content.decode(),
            _ if self.is_error => {
                let why = self.text();
                Err(serde_json::Error::custom(format_args!("the tool failed: {}", Printable::new(&why))))
            }
            _ => Err(serde_json::Error::custom("the result has no structured content")),
        }
    }

    /// The text of all text blocks, a line break between two.
    ///
    /// One block, the usual case, is borrowed.
    pub fn text(&self) -> Cow<'_, str> {
        join_lines(self.content.iter().filter_map(ContentBlock::as_text))
    }
}

setters!(CallToolResult {
    some structured_content: RawJson,
    set is_error: bool,
    some result_type: crate::ResultType,
    some meta: Meta,
});

impl From<String> for CallToolResult {
    fn from(text: String) -> Self {
        Self::from_text(text)
    }
}

impl From<&str> for CallToolResult {
    fn from(text: &str) -> Self {
        Self::from_text(text)
    }
}

has_meta!(CallToolRequest, CallToolParams<'a>, CallToolResult);
