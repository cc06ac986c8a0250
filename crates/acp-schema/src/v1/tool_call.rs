use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ContentBlock;
use crate::common::lenient::{any, items, lenient, optional_items};
use crate::common::{Meta, TerminalId, ToolCallId, builder, open_enum, tagged_union};

/// The update `tool_call`: the model calls a tool.
///
/// See <https://agentclientprotocol.com/protocol/v1/tool-calls>.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolCall {
    /// Names the call.
    pub tool_call_id: ToolCallId,
    /// What it does, for people.
    pub title: String,
    /// The tool's name, for programs.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What sort of tool it is; [`ToolKind::Other`] where it is not said.
    #[serde(default, deserialize_with = "lenient")]
    pub kind: ToolKind,
    /// How far it is; [`ToolCallStatus::Pending`] where it is not said.
    #[serde(default, deserialize_with = "lenient")]
    pub status: ToolCallStatus,
    /// What it has produced.
    #[serde(default, deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<ToolCallContent>,
    /// Which places it touches, so that an editor can follow.
    #[serde(default, deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<ToolCallLocation>,
    /// What the tool was given, as it was given.
    #[serde(default, deserialize_with = "any", skip_serializing_if = "Option::is_none")]
    pub raw_input: Option<Value>,
    /// What the tool returned, as it returned it.
    #[serde(default, deserialize_with = "any", skip_serializing_if = "Option::is_none")]
    pub raw_output: Option<Value>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    ToolCall::new(tool_call_id: ToolCallId, title: String) {
        option name: String,
        plain kind: ToolKind,
        plain status: ToolCallStatus,
        list content: ToolCallContent,
        list locations: ToolCallLocation,
        option raw_input: Value,
        option raw_output: Value,
        option meta: Meta,
    }
}

/// The update `tool_call_update`: what changed about a call. Also the description of a call in a permission request.
///
/// A member that is missing or null leaves what was told before; a list replaces the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolCallUpdate {
    /// The call.
    pub tool_call_id: ToolCallId,
    /// What sort of tool it is.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ToolKind>,
    /// How far it is.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolCallStatus>,
    /// What it does, for people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool's name, for programs.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// All that it has produced.
    #[serde(default, deserialize_with = "optional_items", skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<ToolCallContent>>,
    /// All the places it touches.
    #[serde(default, deserialize_with = "optional_items", skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<ToolCallLocation>>,
    /// What the tool was given.
    #[serde(default, deserialize_with = "any", skip_serializing_if = "Option::is_none")]
    pub raw_input: Option<Value>,
    /// What the tool returned.
    #[serde(default, deserialize_with = "any", skip_serializing_if = "Option::is_none")]
    pub raw_output: Option<Value>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    ToolCallUpdate::new(tool_call_id: ToolCallId) {
        option kind: ToolKind,
        option status: ToolCallStatus,
        option title: String,
        option name: String,
        option_list content: ToolCallContent,
        option_list locations: ToolCallLocation,
        option raw_input: Value,
        option raw_output: Value,
        option meta: Meta,
    }
}

open_enum! {
    /// What sort of tool is called: a hint for icons and layout.
    #[derive(Default)]
    ToolKind {
        /// It reads.
        Read = "read",
        /// It changes something.
        Edit = "edit",
        /// It removes something.
        Delete = "delete",
        /// It moves or renames.
        Move = "move",
        /// It searches.
        Search = "search",
        /// It runs a program.
        Execute = "execute",
        /// It thinks or plans.
        Think = "think",
        /// It fetches from elsewhere.
        Fetch = "fetch",
        /// It changes the session's mode.
        SwitchMode = "switch_mode",
        /// It says that it is none of these: the word `other`, which is a kind of the schema.
        #[default]
        Other = "other",
    } else Unknown
}

open_enum! {
    /// How far a tool call is.
    #[derive(Default)]
    ToolCallStatus {
        /// It has not begun: its input is still coming, or it waits for permission.
        #[default]
        Pending = "pending",
        /// It runs.
        InProgress = "in_progress",
        /// It is done.
        Completed = "completed",
        /// It has failed.
        Failed = "failed",
    } else Other
}

/// Something a tool call has produced.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ToolCallContent {
    /// A content block.
    Content(Content),
    /// A change of a file.
    Diff(Diff),
    /// What a terminal shows, live.
    Terminal(Terminal),
    /// Something of a type that this version does not know: the whole object.
    Unknown(Meta),
}

tagged_union! {
    ToolCallContent by "type" {
        "content" => Content(Content),
        "diff" => Diff(Diff),
        "terminal" => Terminal(Terminal),
    }
}

impl From<Content> for ToolCallContent {
    fn from(content: Content) -> Self {
        Self::Content(content)
    }
}

impl<T: Into<ContentBlock>> From<T> for Content {
    fn from(block: T) -> Self {
        Self::new(block)
    }
}

impl From<ContentBlock> for ToolCallContent {
    fn from(block: ContentBlock) -> Self {
        Self::Content(Content::new(block))
    }
}

impl From<Diff> for ToolCallContent {
    fn from(diff: Diff) -> Self {
        Self::Diff(diff)
    }
}

impl From<Terminal> for ToolCallContent {
    fn from(terminal: Terminal) -> Self {
        Self::Terminal(terminal)
    }
}

/// A content block that a tool call has produced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Content {
    /// The block.
    pub content: ContentBlock,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    Content::new(content: ContentBlock) {
        option meta: Meta,
    }
}

/// A change of a file, as its text before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Diff {
    /// The file, an absolute path.
    pub path: PathBuf,
    /// Its text before; none for a new file.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub old_text: Option<String>,
    /// Its text after.
    pub new_text: String,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    Diff::new(path: PathBuf, new_text: String) {
        option old_text: String,
        option meta: Meta,
    }
}

/// A terminal to show inside a tool call. Add it before the terminal is released; it stays visible afterwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Terminal {
    /// The terminal.
    pub terminal_id: TerminalId,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    Terminal::new(terminal_id: TerminalId) {
        option meta: Meta,
    }
}

/// A place that a tool call touches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolCallLocation {
    /// The file, an absolute path.
    pub path: PathBuf,
    /// The line, counted from 1.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    ToolCallLocation::new(path: PathBuf) {
        number line: u32,
        option meta: Meta,
    }
}
