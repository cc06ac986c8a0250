//! Applies messages, tool calls and compactions to a conversation, and drops the oldest entries over the limit.

use agentwire_acp_schema::v1::{
    CompactionId, CompactionSummaryChunk, CompactionUpdate, ContentBlock, ContentChunk, MessageId, Meta,
    Patch, ToolCallContent, ToolCallId,
};

use super::change::ChangedFields;
use super::entry::AppendPoint;
use super::limits::ENTRY;
use super::weight::weight;
use super::{
    Applied, Change, Compaction, Conversation, Echo, Entry, Message, MessageKind, Slot, ToolCallEntry,
    ToolCallPatch,
};

/// One method for each kind of update. Each returns the change, and how many bytes are left out.
impl Conversation {
    pub(super) fn user_chunk(&mut self, chunk: ContentChunk) -> (Change, usize) {
        let Some(Echo { index, next }) = self.echo.take() else {
            return self.chunk(MessageKind::User, chunk);
        };
        let fits = chunk.message_id.as_ref().is_none_or(|id| id.len() <= self.limits.field);
        if let Some(Entry::Message(prompt)) = self.entry_mut(index)
            && fits
            && prompt.content.get(next) == Some(&chunk.content)
        {
            let whole = next + 1 == prompt.content.len();
            self.echo = (!whole).then_some(Echo { index, next: next + 1 });
            return (self.name_prompt(index, chunk.message_id), 0);
        }
        self.chunk(MessageKind::User, chunk)
    }

    /// Sets the agent's id of a prompt, unless the prompt has one.
    fn name_prompt(&mut self, index: usize, id: Option<MessageId>) -> Change {
        let Some(Entry::Message(prompt)) = self.entry_mut(index) else { return Change::Nothing };
        let Some(id) = id.filter(|_| prompt.message_id.is_none()) else { return Change::Nothing };
        prompt.message_id = Some(id.clone());
        let weight = prompt.weight();
        self.set_weight(index, weight);
        self.messages.insert((MessageKind::User, id), index);
        Change::updated(index, ChangedFields { message_id: true, ..Default::default() })
    }

    /// Replaces the content of a message. Adds the message if its id is new.
    pub(super) fn message(
        &mut self,
        kind: MessageKind,
        id: MessageId,
        content: Patch<Vec<ContentBlock>>,
        meta: Patch<Meta>,
    ) -> (Change, usize) {
        let limits = self.limits;
        if id.len() > limits.field {
            return (Change::Nothing, content.value().map_or(0, weight));
        }
        let echo = self.echo.take().filter(|echo| kind == MessageKind::User && echo.next == 0);
        if let (Some(Echo { index, .. }), Patch::Set(blocks)) = (echo, &content)
            && matches!(self.entry(index), Some(Entry::Message(prompt)) if prompt.content == *blocks)
        {
            return (self.name_prompt(index, Some(id)), 0);
        }
        let known = self.messages.get(&(kind, id.clone())).copied();
        let index = known.unwrap_or_else(|| self.add_message(Message::new(kind, Some(id))));
        self.open = None;
        let Some(Entry::Message(message)) = self.entry_mut(index) else { return (Change::Nothing, 0) };
        let (fields, omitted) = message.patch(content, meta, limits);
        let weight = message.weight();
        self.set_weight(index, weight);
        (if known.is_some() { Change::updated(index, fields) } else { Change::Added(index) }, omitted)
    }

    pub(super) fn chunk(&mut self, kind: MessageKind, chunk: ContentChunk) -> (Change, usize) {
        let limits = self.limits;
        if chunk.message_id.as_ref().is_some_and(|id| id.len() > limits.field) {
            return (Change::Nothing, weight(&chunk));
        }
        let known = match &chunk.message_id {
            Some(id) => self.messages.get(&(kind, id.clone())).copied(),
            None => self.open.filter(|(open, _)| *open == kind).map(|(_, index)| index),
        };
        let index = known.unwrap_or_else(|| self.add_message(Message::new(kind, chunk.message_id)));
        self.open = Some((kind, index));
        self.echo = None;
        let Some(Entry::Message(message)) = self.entry_mut(index) else { return (Change::Nothing, 0) };
        let (appended, fields, omitted) = message.push(chunk.content, chunk.meta, limits);
        let weight = message.weight();
        self.set_weight(index, weight);
        let change = match (known, appended) {
            (None, _) => Change::Added(index),
            (Some(_), Some(AppendPoint { block, byte })) => Change::Extended { index, block, byte },
            (Some(_), None) => Change::updated(index, fields),
        };
        (change, omitted)
    }

    fn add_message(&mut self, message: Message) -> usize {
        let key = message.message_id.clone().map(|id| (message.kind, id));
        let weight = message.weight();
        let index = self.add(Entry::Message(message), weight);
        if let Some(key) = key {
            self.messages.insert(key, index);
        }
        index
    }

    /// Adds or changes a tool call. With `is_whole`, members that the patch leaves out get their defaults.
    pub(super) fn tool_updated(&mut self, patch: ToolCallPatch, is_whole: bool) -> (Change, usize) {
        let (limits, id) = (self.limits, patch.tool_call_id.clone());
        if id.len() > limits.field {
            return (Change::Nothing, patch.weight());
        }
        self.with_tool_call(id, |entry| {
            let new = ToolCallEntry::new(patch.tool_call_id.clone());
            let before = is_whole.then(|| std::mem::replace(entry, new));
            let (fields, omitted) = entry.patch(patch, limits);
            (before.map_or(fields, |before| entry.differences(&before)), omitted)
        })
    }

    /// Appends content to a tool call.
    pub(super) fn tool_produced(&mut self, id: ToolCallId, content: ToolCallContent) -> (Change, usize) {
        let limits = self.limits;
        if id.len() > limits.field {
            return (Change::Nothing, weight(&id).saturating_add(weight(&content)));
        }
        self.with_tool_call(id, |entry| entry.push(content, limits))
    }

    /// Changes the tool call with this id. Adds it first if the id is new.
    fn with_tool_call(
        &mut self,
        id: ToolCallId,
        change: impl FnOnce(&mut ToolCallEntry) -> (ChangedFields, usize),
    ) -> (Change, usize) {
        self.echo = None;
        let known = self.tool_calls.get(&id).copied();
        let index = known.unwrap_or_else(|| {
            self.open = None;
            let entry = ToolCallEntry::new(id.clone());
            let weight = entry.weight();
            let index = self.add(Entry::ToolCall(Box::new(entry)), weight);
            self.tool_calls.insert(id, index);
            index
        });
        let Some(Entry::ToolCall(entry)) = self.entry_mut(index) else { return (Change::Nothing, 0) };
        let (fields, omitted) = change(entry);
        let weight = entry.weight();
        self.set_weight(index, weight);
        (if known.is_some() { Change::updated(index, fields) } else { Change::Added(index) }, omitted)
    }

    pub(super) fn compacted(&mut self, update: CompactionUpdate) -> (Change, usize) {
        let limits = self.limits;
        let Some((index, new)) = self.compaction(&update.compaction_id) else {
            return (Change::Nothing, weight(&update));
        };
        let Some(Entry::Compaction(entry)) = self.entry_mut(index) else { return (Change::Nothing, 0) };
        let (fields, omitted) = entry.patch(update, limits);
        let weight = entry.weight();
        self.set_weight(index, weight);
        (if new { Change::Added(index) } else { Change::updated(index, fields) }, omitted)
    }

    pub(super) fn summarized(&mut self, chunk: CompactionSummaryChunk) -> (Change, usize) {
        let limits = self.limits;
        let Some((index, new)) = self.compaction(&chunk.compaction_id) else {
            return (Change::Nothing, weight(&chunk));
        };
        let Some(Entry::Compaction(entry)) = self.entry_mut(index) else { return (Change::Nothing, 0) };
        let (appended, omitted) = entry.push(chunk.content, limits);
        let weight = entry.weight();
        self.set_weight(index, weight);
        let change = match appended {
            _ if new => Change::Added(index),
            Some(AppendPoint { block, byte }) => Change::Extended { index, block, byte },
            None => Change::updated(index, ChangedFields { omitted: omitted > 0, ..Default::default() }),
        };
        (change, omitted)
    }

    /// Returns the index of a compaction and whether it is new, or `None` if its id is too long.
    fn compaction(&mut self, id: &CompactionId) -> Option<(usize, bool)> {
        if id.len() > self.limits.field {
            return None;
        }
        if let Some(index) = self.compactions.get(id) {
            return Some((*index, false));
        }
        self.open = None;
        let entry = Compaction::new(id.clone());
        let weight = entry.weight();
        let index = self.add(Entry::Compaction(Box::new(entry)), weight);
        self.compactions.insert(id.clone(), index);
        Some((index, true))
    }

    /// Adds an entry that never changes. Chunks without an id still continue the message before it.
    pub(super) fn add_small(&mut self, entry: Entry, weight: usize) -> (Change, usize) {
        if weight > self.limits.state {
            return (Change::Nothing, weight);
        }
        (Change::Added(self.add(entry, ENTRY + weight)), 0)
    }

    pub(super) fn add(&mut self, entry: Entry, weight: usize) -> usize {
        self.weight += weight;
        self.slots.push_back(Slot { entry, weight });
        self.first + self.slots.len() - 1
    }

    fn entry_mut(&mut self, index: usize) -> Option<&mut Entry> {
        Some(&mut self.slots.get_mut(index.checked_sub(self.first)?)?.entry)
    }

    fn set_weight(&mut self, index: usize, weight: usize) {
        let position = index.checked_sub(self.first);
        if let Some(slot) = position.and_then(|position| self.slots.get_mut(position)) {
            self.weight = self.weight - slot.weight + weight;
            slot.weight = weight;
        }
    }

    /// Drops the oldest entries until the conversation is within the limit. Returns the outcome of the update.
    pub(super) fn settle(&mut self, mut change: Change, omitted: usize) -> Applied {
        let before = self.first;
        while self.weight() > self.limits.total
            && let Some(slot) = self.slots.pop_front()
        {
            self.weight -= slot.weight;
            self.forget(&slot.entry);
            self.first += 1;
        }
        if change.index().is_some_and(|index| index < self.first) {
            change = Change::Nothing;
        }
        self.omitted = self.omitted.saturating_add(omitted);
        Applied { forgotten: self.first - before, ..Applied::new(change, omitted) }
    }

    /// Removes the index entries of an entry that was dropped.
    fn forget(&mut self, entry: &Entry) {
        let index = self.first;
        match entry {
            Entry::Message(message) => {
                let key = message.message_id.clone().map(|id| (message.kind, id));
                if let Some(key) = key
                    && self.messages.get(&key) == Some(&index)
                {
                    self.messages.remove(&key);
                }
            }
            Entry::ToolCall(call) => {
                self.tool_calls.remove(&call.call.tool_call_id);
            }
            Entry::Compaction(compaction) => {
                self.compactions.remove(&compaction.compaction_id);
            }
            Entry::Notice(_) | Entry::Unknown(_) => {}
        }
        self.open = self.open.filter(|(_, open)| *open != index);
        self.echo = self.echo.filter(|echo| echo.index != index);
    }
}
