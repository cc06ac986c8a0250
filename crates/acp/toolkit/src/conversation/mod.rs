//! The conversation of a session, built from its updates within memory limits.

mod apply;
mod change;
mod entry;
mod limits;
mod patch;
mod settings;
mod state;
mod terminal;
mod terminal_meta;
mod tool_call;
mod update;
#[cfg(feature = "v2")]
pub(crate) mod v2;
mod weight;

use std::collections::{HashMap, VecDeque};

use agentwire_acp_schema::v1::{
    AvailableCommand, CompactionId, ContentBlock, MessageId, Meta, Plan, SessionUpdate, StopReason,
    TerminalId, ToolCallId, UsageUpdate,
};

pub use change::{Applied, Change, ChangedFields, TerminalChange};
pub use entry::{Compaction, Entry, Message, MessageKind};
pub use limits::ConversationLimits;
pub use terminal::{AgentTerminal, CommandExit, TerminalPatch};
pub use tool_call::{ToolCallEntry, ToolCallPatch};
pub use update::Update;
pub use weight::memory_estimate;

use state::SessionState;
use terminal::AgentTerminals;
use terminal_meta::take_terminal;
use weight::weight;

/// The default memory limit of a conversation: 128 MiB.
const LIMIT: usize = 128 * 1024 * 1024;

/// The state of a session for a view, built from its updates.
///
/// Pass every update of either version of the protocol to [`apply`](Self::apply), during a replay and during a turn: see
/// [`Update`]. Report the events that have no update:
///
/// - [`opened`](Self::opened): the settings of the opened session,
/// - [`prompt`](Self::prompt): the user's prompt,
/// - [`cancelled`](Self::cancelled) and [`turn_ended`](Self::turn_ended): the end of a turn.
///
/// The answers to `session/set_mode` and `session/set_config_option`, and the call in a permission request, are applied
/// like updates:
///
/// ```
/// use agentwire_acp_schema::v1::*;
/// use agentwire_acp_toolkit::{Change, Conversation, Entry};
///
/// let mut conversation = Conversation::new();
/// let applied = conversation.apply(SessionNotification::message("session-1", "Let me ").update);
/// assert_eq!(applied.change, Change::Added(0));
/// let applied = conversation.apply(SessionNotification::message("session-1", "see.").update);
/// assert_eq!(applied.change, Change::Extended { index: 0, block: 0, byte: 7 });
/// let Some(Entry::Message(message)) = conversation.entry(0) else { panic!("it is a message") };
/// assert_eq!(message.text(), "Let me see.");
///
/// let request = RequestPermissionRequest::new("session-1", ToolCallUpdate::new("call-1").title("Run `ls`"), []);
/// assert_eq!(conversation.apply(request.tool_call).change, Change::Added(1));
/// let answer = SetSessionConfigOptionResponse::new([SessionConfigOption::boolean("loud", "Loud", true)]);
/// assert_eq!(conversation.apply(ConfigOptionUpdate::new(answer.config_options)).change, Change::ConfigOptions);
/// ```
///
/// # Entries
///
/// Messages, tool calls, compactions and notices are [entries](Entry), in the order of their first updates. The index
/// of an entry never changes, even when older entries are dropped.
///
/// Chunks with the same id are one message, wherever they arrive. A chunk without an id continues the last message of
/// its kind, if only notices and state came between. Blocks of a [`prompt`](Self::prompt) that the agent repeats are not
/// added twice.
///
/// # Terminals of the agent
///
/// A command that the agent runs by itself is an [`AgentTerminal`], beside the entries. [`Applied::terminal`] names its changes.
///
/// # Limit
///
/// The memory is bounded by [`limit`](Self::limit), for a session of any length and a hostile agent. Over the limit the
/// oldest entries are dropped. Each part has a share of the limit, see [`ConversationLimits`]; a value over its share is
/// left out. [`Applied`] reports both.
///
/// # Cost
///
/// [`apply`](Self::apply) takes time in proportion to the update, not to the conversation: a chunk is appended, a value is
/// measured and compared once. The same holds for a view that draws only the parts that [`Change`] names.
///
/// See <https://agentclientprotocol.com/protocol/v1/prompt-turn>.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    limits: ConversationLimits,
    slots: VecDeque<Slot>,
    /// The index of the first slot: how many entries were dropped.
    first: usize,
    /// The sum of the slots' weights.
    weight: usize,
    messages: HashMap<(MessageKind, MessageId), usize>,
    tool_calls: HashMap<ToolCallId, usize>,
    compactions: HashMap<CompactionId, usize>,
    /// The message that a chunk without an id continues.
    open: Option<(MessageKind, usize)>,
    echo: Option<Echo>,
    state: SessionState,
    terminals: AgentTerminals,
    omitted: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Slot {
    entry: Entry,
    weight: usize,
}

/// A prompt that the agent may repeat.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Echo {
    index: usize,
    /// The next block of the repetition.
    next: usize,
}

impl Default for Conversation {
    fn default() -> Self {
        Self {
            limits: ConversationLimits::new(LIMIT),
            slots: VecDeque::new(),
            first: 0,
            weight: 0,
            messages: HashMap::new(),
            tool_calls: HashMap::new(),
            compactions: HashMap::new(),
            open: None,
            echo: None,
            state: SessionState::default(),
            terminals: AgentTerminals::default(),
            omitted: 0,
        }
    }
}

impl Conversation {
    /// Makes an empty conversation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the memory limit in bytes (default 128 MiB). The memory is estimated, rather too high than too low. Set it
    /// before the first update.
    #[must_use]
    pub fn limit(self, bytes: usize) -> Self {
        self.limits(ConversationLimits::new(bytes))
    }

    /// Sets the memory limits of the whole and of each part. Set them before the first update.
    #[must_use]
    pub fn limits(mut self, limits: ConversationLimits) -> Self {
        self.limits = limits;
        self
    }

    pub(crate) fn current_limits(&self) -> ConversationLimits {
        self.limits
    }

    /// Applies one update of either version of the protocol. Returns the changes.
    pub fn apply(&mut self, update: impl Into<Update>) -> Applied {
        let mut update = update.into();
        let terminal = match &mut update {
            Update::Common(SessionUpdate::ToolCall(call)) => {
                take_terminal(&call.tool_call_id, &mut call.meta)
            }
            Update::Common(SessionUpdate::ToolCallUpdate(call)) => {
                take_terminal(&call.tool_call_id, &mut call.meta)
            }
            _ => None,
        };
        let (change, omitted) = match update {
            Update::Common(update) => self.apply_common(update),
            Update::Terminal(patch) => return self.apply_terminal(Change::Nothing, 0, *patch),
            Update::Message { kind, message_id, content, meta } => {
                self.message(kind, message_id, content, meta)
            }
            Update::ToolCall(patch) => self.tool_updated(*patch, false),
            Update::ToolCallContent { tool_call_id, content } => self.tool_produced(tool_call_id, content),
            Update::Usage { mut usage, cost } => {
                usage.cost = self.usage().and_then(|usage| usage.cost.clone());
                cost.apply(&mut usage.cost);
                self.apply_common(usage.into())
            }
            Update::Ignored => (Change::Nothing, 0),
        };
        match terminal {
            Some(patch) => self.apply_terminal(change, omitted, patch),
            None => self.settle(change, omitted),
        }
    }

    /// Applies the patch of a terminal, beside another change of the same update.
    fn apply_terminal(&mut self, change: Change, omitted: usize, patch: TerminalPatch) -> Applied {
        let (terminal, left_out) = self.terminals.patch(patch, self.limits);
        Applied { terminal, ..self.settle(change, omitted.saturating_add(left_out)) }
    }

    fn apply_common(&mut self, update: SessionUpdate) -> (Change, usize) {
        let limits = self.limits;
        match update {
            SessionUpdate::UserMessageChunk(chunk) => self.user_chunk(chunk),
            SessionUpdate::AgentMessageChunk(chunk) => self.chunk(MessageKind::Agent, chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => self.chunk(MessageKind::Thought, chunk),
            SessionUpdate::ToolCall(call) => self.tool_updated((*call).into(), true),
            SessionUpdate::ToolCallUpdate(update) => self.tool_updated((*update).into(), false),
            SessionUpdate::CompactionUpdate(update) => self.compacted(*update),
            SessionUpdate::CompactionSummaryChunk(chunk) => self.summarized(chunk),
            SessionUpdate::Plan(plan) => (Change::Plan, self.state.plan.set(Some(plan), limits.state)),
            SessionUpdate::UsageUpdate(usage) => {
                (Change::Usage, self.state.usage.set(Some(usage), limits.field))
            }
            SessionUpdate::AvailableCommandsUpdate(update) => {
                (Change::Commands, self.state.commands.set(update.available_commands, limits.state))
            }
            SessionUpdate::CurrentModeUpdate(update) => {
                (Change::Mode, self.state.current_mode.set(Some(update.current_mode_id), limits.field))
            }
            SessionUpdate::ConfigOptionUpdate(update) => {
                (Change::ConfigOptions, self.state.config_options.set(update.config_options, limits.state))
            }
            SessionUpdate::SessionInfoUpdate(update) => {
                let (title, omitted) = self.state.patch_info(*update, limits);
                (Change::Info { title }, omitted)
            }
            SessionUpdate::Notice(notice) => {
                let weight = weight(&notice);
                self.add_small(Entry::Notice(notice), weight)
            }
            SessionUpdate::Unknown(object) => {
                let weight = weight(&object);
                self.add_small(Entry::Unknown(object), weight)
            }
            // A kind of update that the schema has and this crate does not know.
            _ => (Change::Nothing, 0),
        }
    }

    /// Adds the user's prompt as a message, before it is sent. A chunk without an id begins a new message after it.
    pub fn prompt(&mut self, content: impl IntoIterator<Item = ContentBlock>) -> Applied {
        let message = Message::of_prompt(content, self.limits.message);
        let omitted = message.omitted;
        let weight = message.weight();
        let index = self.add(Entry::Message(message), weight);
        self.open = None;
        self.echo = (omitted == 0).then_some(Echo { index, next: 0 });
        self.settle(Change::Added(index), omitted)
    }

    /// Marks every tool call that has not ended as cancelled. Returns their indices. Call it when `session/cancel` was
    /// sent. Later updates of these calls are still applied.
    pub fn cancelled(&mut self) -> Vec<usize> {
        let mut marked = Vec::new();
        for (index, slot) in (self.first..).zip(&mut self.slots) {
            if let Entry::ToolCall(call) = &mut slot.entry
                && !call.has_ended()
            {
                call.cancelled = true;
                marked.push(index);
            }
        }
        marked
    }

    /// Ends the turn: the next chunk without an id begins a new message. After [`Cancelled`](StopReason::Cancelled),
    /// marks tool calls as [`cancelled`](Self::cancelled) does, and returns their indices.
    pub fn turn_ended(&mut self, reason: &StopReason) -> Vec<usize> {
        self.open = None;
        self.echo = None;
        if *reason == StopReason::Cancelled { self.cancelled() } else { Vec::new() }
    }

    /// Returns the entries that were not dropped, with their indices.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (usize, &Entry)> + ExactSizeIterator {
        self.slots.iter().enumerate().map(|(position, slot)| (self.first + position, &slot.entry))
    }

    /// Returns an entry, or `None` if it does not exist yet or was dropped.
    pub fn entry(&self, index: usize) -> Option<&Entry> {
        Some(&self.slots.get(index.checked_sub(self.first)?)?.entry)
    }

    /// Returns a tool call and its index.
    pub fn tool_call(&self, id: &ToolCallId) -> Option<(usize, &ToolCallEntry)> {
        let index = *self.tool_calls.get(id)?;
        match self.entry(index)? {
            Entry::ToolCall(call) => Some((index, call)),
            _ => None,
        }
    }

    /// Returns a terminal of the agent, or `None` if it does not exist yet or was dropped.
    pub fn terminal(&self, index: usize) -> Option<&AgentTerminal> {
        self.terminals.get(index)
    }

    /// Returns the terminal of the agent with this id, and its index.
    pub fn terminal_of(&self, id: &TerminalId) -> Option<(usize, &AgentTerminal)> {
        self.terminals.find(id)
    }

    /// Returns the plan, if there is one.
    pub fn plan(&self) -> Option<&Plan> {
        self.state.plan.value.as_ref()
    }

    /// Returns the usage of the context, and the cost of the session.
    pub fn usage(&self) -> Option<&UsageUpdate> {
        self.state.usage.value.as_ref()
    }

    /// Returns the slash commands.
    pub fn commands(&self) -> &[AvailableCommand] {
        &self.state.commands.value
    }

    /// Returns the title of the session.
    pub fn title(&self) -> Option<&str> {
        self.state.title.value.as_deref()
    }

    /// Returns the time of the last activity, in ISO 8601, as the agent sent it.
    pub fn updated_at(&self) -> Option<&str> {
        self.state.updated_at.value.as_deref()
    }

    /// Returns the last `_meta` of the session itself.
    pub fn meta(&self) -> Option<&Meta> {
        self.state.meta.value.as_ref()
    }

    /// Returns how many entries were dropped, which is the index of the first that was not.
    pub fn forgotten(&self) -> usize {
        self.first
    }

    /// Returns how many bytes of memory of all updates were left out.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// Returns the estimated memory of the conversation in bytes. It never exceeds the limit.
    pub fn weight(&self) -> usize {
        self.weight + self.state.weight() + self.terminals.weight()
    }
}
