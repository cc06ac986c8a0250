//! The entries of a conversation: messages, compactions, notices and unknown updates.

use agentwire_acp_schema::v1::{
    CompactionId, CompactionStatus, CompactionUpdate, ContentBlock, MessageId, Meta, Notice, Patch,
};

use super::change::ChangedFields;
use super::limits::{ConversationLimits, ENTRY, replace, replace_list};
use super::patch::{merge_meta, set_or_default};
use super::tool_call::ToolCallEntry;
use super::weight::weight;

/// An entry of a conversation. Its index is that of its first update.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Entry {
    /// A message of the user or the agent, or a thought.
    Message(Message),
    /// A tool call.
    ToolCall(Box<ToolCallEntry>),
    /// A compaction of the context.
    Compaction(Box<Compaction>),
    /// A notice for the user, which is not part of the conversation.
    Notice(Notice),
    /// The whole object of an update of an unknown kind. A view must not draw it as a known kind.
    Unknown(Meta),
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MessageKind {
    /// The user's.
    User,
    /// The agent's.
    Agent,
    /// A thought of the agent.
    Thought,
}

/// A message, with its chunks joined.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Message {
    /// Its author.
    pub kind: MessageKind,
    /// Its id, if the agent sends one.
    pub message_id: Option<MessageId>,
    /// Its content. Adjacent texts with the same annotations are one block.
    pub content: Vec<ContentBlock>,
    /// The last `_meta` of a chunk.
    pub meta: Option<Meta>,
    /// How many bytes of memory were left out of the message, because it is too large. Nothing is added after a gap.
    pub omitted: usize,
    /// The weights of the content and of the `_meta`.
    weights: (usize, usize),
}

impl Message {
    pub(super) fn new(kind: MessageKind, message_id: Option<MessageId>) -> Self {
        Self { kind, message_id, content: Vec::new(), meta: None, omitted: 0, weights: (0, 0) }
    }

    /// Makes a message of the user's prompt. The blocks from the first one over the limit on are left out.
    pub(super) fn of_prompt(content: impl IntoIterator<Item = ContentBlock>, limit: usize) -> Self {
        let mut message = Self::new(MessageKind::User, None);
        for block in content {
            let weight = weight(&block);
            if message.omitted == 0 && message.weights.0.saturating_add(weight) <= limit {
                message.weights.0 += weight;
                message.content.push(block);
            } else {
                message.omitted = message.omitted.saturating_add(weight);
            }
        }
        message
    }

    /// Returns its text blocks, joined.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(ContentBlock::as_text).collect()
    }

    pub(super) fn weight(&self) -> usize {
        ENTRY + self.message_id.as_ref().map_or(0, |id| id.len()) + self.weights.0 + self.weights.1
    }

    /// Adds a chunk. Returns where it was added, which other fields have changed, and how many bytes are left out.
    pub(super) fn push(
        &mut self,
        block: ContentBlock,
        meta: Option<Meta>,
        limits: ConversationLimits,
    ) -> (Option<AppendPoint>, ChangedFields, usize) {
        let (content, meta_weight) = &mut self.weights;
        let (appended, mut omitted) = match self.omitted {
            0 => push_block(&mut self.content, block, content, limits.message),
            // Text after a gap would misrepresent the message.
            _ => (None, weight(&block)),
        };
        // An omitted `_meta` is not a gap in the text.
        self.omitted = self.omitted.saturating_add(omitted);
        let mut fields = ChangedFields { omitted: omitted > 0, ..ChangedFields::default() };
        if meta.is_some() {
            omitted += replace(&mut self.meta, meta, meta_weight, limits.field, &mut fields.meta);
        }
        (appended, fields, omitted)
    }

    /// Replaces the content and merges the `_meta`, for an update of a whole message in version 2. Returns the changed
    /// fields, and how many bytes are left out.
    pub(super) fn patch(
        &mut self,
        content: Patch<Vec<ContentBlock>>,
        meta: Patch<Meta>,
        limits: ConversationLimits,
    ) -> (ChangedFields, usize) {
        let mut fields = ChangedFields::default();
        let (content_weight, meta_weight) = &mut self.weights;
        let mut omitted = 0;
        if let Some(new) = set_or_default(content) {
            let first = &mut fields.content;
            omitted = replace_list(&mut self.content, new, content_weight, limits.message, first);
            // A whole message has no gap. If it is left out, later chunks would continue another text.
            self.omitted = omitted;
        }
        omitted += merge_meta(&mut self.meta, meta, meta_weight, limits, &mut fields.meta);
        fields.omitted = omitted > 0;
        (fields, omitted)
    }
}

/// A compaction of the context, with every update applied.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Compaction {
    /// Its id.
    pub compaction_id: CompactionId,
    /// Its status.
    pub status: CompactionStatus,
    /// The summary that replaces the compacted part.
    pub summary: Vec<ContentBlock>,
    /// Its error.
    pub error: Option<String>,
    /// The `_meta`.
    pub meta: Option<Meta>,
    /// How many bytes of memory of its updates were left out, because they were too large.
    pub omitted: usize,
    weights: CompactionWeights,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CompactionWeights {
    summary: usize,
    /// Whether a part of the summary is left out. Nothing is added after a gap.
    gap: bool,
    status: usize,
    error: usize,
    meta: usize,
}

impl Compaction {
    pub(super) fn new(compaction_id: CompactionId) -> Self {
        Self {
            compaction_id,
            status: CompactionStatus::InProgress,
            summary: Vec::new(),
            error: None,
            meta: None,
            omitted: 0,
            weights: CompactionWeights::default(),
        }
    }

    pub(super) fn weight(&self) -> usize {
        let weights = &self.weights;
        let id = self.compaction_id.len();
        ENTRY + id + weights.summary + weights.status + weights.error + weights.meta
    }

    /// Adds a block to the summary. Returns where it was added, and how many bytes are left out.
    pub(super) fn push(
        &mut self,
        block: ContentBlock,
        limits: ConversationLimits,
    ) -> (Option<AppendPoint>, usize) {
        let weights = &mut self.weights;
        let (appended, omitted) = match weights.gap {
            false => push_block(&mut self.summary, block, &mut weights.summary, limits.content),
            true => (None, weight(&block)),
        };
        weights.gap |= appended.is_none();
        self.omitted = self.omitted.saturating_add(omitted);
        (appended, omitted)
    }

    /// Applies an update. Returns the changed fields, and how many bytes are left out.
    pub(super) fn patch(
        &mut self,
        update: CompactionUpdate,
        limits: ConversationLimits,
    ) -> (ChangedFields, usize) {
        let weights = &mut self.weights;
        let mut fields = ChangedFields::default();
        let mut omitted =
            replace(&mut self.status, update.status, &mut weights.status, limits.field, &mut fields.status);
        if let Some(summary) = set_or_default(update.summary) {
            let (held, first) = (&mut weights.summary, &mut fields.content);
            let left_out = replace_list(&mut self.summary, summary, held, limits.content, first);
            // Later chunks would continue a summary that was left out.
            weights.gap = left_out > 0;
            omitted += left_out;
        }
        omitted += match update.error {
            Patch::Keep => 0,
            Patch::Clear => {
                replace(&mut self.error, None, &mut weights.error, limits.field, &mut fields.error)
            }
            Patch::Set(error) => {
                replace(&mut self.error, Some(error), &mut weights.error, limits.field, &mut fields.error)
            }
        };
        omitted += merge_meta(&mut self.meta, update.meta, &mut weights.meta, limits, &mut fields.meta);
        fields.omitted = omitted > 0;
        self.omitted = self.omitted.saturating_add(omitted);
        (fields, omitted)
    }
}

/// The place at which content was added to a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AppendPoint {
    pub(super) block: usize,
    pub(super) byte: usize,
}

/// Adds a block to a list of the weight `held`, or its text to the last block, unless the list would exceed the limit.
/// Returns the place, and how many bytes are left out.
fn push_block(
    content: &mut Vec<ContentBlock>,
    block: ContentBlock,
    held: &mut usize,
    limit: usize,
) -> (Option<AppendPoint>, usize) {
    let count = content.len();
    let mut fits = |weight: usize| {
        let fits = held.saturating_add(weight) <= limit;
        *held += if fits { weight } else { 0 };
        fits
    };
    if let (Some(ContentBlock::Text(last)), ContentBlock::Text(new)) = (content.last_mut(), &block)
        && last.annotations == new.annotations
        && last.meta == new.meta
    {
        // A growing text reserves up to twice its length.
        let weight = new.text.len().saturating_mul(2);
        if !fits(weight) {
            return (None, weight);
        }
        let byte = last.text.len();
        last.text.push_str(&new.text);
        return (Some(AppendPoint { block: count - 1, byte }), 0);
    }
    let weight = weight(&block);
    if !fits(weight) {
        return (None, weight);
    }
    content.push(block);
    (Some(AppendPoint { block: count, byte: 0 }), 0)
}
