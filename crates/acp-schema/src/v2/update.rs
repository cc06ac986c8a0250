use agentwire_jsonrpc::NotificationMethod;
use agentwire_wire_derive::{Build, Wire};

use super::{
    AgentMessage, AgentThought, AvailableCommandsUpdate, CompactionSummaryChunk, CompactionUpdate,
    ContentBlock, ContentChunk, PlanUpdate, SessionConfigOption, StateUpdate, TerminalOutputChunk,
    TerminalUpdate, ToolCallContentChunk, ToolCallUpdate, UserMessage,
};
use crate::common::{Cost, MessageId, Meta, Notice, Patch, SessionId};

/// `session/update`: what happens in a session, told by the agent as it happens.
///
/// See <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#3-agent-reports-output>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct UpdateSessionNotification {
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

impl NotificationMethod for UpdateSessionNotification {
    const NAME: &'static str = "session/update";
}

/// One thing that happened in a session.
///
/// What has an id is told by updates that patch it and by chunks that are appended to it, in the order in which they
/// come.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "sessionUpdate")]
#[non_exhaustive]
pub enum SessionUpdate {
    /// A piece of what the person said.
    #[wire("user_message_chunk")]
    UserMessageChunk(ContentChunk),
    /// What the person said.
    #[wire("user_message", from)]
    UserMessage(UserMessage),
    /// A piece of what the agent says.
    #[wire("agent_message_chunk")]
    AgentMessageChunk(ContentChunk),
    /// What the agent said.
    #[wire("agent_message", from)]
    AgentMessage(AgentMessage),
    /// A piece of what the agent thinks.
    #[wire("agent_thought_chunk")]
    AgentThoughtChunk(ContentChunk),
    /// What the agent thought.
    #[wire("agent_thought", from)]
    AgentThought(AgentThought),
    /// Whether the agent is busy.
    #[wire("state_update", from)]
    StateUpdate(Box<StateUpdate>),
    /// One more thing that a tool call has produced.
    #[wire("tool_call_content_chunk", from)]
    ToolCallContentChunk(Box<ToolCallContentChunk>),
    /// A tool call began or changed.
    #[wire("tool_call_update", from)]
    ToolCallUpdate(Box<ToolCallUpdate>),
    /// A terminal of the agent began or changed.
    #[wire("terminal_update", from)]
    TerminalUpdate(Box<TerminalUpdate>),
    /// Bytes to append to the output of a terminal.
    #[wire("terminal_output_chunk", from)]
    TerminalOutputChunk(TerminalOutputChunk),
    /// A plan began or changed.
    #[wire("plan_update", from)]
    PlanUpdate(Box<PlanUpdate>),
    /// The slash commands, all of them.
    #[wire("available_commands_update", from)]
    AvailableCommandsUpdate(AvailableCommandsUpdate),
    /// The configuration options, all of them.
    #[wire("config_option_update", from)]
    ConfigOptionUpdate(ConfigOptionUpdate),
    /// Something about the session itself changed.
    #[wire("session_info_update", from)]
    SessionInfoUpdate(Box<SessionInfoUpdate>),
    /// How full the context is, and what the session has cost.
    #[wire("usage_update", from)]
    UsageUpdate(UsageUpdate),
    /// Something to tell the person that is no part of the conversation.
    #[wire("notice", from)]
    Notice(Notice),
    /// A compaction of the context began or changed.
    #[wire("compaction_update", from)]
    CompactionUpdate(Box<CompactionUpdate>),
    /// A piece of a compaction's summary.
    #[wire("compaction_summary_chunk", from)]
    CompactionSummaryChunk(CompactionSummaryChunk),
    /// An update of a kind that this version does not know: the whole object. Keep it when storing, replaying or
    /// passing on.
    #[wire(unknown)]
    Unknown(Meta),
}

/// The update `config_option_update`: the options are different now.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ConfigOptionUpdate {
    /// All options with their values.
    #[wire(required_valid_items)]
    pub config_options: Vec<SessionConfigOption>,
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
    /// When something last happened in it, as RFC 3339 writes it.
    #[wire(patch, schema(extend("format" = "date-time")))]
    pub updated_at: Patch<String>,
    /// Free room; see [`Meta`]. It is [merged](Patch::merge).
    #[wire(patch, name = "_meta")]
    pub meta: Patch<Meta>,
}

/// The update `usage_update`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[wire(without_new)]
#[non_exhaustive]
pub struct UsageUpdate {
    /// Tokens in the context now.
    #[wire(required)]
    pub used: u64,
    /// Tokens that fit into it.
    #[wire(required)]
    pub size: u64,
    /// What the session has cost so far.
    #[wire(patch)]
    pub cost: Patch<Cost>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl UsageUpdate {
    /// So many tokens of so many.
    #[must_use]
    pub fn new(used: u64, size: u64) -> Self {
        Self { used, size, cost: Patch::Keep, meta: None }
    }
}
