use agentwire_acp_schema::v1::{
    CompactionId, CompactionStatus, CompactionUpdate, ContentBlock, MessageId, Meta, Notice, Patch,
};

use super::change::ChangedFields;
use super::limits::{ConversationLimits, ENTRY, replace, replace_list};
use super::tool_call::ToolCallEntry;
use super::weight::weight;

/// One thing in the flow of a conversation, placed where it was first heard of.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Entry {
    /// Something that was said or thought.
    Message(Message),
    /// A tool call.
    ToolCall(Box<ToolCallEntry>),
    /// A compaction of the context.
    Compaction(Box<Compaction>),
    /// Something to tell the person, which is no part of what is said.
    Notice(Notice),
    /// An update of a kind that this version does not know: the whole object. It must not be drawn as if it were of a
    /// known one.
    Unknown(Meta),
}

/// Whose message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MessageKind {
    /// The person's.
    User,
    /// The agent's answer.
    Agent,
    /// What the agent thinks.
    Thought,
}

/// A message, with its chunks put together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Message {
    /// Whose it is.
    pub kind: MessageKind,
    /// Its id, if the agent gives any.
    pub message_id: Option<MessageId>,
    /// What it says. Text that follows text with the same annotations is one block.
    pub content: Vec<ContentBlock>,
    /// The `_meta` of the last chunk that had any.
    pub meta: Option<Meta>,
    /// How much of it, in bytes of memory, is not kept because the message is too large. Nothing is added after a gap.
    pub omitted: usize,
    /// What the content weighs, and the `_meta`.
    weights: (usize, usize),
}

impl Message {
    pub(super) fn new(kind: MessageKind, message_id: Option<MessageId>) -> Self {
        Self { kind, message_id, content: Vec::new(), meta: None, omitted: 0, weights: (0, 0) }
    }

    /// What the person said, in the blocks in which it was said.
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

    /// All of its text, without what is not text.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(ContentBlock::as_text).collect()
    }

    pub(super) fn weight(&self) -> usize {
        ENTRY + self.message_id.as_ref().map_or(0, |id| id.len()) + self.weights.0 + self.weights.1
    }

    /// Adds a chunk. Says where, what else is different, and how much is left out.
    pub(super) fn push(
        &mut self,
        block: ContentBlock,
        meta: Option<Meta>,
        limits: ConversationLimits,
    ) -> (Option<Grown>, ChangedFields, usize) {
        let (content, meta_weight) = &mut self.weights;
        let (grown, mut omitted) = match self.omitted {
            0 => push_block(&mut self.content, block, content, limits.message),
            // A text with a hole in it would be a lie.
            _ => (None, weight(&block)),
        };
        // What is left out of it leaves no hole in the text.
        self.omitted = self.omitted.saturating_add(omitted);
        let mut fields = ChangedFields { omitted: omitted > 0, ..ChangedFields::default() };
        if meta.is_some() {
            omitted += replace(&mut self.meta, meta, meta_weight, limits.field, &mut fields.meta);
        }
        (grown, fields, omitted)
    }

    /// Replaces the content and merges the `_meta`, as an update of a whole message in version 2 does. Returns what is
    /// different, and how much is left out.
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
            // A whole message has no gap. Where it is not kept, chunks that follow would belong to another text.
            self.omitted = omitted;
        }
        omitted += merge_meta(&mut self.meta, meta, meta_weight, limits, &mut fields.meta);
        fields.omitted = omitted > 0;
        (fields, omitted)
    }
}

/// The value that a patch sets, where clearing sets the default. None if the patch keeps the value.
pub(super) fn set_or_default<T: Default>(patch: Patch<T>) -> Option<T> {
    match patch {
        Patch::Keep => None,
        Patch::Clear => Some(T::default()),
        Patch::Set(value) => Some(value),
    }
}

/// Merges a patch of `_meta` key by key, unless the patch or its result is too large. Returns how much is left out.
pub(super) fn merge_meta(
    meta: &mut Option<Meta>,
    patch: Patch<Meta>,
    held: &mut usize,
    limits: ConversationLimits,
    changed: &mut bool,
) -> usize {
    if patch.is_keep() {
        return 0;
    }
    // What the merge comes to is only known afterwards. A patch that is too large by itself costs nothing.
    let weight = patch.value().map_or(0, weight);
    if weight > limits.field {
        return weight;
    }
    let mut merged = meta.clone();
    patch.merge(&mut merged);
    replace(meta, merged, held, limits.field, changed)
}

/// A compaction of the context, as all that was told about it says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Compaction {
    /// Its id.
    pub compaction_id: CompactionId,
    /// How far it is.
    pub status: CompactionStatus,
    /// What is kept of the conversation.
    pub summary: Vec<ContentBlock>,
    /// What went wrong.
    pub error: Option<String>,
    /// Free room.
    pub meta: Option<Meta>,
    /// How much of what was told, in bytes of memory, was too large to be kept.
    pub omitted: usize,
    weights: CompactionWeights,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CompactionWeights {
    summary: usize,
    /// Nothing is added to a summary of which a piece is missing.
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

    /// Adds a piece to the summary. Says where, and how much is left out.
    pub(super) fn push(&mut self, block: ContentBlock, limits: ConversationLimits) -> (Option<Grown>, usize) {
        let weights = &mut self.weights;
        let (grown, omitted) = match weights.gap {
            false => push_block(&mut self.summary, block, &mut weights.summary, limits.content),
            true => (None, weight(&block)),
        };
        weights.gap |= grown.is_none();
        self.omitted = self.omitted.saturating_add(omitted);
        (grown, omitted)
    }

    /// Takes over what the update says. Says what is different, and how much is left out.
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
            // What follows would go on with another summary than the one that is kept.
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

/// Where the content of a list went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grown {
    pub(super) block: usize,
    pub(super) byte: usize,
}

/// Adds a block to a list that weighs `held`, or its text to the last block, unless that is too much. Says where, and how
/// much is left out.
fn push_block(
    content: &mut Vec<ContentBlock>,
    block: ContentBlock,
    held: &mut usize,
    limit: usize,
) -> (Option<Grown>, usize) {
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
        // A text that grows has up to twice the memory that it needs.
        let weight = new.text.len().saturating_mul(2);
        if !fits(weight) {
            return (None, weight);
        }
        let byte = last.text.len();
        last.text.push_str(&new.text);
        return (Some(Grown { block: count - 1, byte }), 0);
    }
    let weight = weight(&block);
    if !fits(weight) {
        return (None, weight);
    }
    content.push(block);
    (Some(Grown { block: count, byte: 0 }), 0)
}
