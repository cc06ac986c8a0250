//! The notification `session/update` and the union of its updates. Also defines `config_option_update`, `session_info_update`
//! and `usage_update`.

pub(crate) mod command;
pub(crate) mod compaction;
pub(crate) mod diff;
pub(crate) mod message;
pub(crate) mod plan;
pub(crate) mod state;
pub(crate) mod tool_call;

use agentwire_wire_derive::{Build, Wire};

use super::{
    AgentMessage, AgentThought, AvailableCommandsUpdate, CompactionSummaryChunk, CompactionUpdate,
    ContentBlock, ContentChunk, PlanUpdate, SessionConfigOption, StateUpdate, TerminalOutputChunk,
    TerminalUpdate, ToolCallContentChunk, ToolCallUpdate, UserMessage,
};
use crate::common::{Cost, MessageId, Meta, Notice, Patch, SessionId};

/// `session/update`: reports what happens in a session.
///
/// See <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#3-agent-reports-output>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct UpdateSessionNotification {
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

impl UpdateSessionNotification {
    /// Part of the agent's answer: the update `agent_message_chunk`.
    #[must_use]
    pub fn message(
        session_id: impl Into<SessionId>,
        message_id: impl Into<MessageId>,
        content: impl Into<ContentBlock>,
    ) -> Self {
        Self::new(session_id, SessionUpdate::AgentMessageChunk(ContentChunk::new(message_id, content)))
    }

    /// Part of the agent's reasoning: the update `agent_thought_chunk`.
    #[must_use]
    pub fn thought(
        session_id: impl Into<SessionId>,
        message_id: impl Into<MessageId>,
        content: impl Into<ContentBlock>,
    ) -> Self {
        Self::new(session_id, SessionUpdate::AgentThoughtChunk(ContentChunk::new(message_id, content)))
    }

    /// The activity of the agent: the update `state_update`.
    #[must_use]
    pub fn state(session_id: impl Into<SessionId>, state: impl Into<StateUpdate>) -> Self {
        Self::new(session_id, SessionUpdate::StateUpdate(Box::new(state.into())))
    }
}

/// An event of a session.
///
/// An object with an id changes by updates, which patch it, and by chunks, which are appended, in the order of their arrival.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "sessionUpdate")]
#[non_exhaustive]
pub enum SessionUpdate {
    /// Part of the person's message.
    #[wire("user_message_chunk")]
    UserMessageChunk(ContentChunk),
    /// The person's message.
    #[wire("user_message", from)]
    UserMessage(UserMessage),
    /// Part of the agent's answer.
    #[wire("agent_message_chunk")]
    AgentMessageChunk(ContentChunk),
    /// The agent's message.
    #[wire("agent_message", from)]
    AgentMessage(AgentMessage),
    /// Part of the agent's reasoning.
    #[wire("agent_thought_chunk")]
    AgentThoughtChunk(ContentChunk),
    /// The agent's reasoning.
    #[wire("agent_thought", from)]
    AgentThought(AgentThought),
    /// The activity of the agent.
    #[wire("state_update", from)]
    StateUpdate(Box<StateUpdate>),
    /// An item to append to the output of a tool call.
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
    /// All slash commands.
    #[wire("available_commands_update", from)]
    AvailableCommandsUpdate(AvailableCommandsUpdate),
    /// All configuration options.
    #[wire("config_option_update", from)]
    ConfigOptionUpdate(ConfigOptionUpdate),
    /// The session's title or another property changed.
    #[wire("session_info_update", from)]
    SessionInfoUpdate(Box<SessionInfoUpdate>),
    /// The use of the context, and the session's cost.
    #[wire("usage_update", from)]
    UsageUpdate(UsageUpdate),
    /// A message to the person that is not part of the conversation.
    #[wire("notice", from)]
    Notice(Notice),
    /// A compaction of the context began or changed.
    #[wire("compaction_update", from)]
    CompactionUpdate(Box<CompactionUpdate>),
    /// Part of a compaction's summary.
    #[wire("compaction_summary_chunk", from)]
    CompactionSummaryChunk(CompactionSummaryChunk),
    /// An update of a kind that this version does not know: the whole object. Keep it when storing, replaying or
    /// forwarding.
    #[wire(unknown)]
    Unknown(Meta),
}

/// The update `config_option_update`: the options have changed.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ConfigOptionUpdate {
    /// All options with their values.
    #[wire(required_valid_items)]
    pub config_options: Vec<SessionConfigOption>,
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
    /// When its content last changed, in RFC 3339.
    #[wire(patch, schema(extend("format" = "date-time")))]
    pub updated_at: Patch<String>,
    /// Extension metadata, as a patch that [merges](Patch::merge) its keys.
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
    /// The cost of the session so far.
    #[wire(patch)]
    pub cost: Patch<Cost>,
    /// Extension metadata; receivers make no assumptions about its keys.
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
