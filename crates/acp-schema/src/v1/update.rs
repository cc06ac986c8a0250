use agentwire_jsonrpc::NotificationMethod;
use agentwire_wire_derive::{Build, Wire};

use super::{
    AvailableCommandsUpdate, CompactionSummaryChunk, CompactionUpdate, ConfigOptionUpdate, ContentBlock,
    CurrentModeUpdate, Plan, ToolCall, ToolCallUpdate,
};
use crate::common::{MessageId, Meta, Notice, Patch, SessionId, UsageUpdate};

/// `session/update`: what happens in a session, told by the agent as it happens.
///
/// See <https://agentclientprotocol.com/protocol/v1/prompt-turn#3-agent-reports-output>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionNotification {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// What happened.
    #[wire(required)]
    pub update: SessionUpdate,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl SessionNotification {
    /// A piece of the agent's answer: the update `agent_message_chunk`.
    #[must_use]
    pub fn message(session_id: impl Into<SessionId>, content: impl Into<ContentBlock>) -> Self {
        Self::new(session_id, SessionUpdate::AgentMessageChunk(ContentChunk::new(content)))
    }

    /// A piece of what the agent thinks: the update `agent_thought_chunk`.
    #[must_use]
    pub fn thought(session_id: impl Into<SessionId>, content: impl Into<ContentBlock>) -> Self {
        Self::new(session_id, SessionUpdate::AgentThoughtChunk(ContentChunk::new(content)))
    }

    /// A piece of what the person said, as told in a replay: the update `user_message_chunk`.
    #[must_use]
    pub fn user_message(session_id: impl Into<SessionId>, content: impl Into<ContentBlock>) -> Self {
        Self::new(session_id, SessionUpdate::UserMessageChunk(ContentChunk::new(content)))
    }
}

impl NotificationMethod for SessionNotification {
    const NAME: &'static str = "session/update";
}

/// One thing that happened in a session.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "sessionUpdate")]
#[non_exhaustive]
pub enum SessionUpdate {
    /// A piece of what the person said.
    #[wire("user_message_chunk")]
    UserMessageChunk(ContentChunk),
    /// A piece of the agent's answer.
    #[wire("agent_message_chunk")]
    AgentMessageChunk(ContentChunk),
    /// A piece of what the agent thinks.
    #[wire("agent_thought_chunk")]
    AgentThoughtChunk(ContentChunk),
    /// A tool is called.
    #[wire("tool_call", from)]
    ToolCall(Box<ToolCall>),
    /// Something about a tool call changed.
    #[wire("tool_call_update", from)]
    ToolCallUpdate(Box<ToolCallUpdate>),
    /// The plan, all of it; it replaces the one before.
    #[wire("plan", from)]
    Plan(Plan),
    /// The slash commands, all of them.
    #[wire("available_commands_update", from)]
    AvailableCommandsUpdate(AvailableCommandsUpdate),
    /// The session is in another mode.
    #[wire("current_mode_update", from)]
    CurrentModeUpdate(CurrentModeUpdate),
    /// The configuration options, all of them.
    #[wire("config_option_update", from)]
    ConfigOptionUpdate(ConfigOptionUpdate),
    /// Something about the session itself changed.
    #[wire("session_info_update", from)]
    SessionInfoUpdate(Box<SessionInfoUpdate>),
    /// How full the context is, and what the session has cost.
    #[wire("usage_update", from)]
    UsageUpdate(UsageUpdate),
    /// Something to tell the person that is no part of the conversation. Only for clients with the capability
    /// `session.notices`.
    #[wire("notice", from)]
    Notice(Notice),
    /// A compaction of the context began or changed. Only for clients with the capability `session.compaction`.
    #[wire("compaction_update", from)]
    CompactionUpdate(Box<CompactionUpdate>),
    /// A piece of a compaction's summary. Only for clients with the capability `session.compaction`.
    #[wire("compaction_summary_chunk", from)]
    CompactionSummaryChunk(CompactionSummaryChunk),
    /// An update of a kind that this version does not know: the whole object.
    #[wire(unknown)]
    Unknown(Meta),
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ContentChunk {
    /// The piece.
    #[wire(required)]
    pub content: ContentBlock,
    /// The message it belongs to. Another id begins another message.
    #[wire(lenient)]
    pub message_id: Option<MessageId>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The update `session_info_update`: what is kept is left out, what is cleared is null.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionInfoUpdate {
    /// What to call the session in front of people.
    #[wire(patch)]
    pub title: Patch<String>,
    /// When something last happened in it, in ISO 8601.
    #[wire(patch)]
    pub updated_at: Patch<String>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
