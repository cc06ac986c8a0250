use agentwire_jsonrpc::Notice as NoticeMethod;

use super::{
    AvailableCommandsUpdate, CompactionSummaryChunk, CompactionUpdate, ConfigOptionUpdate, ContentBlock,
    CurrentModeUpdate, Plan, ToolCall, ToolCallUpdate,
};
use crate::common::{MessageId, Notice, Patch, SessionId, UsageUpdate};
use crate::wire::{object, tagged_union};

object! {
    /// `session/update`: what happens in a session, told by the agent as it happens.
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/prompt-turn#3-agent-reports-output>.
    SessionNotification {
        /// The session.
        required session_id: SessionId,
        /// What happened.
        required update: SessionUpdate,
        meta,
    }
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

impl NoticeMethod for SessionNotification {
    const NAME: &'static str = "session/update";
}

tagged_union! {
    /// One thing that happened in a session.
    SessionUpdate by "sessionUpdate" {
        /// A piece of what the person said.
        "user_message_chunk" => UserMessageChunk(ContentChunk),
        /// A piece of the agent's answer.
        "agent_message_chunk" => AgentMessageChunk(ContentChunk),
        /// A piece of what the agent thinks.
        "agent_thought_chunk" => AgentThoughtChunk(ContentChunk),
        /// A tool is called.
        "tool_call" => ToolCall(Box<ToolCall>) from ToolCall,
        /// Something about a tool call changed.
        "tool_call_update" => ToolCallUpdate(Box<ToolCallUpdate>) from ToolCallUpdate,
        /// The plan, all of it; it replaces the one before.
        "plan" => Plan(Plan) from Plan,
        /// The slash commands, all of them.
        "available_commands_update" => AvailableCommandsUpdate(AvailableCommandsUpdate) from AvailableCommandsUpdate,
        /// The session is in another mode.
        "current_mode_update" => CurrentModeUpdate(CurrentModeUpdate) from CurrentModeUpdate,
        /// The configuration options, all of them.
        "config_option_update" => ConfigOptionUpdate(ConfigOptionUpdate) from ConfigOptionUpdate,
        /// Something about the session itself changed.
        "session_info_update" => SessionInfoUpdate(Box<SessionInfoUpdate>) from SessionInfoUpdate,
        /// How full the context is, and what the session has cost.
        "usage_update" => UsageUpdate(UsageUpdate) from UsageUpdate,
        /// Something to tell the person that is no part of the conversation. Only for clients with the capability
        /// `session.notices`.
        "notice" => Notice(Notice) from Notice,
        /// A compaction of the context began or changed. Only for clients with the capability `session.compaction`.
        "compaction_update" => CompactionUpdate(Box<CompactionUpdate>) from CompactionUpdate,
        /// A piece of a compaction's summary. Only for clients with the capability `session.compaction`.
        "compaction_summary_chunk" => CompactionSummaryChunk(CompactionSummaryChunk) from CompactionSummaryChunk,
    }
    else {
        /// An update of a kind that this version does not know: the whole object.
        Unknown
    }
}

object! {
    /// A piece of a message.
    ContentChunk {
        /// The piece.
        required content: ContentBlock,
        /// The message it belongs to. Another id begins another message.
        lenient message_id: Option<MessageId>,
        meta,
    }
}

object! {
    /// The update `session_info_update`: what is kept is left out, what is cleared is null.
    SessionInfoUpdate {
        /// What to call the session in front of people.
        patch title: Patch<String>,
        /// When something last happened in it, in ISO 8601.
        patch updated_at: Patch<String>,
        meta,
    }
}
