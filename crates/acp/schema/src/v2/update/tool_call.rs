//! The updates `tool_call_update` and `tool_call_content_chunk`, and `tool_call/cancel`.

use std::num::NonZeroU32;

use agentwire_jsonrpc::RawJson;
use agentwire_wire_derive::{Build, Wire};

use crate::common::{
    Meta, Patch, SessionId, ToolCallId, ToolKind, empty_object, marker_capability, tool_call_content,
};
use crate::v2::{AbsolutePath, ContentBlock, Diff};

/// The update `tool_call_update`: a tool call began or changed.
///
/// The first one with an id begins the call, later ones patch it: a missing member keeps its value, null resets it to
/// that of a new call, and a list replaces the whole list. See
/// <https://agentclientprotocol.com/protocol/v2/tool-calls>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ToolCallUpdate {
    /// Identifies the call.
    #[wire(required)]
    pub tool_call_id: ToolCallId,
    /// The tool's name, for programs.
    #[wire(patch)]
    pub name: Patch<String>,
    /// Its purpose, for people.
    #[wire(patch)]
    pub title: Patch<String>,
    /// The kind of tool. A new call is of [`ToolKind::Other`].
    #[wire(patch)]
    pub kind: Patch<ToolKind>,
    /// Its status. A new call is [`ToolCallStatus::Pending`].
    #[wire(patch)]
    pub status: Patch<ToolCallStatus>,
    /// Its whole output so far.
    #[wire(patch_items)]
    pub content: Patch<Vec<ToolCallContent>>,
    /// All the files that it reads or changes, so that a client can follow.
    #[wire(patch_items)]
    pub locations: Patch<Vec<ToolCallLocation>>,
    /// The tool's input, unchanged.
    #[wire(patch)]
    pub raw_input: Patch<RawJson>,
    /// The tool's output, unchanged.
    #[wire(patch)]
    pub raw_output: Patch<RawJson>,
    /// Everything that the client can do to the call now. Nothing for a new call.
    #[wire(patch)]
    pub capabilities: Patch<ToolCallCapabilities>,
    /// Extension metadata, as a patch that [merges](Patch::merge) its keys.
    #[wire(patch, name = "_meta")]
    pub meta: Patch<Meta>,
}

/// The update `tool_call_content_chunk`: an item to append to the output of a tool call.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ToolCallContentChunk {
    /// The call.
    #[wire(required)]
    pub tool_call_id: ToolCallId,
    /// The item.
    #[wire(required)]
    pub content: ToolCallContent,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The status of a tool call. An unknown status means that the call has not ended.
///
/// See <https://agentclientprotocol.com/protocol/v2/tool-calls#status>.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum ToolCallStatus {
    /// It has not begun: its input is incomplete, or it waits for permission or for its turn.
    #[default]
    #[wire("pending")]
    Pending,
    /// It runs.
    #[wire("in_progress")]
    InProgress,
    /// It has begun and is paused.
    #[wire("paused")]
    Paused,
    /// It is done.
    #[wire("completed")]
    Completed,
    /// It has failed.
    #[wire("failed")]
    Failed,
    /// It was cancelled before it was done.
    #[wire("cancelled")]
    Cancelled,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

impl ToolCallStatus {
    /// Returns whether the call has ended. False for an unknown status.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

tool_call_content! {}

/// A file that a tool call reads or changes, and perhaps a line of it.
///
/// See <https://agentclientprotocol.com/protocol/v2/tool-calls#following-the-agent>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ToolCallLocation {
    /// The file.
    #[wire(required)]
    pub path: AbsolutePath,
    /// The line, counted from 1.
    #[wire(lenient_number)]
    pub line: Option<NonZeroU32>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The actions that a client can take on a tool call now.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ToolCallCapabilities {
    /// Present if the client may send `tool_call/cancel`. An agent should withdraw it when the call ends.
    #[wire(lenient)]
    pub cancel: Option<ToolCallCancelCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

marker_capability! {
    /// The tool call can be cancelled.
    ToolCallCancelCapabilities,
}

/// `tool_call/cancel`: stops a tool call. Only while the call has the capability `cancel`.
///
/// The answer means that the agent tries. An update with a final status reports the end, which may also be `completed` or
/// `failed`. For a call that is unknown, has ended or cannot be cancelled, the agent answers with the error
/// [`INVALID_PARAMS`](crate::v2::error_code::INVALID_PARAMS). See
/// <https://agentclientprotocol.com/protocol/v2/tool-calls#cancelling-tool-calls>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CancelToolCallRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The call.
    #[wire(required)]
    pub tool_call_id: ToolCallId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

empty_object! {
    /// The answer to `tool_call/cancel`.
    CancelToolCallResponse,
}
