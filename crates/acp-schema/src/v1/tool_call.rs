use std::path::PathBuf;

use agentwire_jsonrpc::RawJson;

use super::ContentBlock;
use crate::common::{Terminal, ToolCallId, ToolKind};
use crate::wire::{object, open_enum, tagged_union};

object! {
    /// The update `tool_call`: the model calls a tool.
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/tool-calls>.
    ToolCall {
        /// Names the call.
        required tool_call_id: ToolCallId,
        /// What it does, for people.
        required title: String,
        /// The tool's name, for programs.
        lenient name: Option<String>,
        /// What sort of tool it is; [`ToolKind::Other`] where it is not said.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::without_default))]
        default kind: ToolKind,
        /// How far it is; [`ToolCallStatus::Pending`] where it is not said.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::without_default))]
        default status: ToolCallStatus,
        /// What it has produced.
        items content: Vec<ToolCallContent>,
        /// Which places it touches, so that an editor can follow.
        items locations: Vec<ToolCallLocation>,
        /// What the tool was given, as it was given.
        lenient raw_input: Option<RawJson>,
        /// What the tool returned, as it returned it.
        lenient raw_output: Option<RawJson>,
        meta,
    }
}

object! {
    /// The update `tool_call_update`: what changed about a call. Also the description of a call in a permission request.
    ///
    /// A member that is missing or null leaves what was told before; a list replaces the list.
    ToolCallUpdate {
        /// The call.
        required tool_call_id: ToolCallId,
        /// What sort of tool it is.
        lenient kind: Option<ToolKind>,
        /// How far it is.
        lenient status: Option<ToolCallStatus>,
        /// What it does, for people.
        lenient title: Option<String>,
        /// The tool's name, for programs.
        lenient name: Option<String>,
        /// All that it has produced.
        optional_items content: Option<Vec<ToolCallContent>>,
        /// All the places it touches.
        optional_items locations: Option<Vec<ToolCallLocation>>,
        /// What the tool was given.
        lenient raw_input: Option<RawJson>,
        /// What the tool returned.
        lenient raw_output: Option<RawJson>,
        meta,
    }
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

tagged_union! {
    /// Something a tool call has produced.
    ToolCallContent by "type" {
        /// A content block.
        "content" => Content(Content) from Content,
        /// A change of a file.
        "diff" => Diff(Diff) from Diff,
        /// What a terminal shows, live.
        "terminal" => Terminal(Terminal) from Terminal,
    }
    else {
        /// Something of a type that this version does not know: the whole object.
        Unknown
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

object! {
    /// A content block that a tool call has produced.
    Content {
        /// The block.
        required content: ContentBlock,
        meta,
    }
}

object! {
    /// A change of a file, as its text before and after.
    Diff {
        /// The file, an absolute path.
        required path: PathBuf,
        /// Its text before; none for a new file.
        lenient old_text: Option<String>,
        /// Its text after.
        required new_text: String,
        meta,
    }
}

object! {
    /// A place that a tool call touches.
    ToolCallLocation {
        /// The file, an absolute path.
        required path: PathBuf,
        /// The line, counted from 1.
        lenient_number line: Option<u32>,
        meta,
    }
}
