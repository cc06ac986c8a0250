//! The messages of a conversation for a chat model.

use agentwire_acp_schema::v1::{ContentBlock, ToolCallContent, ToolCallId, ToolCallStatus};
use agentwire_jsonrpc::RawJson;

use super::render;

/// A message of a conversation for a chat model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// A prompt.
    User(UserMessage),
    /// A step of the answer, and the results of its tool calls.
    Assistant(AssistantMessage),
}

/// A prompt.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UserMessage {
    /// The blocks of the prompt, in their order.
    pub content: Vec<ContentBlock>,
}

impl UserMessage {
    /// Returns the prompt as one text. An embedded text follows a line with its URI, a link is its name and its URI, and
    /// another block is a note of its type, such as `[image/png]`.
    pub fn text(&self) -> String {
        render::blocks(&self.content)
    }
}

/// A step of an answer: the model's text, and then its tool calls.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AssistantMessage {
    /// The text, empty where the model only called tools. Two messages of the turn without a tool call between them are
    /// joined with an empty line.
    pub text: String,
    /// The thoughts, empty where there are none. Most APIs do not take them back.
    pub thoughts: String,
    /// The tool calls that follow the text, in the order of their announcements.
    pub tool_uses: Vec<ToolUse>,
}

/// A tool call with its result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolUse {
    /// The id of the call in the session, which its updates have.
    pub id: ToolCallId,
    /// The name of the tool. For a call that was announced without a name, its title, with `_` in place of the characters
    /// that are not ASCII letters, digits, `_` or `-`, cut to 64.
    pub name: String,
    /// The arguments, a JSON object. `{}` for a call that was announced without input; an input that is not an object is the
    /// member `input`.
    pub arguments: RawJson,
    /// The result.
    pub result: ToolResult,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolResult {
    /// The status of the call. One that still runs, or whose end is unknown, has not ended.
    pub status: ToolCallStatus,
    /// The content that the client was shown last.
    pub content: Vec<ToolCallContent>,
    /// The raw output of the call, such as an object with the `structuredContent` of an MCP tool.
    pub raw_output: Option<RawJson>,
}

impl ToolResult {
    /// Returns whether the tool failed, or the call was cancelled or has not ended.
    pub fn is_error(&self) -> bool {
        self.status != ToolCallStatus::Completed
    }

    /// Returns the result as one text: its blocks as in [`UserMessage::text`], the new text of a diff after a line with its
    /// path, and a note for a terminal. Without content it is the JSON of the raw output. A call that has not ended gets a
    /// note; the text of a call that failed without content or output is its status.
    pub fn text(&self) -> String {
        render::result(&self.status, &self.content, self.raw_output.as_ref())
    }
}
