//! The updates `tool_call` and `tool_call_update`, with status, file diff and locations of a tool call.

use std::path::PathBuf;

use agentwire_jsonrpc::RawJson;
use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, ToolCallId, ToolKind, tool_call_content};
use crate::v1::ContentBlock;

/// The update `tool_call`: the model calls a tool.
///
/// See <https://agentclientprotocol.com/protocol/v1/tool-calls>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ToolCall {
    /// Identifies the call.
    #[wire(required)]
    pub tool_call_id: ToolCallId,
    /// Its purpose, for people.
    #[wire(required)]
    pub title: String,
    /// The tool's name, for programs.
    #[wire(lenient)]
    pub name: Option<String>,
    /// The kind of tool; [`ToolKind::Other`] if the member is missing.
    // `None` distinguishes a missing member from `other`: a rule on permissions must not take it for a kind that the agent has sent.
    #[wire(lenient, schema(with = "ToolKind"))]
    pub kind: Option<ToolKind>,
    /// Its status; [`ToolCallStatus::Pending`] if the member is missing.
    #[wire(default, schema(transform = crate::schema::without_default))]
    pub status: ToolCallStatus,
    /// Its output so far.
    #[wire(items)]
    pub content: Vec<ToolCallContent>,
    /// The files that it reads or changes, so that an editor can follow.
    #[wire(items)]
    pub locations: Vec<ToolCallLocation>,
    /// The tool's input, unchanged.
    #[wire(lenient)]
    pub raw_input: Option<RawJson>,
    /// The tool's output, unchanged.
    #[wire(lenient)]
    pub raw_output: Option<RawJson>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The update `tool_call_update`: changes of a call. Also describes the call of a permission request.
///
/// A missing or null member keeps its value; a list replaces the whole list.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ToolCallUpdate {
    /// The call.
    #[wire(required)]
    pub tool_call_id: ToolCallId,
    /// The kind of tool.
    #[wire(lenient)]
    pub kind: Option<ToolKind>,
    /// Its status.
    #[wire(lenient)]
    pub status: Option<ToolCallStatus>,
    /// Its purpose, for people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// The tool's name, for programs.
    #[wire(lenient)]
    pub name: Option<String>,
    /// Its whole output so far.
    #[wire(optional_items)]
    pub content: Option<Vec<ToolCallContent>>,
    /// All the files that it reads or changes.
    #[wire(optional_items)]
    pub locations: Option<Vec<ToolCallLocation>>,
    /// The tool's input.
    #[wire(lenient)]
    pub raw_input: Option<RawJson>,
    /// The tool's output.
    #[wire(lenient)]
    pub raw_output: Option<RawJson>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The status of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum ToolCallStatus {
    /// It has not begun: its input is incomplete, or it waits for permission.
    #[default]
    #[wire("pending")]
    Pending,
    /// It runs.
    #[wire("in_progress")]
    InProgress,
    /// It is done.
    #[wire("completed")]
    Completed,
    /// It has failed.
    #[wire("failed")]
    Failed,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

tool_call_content! {}

/// A change of a file, as its text before and after.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Diff {
    /// The file, an absolute path.
    #[wire(required)]
    pub path: PathBuf,
    /// Its text before; none for a new file.
    #[wire(lenient)]
    pub old_text: Option<String>,
    /// Its text after.
    #[wire(required)]
    pub new_text: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A file that a tool call reads or changes, and perhaps a line of it.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ToolCallLocation {
    /// The file, an absolute path.
    #[wire(required)]
    pub path: PathBuf,
    /// The line, counted from 1.
    #[wire(lenient_number)]
    pub line: Option<u32>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
