use std::num::NonZeroU32;

use agentwire_jsonrpc::{RawJson, RequestMethod};
use agentwire_wire_derive::{Build, Wire};

use super::{AbsolutePath, ContentBlock, Diff};
use crate::common::{
    Meta, Patch, SessionId, Terminal, ToolCallId, ToolKind, empty_object, marker_capability,
};

/// The update `tool_call_update`: a tool call began or changed.
///
/// The first one with an id begins the call, later ones patch it: what is kept is left out, what goes back to how a
/// new call begins is null; a list replaces the list. See
/// <https://agentclientprotocol.com/protocol/v2/tool-calls>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ToolCallUpdate {
    /// Names the call.
    #[wire(required)]
    pub tool_call_id: ToolCallId,
    /// The tool's name, for programs.
    #[wire(patch)]
    pub name: Patch<String>,
    /// What it does, for people.
    #[wire(patch)]
    pub title: Patch<String>,
    /// What sort of tool it is. A new call is of [`ToolKind::Other`].
    #[wire(patch)]
    pub kind: Patch<ToolKind>,
    /// How far it is. A new call is [`ToolCallStatus::Pending`].
    #[wire(patch)]
    pub status: Patch<ToolCallStatus>,
    /// All that it has produced.
    #[wire(patch_items)]
    pub content: Patch<Vec<ToolCallContent>>,
    /// All the places it touches, so that a client can follow.
    #[wire(patch_items)]
    pub locations: Patch<Vec<ToolCallLocation>>,
    /// What the tool was given, as it was given.
    #[wire(patch)]
    pub raw_input: Patch<RawJson>,
    /// What the tool returned, as it returned it.
    #[wire(patch)]
    pub raw_output: Patch<RawJson>,
    /// What the client can do to the call now, all of it. Nothing for a new call.
    #[wire(patch)]
    pub capabilities: Patch<ToolCallCapabilities>,
    /// Free room; see [`Meta`]. It is [merged](Patch::merge).
    #[wire(patch, name = "_meta")]
    pub meta: Patch<Meta>,
}

/// The update `tool_call_content_chunk`: one more thing that a tool call has produced, to append to the others.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ToolCallContentChunk {
    /// The call.
    #[wire(required)]
    pub tool_call_id: ToolCallId,
    /// The thing.
    #[wire(required)]
    pub content: ToolCallContent,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// How far a tool call is. A foreign word means that it is not over.
///
/// See <https://agentclientprotocol.com/protocol/v2/tool-calls#status>.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum ToolCallStatus {
    /// It has not begun: its input is still coming, it waits for permission, or its time has not come.
    #[default]
    #[wire("pending")]
    Pending,
    /// It runs.
    #[wire("in_progress")]
    InProgress,
    /// It has begun but does not run, until something lets it go on.
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
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}

impl ToolCallStatus {
    /// Whether the call is over. Never so for a foreign word.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// Something a tool call has produced.
///
/// See <https://agentclientprotocol.com/protocol/v2/tool-calls#content>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum ToolCallContent {
    /// A content block.
    #[wire("content", from)]
    Content(Content),
    /// Changes of files.
    #[wire("diff", from)]
    Diff(Diff),
    /// What a terminal of the agent shows, live.
    #[wire("terminal", from)]
    Terminal(Terminal),
    /// Something of a type that this version does not know: the whole object. Keep it when storing, replaying or
    /// passing on.
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

/// A place that a tool call touches.
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
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// What a client can do to a tool call now.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ToolCallCapabilities {
    /// Whether it may send `tool_call/cancel`. An agent should take it back when the call is over.
    #[wire(lenient)]
    pub cancel: Option<ToolCallCancelCapabilities>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

marker_capability! {
    /// That a tool call can be cancelled.
    ToolCallCancelCapabilities,
}

/// `tool_call/cancel`: stop one tool call. Only where the call has the capability `cancel` now.
///
/// The answer says that the agent will try; that the call is over comes as an update with a final status, which may
/// also be `completed` or `failed`. A call that is unknown, over or cannot be cancelled is an error of the code
/// [`INVALID_PARAMS`](super::error_code::INVALID_PARAMS). See
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
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for CancelToolCallRequest {
    const NAME: &'static str = "tool_call/cancel";
    type Response = CancelToolCallResponse;
}

empty_object! {
    /// The answer to `tool_call/cancel`.
    CancelToolCallResponse,
}
