use std::num::NonZeroU32;

use agentwire_jsonrpc::{Method, RawJson};

use super::{AbsolutePath, ContentBlock, Diff};
use crate::common::{Meta, Patch, SessionId, Terminal, ToolCallId, ToolKind};
use crate::wire::{empty_object, marker_capability, object, open_enum, tagged_union};

object! {
    /// The update `tool_call_update`: a tool call began or changed.
    ///
    /// The first one with an id begins the call, later ones patch it: what is kept is left out, what goes back to how a
    /// new call begins is null; a list replaces the list. See
    /// <https://agentclientprotocol.com/protocol/v2/tool-calls>.
    ToolCallUpdate {
        /// Names the call.
        required tool_call_id: ToolCallId,
        /// The tool's name, for programs.
        patch name: Patch<String>,
        /// What it does, for people.
        patch title: Patch<String>,
        /// What sort of tool it is. A new call is of [`ToolKind::Other`].
        patch kind: Patch<ToolKind>,
        /// How far it is. A new call is [`ToolCallStatus::Pending`].
        patch status: Patch<ToolCallStatus>,
        /// All that it has produced.
        patch_items content: Patch<Vec<ToolCallContent>>,
        /// All the places it touches, so that a client can follow.
        patch_items locations: Patch<Vec<ToolCallLocation>>,
        /// What the tool was given, as it was given.
        patch raw_input: Patch<RawJson>,
        /// What the tool returned, as it returned it.
        patch raw_output: Patch<RawJson>,
        /// What the client can do to the call now, all of it. Nothing for a new call.
        patch capabilities: Patch<ToolCallCapabilities>,
        /// Free room; see [`Meta`]. It is [merged](Patch::merge).
        patch meta: Patch<Meta> = "_meta",
    }
}

object! {
    /// The update `tool_call_content_chunk`: one more thing that a tool call has produced, to append to the others.
    ToolCallContentChunk {
        /// The call.
        required tool_call_id: ToolCallId,
        /// The thing.
        required content: ToolCallContent,
        meta,
    }
}

open_enum! {
    /// How far a tool call is. A foreign word means that it is not over.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/tool-calls#status>.
    #[derive(Default)]
    ToolCallStatus {
        /// It has not begun: its input is still coming, it waits for permission, or its time has not come.
        #[default]
        Pending = "pending",
        /// It runs.
        InProgress = "in_progress",
        /// It has begun but does not run, until something lets it go on.
        Paused = "paused",
        /// It is done.
        Completed = "completed",
        /// It has failed.
        Failed = "failed",
        /// It was cancelled before it was done.
        Cancelled = "cancelled",
    } else Other
}

impl ToolCallStatus {
    /// Whether the call is over. Never so for a foreign word.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

tagged_union! {
    /// Something a tool call has produced.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/tool-calls#content>.
    ToolCallContent by "type" {
        /// A content block.
        "content" => Content(Content) from Content,
        /// Changes of files.
        "diff" => Diff(Diff) from Diff,
        /// What a terminal of the agent shows, live.
        "terminal" => Terminal(Terminal) from Terminal,
    }
    else {
        /// Something of a type that this version does not know: the whole object. Keep it when storing, replaying or
        /// passing on.
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
    /// A place that a tool call touches.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/tool-calls#following-the-agent>.
    ToolCallLocation {
        /// The file.
        required path: AbsolutePath,
        /// The line, counted from 1.
        lenient_number line: Option<NonZeroU32>,
        meta,
    }
}

object! {
    /// What a client can do to a tool call now.
    ToolCallCapabilities {
        /// Whether it may send `tool_call/cancel`. An agent should take it back when the call is over.
        lenient cancel: Option<ToolCallCancelCapabilities>,
        meta,
        extra,
    }
}

marker_capability! {
    /// That a tool call can be cancelled.
    ToolCallCancelCapabilities,
}

object! {
    /// `tool_call/cancel`: stop one tool call. Only where the call has the capability `cancel` now.
    ///
    /// The answer says that the agent will try; that the call is over comes as an update with a final status, which may
    /// also be `completed` or `failed`. A call that is unknown, over or cannot be cancelled is an error of the code
    /// [`INVALID_PARAMS`](super::error_code::INVALID_PARAMS). See
    /// <https://agentclientprotocol.com/protocol/v2/tool-calls#cancelling-tool-calls>.
    CancelToolCallRequest {
        /// The session.
        required session_id: SessionId,
        /// The call.
        required tool_call_id: ToolCallId,
        meta,
    }
}

impl Method for CancelToolCallRequest {
    const NAME: &'static str = "tool_call/cancel";
    type Response = CancelToolCallResponse;
}

empty_object! {
    /// The answer to `tool_call/cancel`.
    CancelToolCallResponse,
}
