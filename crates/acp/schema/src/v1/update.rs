//! The notification `session/update` and the union of its updates. Also defines the message chunks and `session_info_update`.

pub(crate) mod command;
pub(crate) mod compaction;
pub(crate) mod plan;
pub(crate) mod tool_call;

use agentwire_wire_derive::{Build, Wire};

use super::{
    AvailableCommandsUpdate, CompactionSummaryChunk, CompactionUpdate, ConfigOptionUpdate, ContentBlock,
    CurrentModeUpdate, Plan, ToolCall, ToolCallUpdate,
};
use crate::common::{MessageId, Meta, Notice, Patch, SessionId, UsageUpdate};

/// `session/update`: reports what happens in a session.
///
/// See <https://agentclientprotocol.com/protocol/v1/prompt-turn#3-agent-reports-output>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionNotification {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The event.
    #[wire(required)]
    pub update: SessionUpdate,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl SessionNotification {
    /// Part of the agent's answer: the update `agent_message_chunk`.
    #[must_use]
    pub fn message(session_id: impl Into<SessionId>, content: impl Into<ContentBlock>) -> Self {
        Self::new(session_id, SessionUpdate::AgentMessageChunk(ContentChunk::new(content)))
    }

    /// Part of the agent's reasoning: the update `agent_thought_chunk`.
    #[must_use]
    pub fn thought(session_id: impl Into<SessionId>, content: impl Into<ContentBlock>) -> Self {
        Self::new(session_id, SessionUpdate::AgentThoughtChunk(ContentChunk::new(content)))
    }

    /// Part of the person's message, in a replay: the update `user_message_chunk`.
    #[must_use]
    pub fn user_message(session_id: impl Into<SessionId>, content: impl Into<ContentBlock>) -> Self {
        Self::new(session_id, SessionUpdate::UserMessageChunk(ContentChunk::new(content)))
    }
}

/// An event of a session.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "sessionUpdate")]
#[non_exhaustive]
pub enum SessionUpdate {
    /// Part of the person's message.
    #[wire("user_message_chunk")]
    UserMessageChunk(ContentChunk),
    /// Part of the agent's answer.
    #[wire("agent_message_chunk")]
    AgentMessageChunk(ContentChunk),
    /// Part of the agent's reasoning.
    #[wire("agent_thought_chunk")]
    AgentThoughtChunk(ContentChunk),
    /// A tool is called.
    #[wire("tool_call", from)]
    ToolCall(Box<ToolCall>),
    /// A tool call changed.
    #[wire("tool_call_update", from)]
    ToolCallUpdate(Box<ToolCallUpdate>),
    /// The whole plan, which replaces the previous one.
    #[wire("plan", from)]
    Plan(Plan),
    /// All slash commands.
    #[wire("available_commands_update", from)]
    AvailableCommandsUpdate(AvailableCommandsUpdate),
    /// The session's mode changed.
    #[wire("current_mode_update", from)]
    CurrentModeUpdate(CurrentModeUpdate),
    /// All configuration options.
    #[wire("config_option_update", from)]
    ConfigOptionUpdate(ConfigOptionUpdate),
    /// The session's title or another property changed.
    #[wire("session_info_update", from)]
    SessionInfoUpdate(Box<SessionInfoUpdate>),
    /// The use of the context, and the session's cost.
    #[wire("usage_update", from)]
    UsageUpdate(UsageUpdate),
    /// A message to the person that is not part of the conversation. Only for clients with the capability
    /// `session.notices`.
    #[wire("notice", from)]
    Notice(Notice),
    /// A compaction of the context began or changed. Only for clients with the capability `session.compaction`.
    #[wire("compaction_update", from)]
    CompactionUpdate(Box<CompactionUpdate>),
    /// Part of a compaction's summary. Only for clients with the capability `session.compaction`.
    #[wire("compaction_summary_chunk", from)]
    CompactionSummaryChunk(CompactionSummaryChunk),
    /// An update of a kind that this version does not know: the whole object.
    #[wire(unknown)]
    Unknown(Meta),
}

/// Part of a message.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ContentChunk {
    /// The content.
    #[wire(required)]
    pub content: ContentBlock,
    /// The message to which it belongs. Another id begins another message.
    #[wire(lenient)]
    pub message_id: Option<MessageId>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The update `session_info_update`: a missing member keeps its value, null clears it.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionInfoUpdate {
    /// The session's name to show to people.
    #[wire(patch)]
    pub title: Patch<String>,
    /// When its content last changed, in ISO 8601.
    #[wire(patch)]
    pub updated_at: Patch<String>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
