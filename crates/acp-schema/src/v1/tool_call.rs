use std::path::PathBuf;

use agentwire_jsonrpc::RawJson;
use agentwire_wire_derive::{Build, Wire};

use super::ContentBlock;
use crate::common::{Meta, Terminal, ToolCallId, ToolKind};

/// The update `tool_call`: the model calls a tool.
///
/// See <https://agentclientprotocol.com/protocol/v1/tool-calls>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ToolCall {
    /// Names the call.
    #[wire(required)]
    pub tool_call_id: ToolCallId,
    /// What it does, for people.
    #[wire(required)]
    pub title: String,
    /// The tool's name, for programs.
    #[wire(lenient)]
    pub name: Option<String>,
    /// What sort of tool it is; [`ToolKind::Other`] where it is not said.
    #[wire(default, schema(transform = crate::schema::without_default))]
    pub kind: ToolKind,
    /// How far it is; [`ToolCallStatus::Pending`] where it is not said.
    #[wire(default, schema(transform = crate::schema::without_default))]
    pub status: ToolCallStatus,
    /// What it has produced.
    #[wire(items)]
    pub content: Vec<ToolCallContent>,
    /// Which places it touches, so that an editor can follow.
    #[wire(items)]
    pub locations: Vec<ToolCallLocation>,
    /// What the tool was given, as it was given.
    #[wire(lenient)]
    pub raw_input: Option<RawJson>,
    /// What the tool returned, as it returned it.
    #[wire(lenient)]
    pub raw_output: Option<RawJson>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The update `tool_call_update`: what changed about a call. Also the description of a call in a permission request.
///
/// A member that is missing or null leaves what was told before; a list replaces the list.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ToolCallUpdate {
    /// The call.
    #[wire(required)]
    pub tool_call_id: ToolCallId,
    /// What sort of tool it is.
    #[wire(lenient)]
    pub kind: Option<ToolKind>,
    /// How far it is.
    #[wire(lenient)]
    pub status: Option<ToolCallStatus>,
    /// What it does, for people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// The tool's name, for programs.
    #[wire(lenient)]
    pub name: Option<String>,
    /// All that it has produced.
    #[wire(optional_items)]
    pub content: Option<Vec<ToolCallContent>>,
    /// All the places it touches.
    #[wire(optional_items)]
    pub locations: Option<Vec<ToolCallLocation>>,
    /// What the tool was given.
    #[wire(lenient)]
    pub raw_input: Option<RawJson>,
    /// What the tool returned.
    #[wire(lenient)]
    pub raw_output: Option<RawJson>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// How far a tool call is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum ToolCallStatus {
    /// It has not begun: its input is still coming, or it waits for permission.
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
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}

/// Something a tool call has produced.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum ToolCallContent {
    /// A content block.
    #[wire("content", from)]
    Content(Content),
    /// A change of a file.
    #[wire("diff", from)]
    Diff(Diff),
    /// What a terminal shows, live.
    #[wire("terminal", from)]
    Terminal(Terminal),
    /// Something of a type that this version does not know: the whole object.
    #[wire(unknown)]
    Unknown(Meta),
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

/// A content block that a tool call has produced.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Content {
    /// The block.
    #[wire(required)]
    pub content: ContentBlock,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

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
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A place that a tool call touches.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ToolCallLocation {
    /// The file, an absolute path.
    #[wire(required)]
    pub path: PathBuf,
    /// The line, counted from 1.
    #[wire(lenient_number)]
    pub line: Option<u32>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
