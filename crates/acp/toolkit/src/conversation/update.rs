//! The updates of both versions of the protocol in one type.

use agentwire_acp_schema::v1::{
    AvailableCommandsUpdate, CompactionSummaryChunk, CompactionUpdate, ConfigOptionUpdate, ContentBlock,
    Cost, CurrentModeUpdate, MessageId, Meta, Notice, Patch, Plan, SessionInfoUpdate, SessionUpdate,
    ToolCall, ToolCallContent, ToolCallId, ToolCallUpdate, UsageUpdate,
};

use super::{MessageKind, TerminalPatch, ToolCallPatch};

/// An update of either version of the protocol, in one model, for [`Conversation`](super::Conversation).
///
/// The types are those of version 1. With the feature `v2`, `Update::from` converts an update of version 2. Some parts of
/// version 2 have no equivalent in version 1:
///
/// - The status `paused` of a tool call, and `cancelled` of an entry of a plan, become
///   [`Other`](agentwire_acp_schema::v1::ToolCallStatus::Other). The status `cancelled` of a tool call sets
///   [`ToolCallEntry::cancelled`](super::ToolCallEntry::cancelled).
/// - A diff of version 2 becomes [`ToolCallContent::Unknown`] with the whole object, which `v2::ToolCallContent` decodes.
/// - The last of several plans replaces the others. Icons of links, and which operations can be cancelled, are left out.
/// - The state of the agent is [`Ignored`](Self::Ignored), and so are the size of a terminal and whether it can be cancelled.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Update {
    /// An update of version 1, or one of version 2 with the same meaning.
    Common(SessionUpdate),
    /// A whole message, which replaces its earlier content: `user_message`, `agent_message` and `agent_thought` of
    /// version 2.
    Message {
        /// The author of the message.
        kind: MessageKind,
        /// Its id.
        message_id: MessageId,
        /// All of its content.
        content: Patch<Vec<ContentBlock>>,
        /// The `_meta`, which is merged.
        meta: Patch<Meta>,
    },
    /// `tool_call_update` of version 2.
    ToolCall(Box<ToolCallPatch>),
    /// `tool_call_content_chunk` of version 2.
    ToolCallContent {
        /// The call.
        tool_call_id: ToolCallId,
        /// The new content.
        content: ToolCallContent,
    },
    /// A terminal of the agent: `terminal_update` and `terminal_output_chunk` of version 2.
    Terminal(Box<TerminalPatch>),
    /// `usage_update` of version 2.
    Usage {
        /// The usage, without its cost.
        usage: UsageUpdate,
        /// The cost.
        cost: Patch<Cost>,
    },
    /// An update that changes nothing in a conversation.
    Ignored,
}

macro_rules! common {
    ($($update:ty),+ $(,)?) => {$(
        impl From<$update> for Update {
            fn from(update: $update) -> Self {
                Self::Common(update.into())
            }
        }
    )+};
}

common! {
    AvailableCommandsUpdate, CompactionSummaryChunk, CompactionUpdate, ConfigOptionUpdate, CurrentModeUpdate, Notice, Plan, SessionInfoUpdate,
    SessionUpdate, ToolCall, ToolCallUpdate, UsageUpdate,
}
