use agentwire_jsonrpc::Notice as NoticeMethod;

use super::{
    AgentMessage, AgentThought, AvailableCommandsUpdate, CompactionSummaryChunk, CompactionUpdate,
    ContentBlock, ContentChunk, PlanUpdate, SessionConfigOption, StateUpdate, TerminalOutputChunk,
    TerminalUpdate, ToolCallContentChunk, ToolCallUpdate, UserMessage,
};
use crate::common::{Cost, MessageId, Meta, Notice, Patch, SessionId};
use crate::wire::{object, tagged_union};

object! {
    /// `session/update`: what happens in a session, told by the agent as it happens.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#3-agent-reports-output>.
    UpdateSessionNotification {
        /// The session.
        required session_id: SessionId,
        /// What happened.
        required update: SessionUpdate,
        meta,
    }
}

impl UpdateSessionNotification {
    /// A piece of what the agent says: the update `agent_message_chunk`.
    #[must_use]
    pub fn message(
        session_id: impl Into<SessionId>,
        message_id: impl Into<MessageId>,
        content: impl Into<ContentBlock>,
    ) -> Self {
        Self::new(session_id, SessionUpdate::AgentMessageChunk(ContentChunk::new(message_id, content)))
    }

    /// A piece of what the agent thinks: the update `agent_thought_chunk`.
    #[must_use]
    pub fn thought(
        session_id: impl Into<SessionId>,
        message_id: impl Into<MessageId>,
        content: impl Into<ContentBlock>,
    ) -> Self {
        Self::new(session_id, SessionUpdate::AgentThoughtChunk(ContentChunk::new(message_id, content)))
    }

    /// Whether the agent is busy: the update `state_update`.
    #[must_use]
    pub fn state(session_id: impl Into<SessionId>, state: impl Into<StateUpdate>) -> Self {
        Self::new(session_id, SessionUpdate::StateUpdate(Box::new(state.into())))
    }
}

impl NoticeMethod for UpdateSessionNotification {
    const NAME: &'static str = "session/update";
}

tagged_union! {
    /// One thing that happened in a session.
    ///
    /// What has an id is told by updates that patch it and by chunks that are appended to it, in the order in which they
    /// come.
    SessionUpdate by "sessionUpdate" {
        /// A piece of what the person said.
        "user_message_chunk" => UserMessageChunk(ContentChunk),
        /// What the person said.
        "user_message" => UserMessage(UserMessage) from UserMessage,
        /// A piece of what the agent says.
        "agent_message_chunk" => AgentMessageChunk(ContentChunk),
        /// What the agent said.
        "agent_message" => AgentMessage(AgentMessage) from AgentMessage,
        /// A piece of what the agent thinks.
        "agent_thought_chunk" => AgentThoughtChunk(ContentChunk),
        /// What the agent thought.
        "agent_thought" => AgentThought(AgentThought) from AgentThought,
        /// Whether the agent is busy.
        "state_update" => StateUpdate(Box<StateUpdate>) from StateUpdate,
        /// One more thing that a tool call has produced.
        "tool_call_content_chunk" => ToolCallContentChunk(Box<ToolCallContentChunk>) from ToolCallContentChunk,
        /// A tool call began or changed.
        "tool_call_update" => ToolCallUpdate(Box<ToolCallUpdate>) from ToolCallUpdate,
        /// A terminal of the agent began or changed.
        "terminal_update" => TerminalUpdate(Box<TerminalUpdate>) from TerminalUpdate,
        /// Bytes to append to the output of a terminal.
        "terminal_output_chunk" => TerminalOutputChunk(TerminalOutputChunk) from TerminalOutputChunk,
        /// A plan began or changed.
        "plan_update" => PlanUpdate(Box<PlanUpdate>) from PlanUpdate,
        /// The slash commands, all of them.
        "available_commands_update" => AvailableCommandsUpdate(AvailableCommandsUpdate) from AvailableCommandsUpdate,
        /// The configuration options, all of them.
        "config_option_update" => ConfigOptionUpdate(ConfigOptionUpdate) from ConfigOptionUpdate,
        /// Something about the session itself changed.
        "session_info_update" => SessionInfoUpdate(Box<SessionInfoUpdate>) from SessionInfoUpdate,
        /// How full the context is, and what the session has cost.
        "usage_update" => UsageUpdate(UsageUpdate) from UsageUpdate,
        /// Something to tell the person that is no part of the conversation.
        "notice" => Notice(Notice) from Notice,
        /// A compaction of the context began or changed.
        "compaction_update" => CompactionUpdate(Box<CompactionUpdate>) from CompactionUpdate,
        /// A piece of a compaction's summary.
        "compaction_summary_chunk" => CompactionSummaryChunk(CompactionSummaryChunk) from CompactionSummaryChunk,
    }
    else {
        /// An update of a kind that this version does not know: the whole object. Keep it when storing, replaying or
        /// passing on.
        Unknown
    }
}

object! {
    /// The update `config_option_update`: the options are different now.
    ConfigOptionUpdate {
        /// All options with their values.
        required_valid_items config_options: Vec<SessionConfigOption>,
        meta,
    }
}

object! {
    /// The update `session_info_update`: what is kept is left out, what is cleared is null.
    SessionInfoUpdate {
        /// What to call the session in front of people.
        patch title: Patch<String>,
        /// When something last happened in it, as RFC 3339 writes it.
        #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
        patch updated_at: Patch<String>,
        /// Free room; see [`Meta`]. It is [merged](Patch::merge).
        patch meta: Patch<Meta> = "_meta",
    }
}

object! {
    /// The update `usage_update`.
    UsageUpdate without new {
        /// Tokens in the context now.
        required used: u64,
        /// Tokens that fit into it.
        required size: u64,
        /// What the session has cost so far.
        patch cost: Patch<Cost>,
        meta,
    }
}

impl UsageUpdate {
    /// So many tokens of so many.
    #[must_use]
    pub fn new(used: u64, size: u64) -> Self {
        Self { used, size, cost: Patch::Keep, meta: None }
    }
}
