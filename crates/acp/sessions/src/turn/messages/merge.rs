//! Merges the updates of a session into messages.

use std::collections::{HashMap, VecDeque};

use agentwire_acp_schema::v1::{
    ContentBlock, ContentChunk, MessageId, SessionUpdate, ToolCall, ToolCallContent, ToolCallId,
    ToolCallUpdate,
};
use agentwire_jsonrpc::{RawJson, RawObject};

use super::message::{AssistantMessage, Message, ToolResult, ToolUse, UserMessage};
use super::render::push_block;
use crate::update::tool_call::{apply, is_open};

/// The longest name that is made of a title: the limit that the APIs of models have for a tool's name.
const NAME_LIMIT: usize = 64;

/// The bytes that a message, a block and a tool call each add to the count of their text and JSON, which may be empty.
const PART_COST: usize = 64;

/// Merges updates, in their order, into messages, and keeps the newest turns within a limit.
pub(super) struct Merge {
    /// The turns that have ended, oldest first, with their bytes.
    ended: VecDeque<(Vec<Message>, usize)>,
    /// The sum of the bytes of the turns that have ended.
    bytes: usize,
    limit: usize,
    turn: OpenTurn,
}

impl Merge {
    /// `limit` is in bytes of text and JSON, plus [`PART_COST`] for each part.
    pub(super) fn new(limit: usize) -> Self {
        Self { ended: VecDeque::new(), bytes: 0, limit, turn: OpenTurn::default() }
    }

    pub(super) fn add(&mut self, update: SessionUpdate) {
        match update {
            SessionUpdate::UserMessageChunk(chunk) => {
                if !self.turn.continues_prompt(&chunk) {
                    self.end_turn();
                }
                self.turn.add_prompt(chunk);
            }
            SessionUpdate::AgentMessageChunk(chunk) => self.turn.add_text(&chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => self.turn.add_thought(&chunk),
            SessionUpdate::ToolCall(call) => self.turn.add_call(*call),
            SessionUpdate::ToolCallUpdate(update) => self.turn.update_call(*update),
            _ => {}
        }
    }

    /// Returns the messages: the newest turns that fit, and the last turn in any case.
    pub(super) fn finish(mut self) -> Vec<Message> {
        let last = std::mem::take(&mut self.turn).end();
        self.bytes += last.1;
        self.drop_oldest();
        self.ended.push_back(last);
        self.ended.into_iter().flat_map(|(messages, _)| messages).collect()
    }

    fn end_turn(&mut self) {
        let ended = std::mem::take(&mut self.turn).end();
        self.bytes += ended.1;
        self.ended.push_back(ended);
        self.drop_oldest();
    }

    fn drop_oldest(&mut self) {
        while self.bytes > self.limit
            && let Some((_, bytes)) = self.ended.pop_front()
        {
            self.bytes -= bytes;
        }
    }
}

/// The turn whose updates are being added: a prompt, and everything up to the next one.
#[derive(Default)]
struct OpenTurn {
    prompt: Option<Prompt>,
    answers: Vec<AnswerStep>,
    calls: Calls,
}

type Calls = HashMap<ToolCallId, ToolCall>;

struct Prompt {
    id: Option<MessageId>,
    content: Vec<ContentBlock>,
}

/// A step of the answer. Its calls may still change.
#[derive(Default)]
struct AnswerStep {
    text: String,
    text_id: Option<MessageId>,
    thoughts: String,
    thoughts_id: Option<MessageId>,
    calls: Vec<ToolCallId>,
}

impl OpenTurn {
    /// Returns whether the chunk belongs to the prompt with which this turn begins.
    fn continues_prompt(&self, chunk: &ContentChunk) -> bool {
        self.answers.is_empty() && self.prompt.as_ref().is_some_and(|prompt| prompt.id == chunk.message_id)
    }

    fn add_prompt(&mut self, chunk: ContentChunk) {
        let new = || Prompt { id: chunk.message_id, content: Vec::new() };
        self.prompt.get_or_insert_with(new).content.push(chunk.content);
    }

    fn add_text(&mut self, chunk: &ContentChunk) {
        let answer = self.answer(|answer, _| answer.calls.is_empty());
        push_chunk(&mut answer.text, &mut answer.text_id, chunk);
    }

    fn add_thought(&mut self, chunk: &ContentChunk) {
        let answer = self.answer(|answer, _| answer.calls.is_empty());
        push_chunk(&mut answer.thoughts, &mut answer.thoughts_id, chunk);
    }

    fn add_call(&mut self, mut call: ToolCall) {
        let id = call.tool_call_id.clone();
        detach(&mut call.raw_input);
        detach(&mut call.raw_output);
        if !self.calls.contains_key(&id) {
            let runs =
                |id: &ToolCallId, calls: &Calls| calls.get(id).is_some_and(|call| is_open(&call.status));
            // A call that is announced while others run was made without their results.
            let continues = |answer: &AnswerStep, calls: &Calls| {
                answer.calls.is_empty() || answer.calls.iter().any(|id| runs(id, calls))
            };
            self.answer(continues).calls.push(id.clone());
        }
        self.calls.insert(id, call);
    }

    fn update_call(&mut self, mut update: ToolCallUpdate) {
        detach(&mut update.raw_input);
        detach(&mut update.raw_output);
        if let Some(call) = self.calls.get_mut(&update.tool_call_id) {
            apply(call, update);
        } else if update.title.is_some() || update.name.is_some() {
            // Version 2 announces a call by an update.
            let mut call = ToolCall::new(update.tool_call_id.clone(), "");
            apply(&mut call, update);
            self.add_call(call);
        }
    }

    /// Returns the last step of the answer, if it may continue, or a new one.
    fn answer(&mut self, continues: impl FnOnce(&AnswerStep, &Calls) -> bool) -> &mut AnswerStep {
        if !self.answers.last().is_some_and(|answer| continues(answer, &self.calls)) {
            self.answers.push(AnswerStep::default());
        }
        let last = self.answers.len() - 1;
        &mut self.answers[last]
    }

    /// Returns the messages, and their size in bytes.
    fn end(mut self) -> (Vec<Message>, usize) {
        let prompt = self.prompt.map(|prompt| Message::User(UserMessage { content: prompt.content }));
        let mut messages: Vec<_> = prompt.into_iter().collect();
        for answer in self.answers {
            let calls = answer.calls.iter().filter_map(|id| self.calls.remove(id));
            let (tool_uses, mut text) = (calls.map(tool_use).collect::<Vec<_>>(), answer.text);
            if text.trim().is_empty() {
                text.clear();
            }
            if !text.is_empty() || !tool_uses.is_empty() {
                let thoughts = answer.thoughts;
                messages.push(Message::Assistant(AssistantMessage { text, thoughts, tool_uses }));
            }
        }
        let bytes = messages.iter().map(length).sum();
        (messages, bytes)
    }
}

/// Copies a value out of the record that it is a part of, because the record is not kept.
fn detach(raw: &mut Option<RawJson>) {
    if let Some(raw) = raw {
        *raw = raw.detached();
    }
}

/// Appends a chunk to a text. An empty line separates two messages.
fn push_chunk(text: &mut String, id: &mut Option<MessageId>, chunk: &ContentChunk) {
    if !text.is_empty() && *id != chunk.message_id {
        text.push_str("\n\n");
    }
    id.clone_from(&chunk.message_id);
    push_block(text, &chunk.content);
}

fn tool_use(call: ToolCall) -> ToolUse {
    ToolUse {
        id: call.tool_call_id,
        name: call.name.filter(|name| !name.is_empty()).unwrap_or_else(|| name_of(&call.title)),
        arguments: call.raw_input.map_or(RawJson::EMPTY_OBJECT, arguments),
        result: ToolResult { status: call.status, content: call.content, raw_output: call.raw_output },
    }
}

/// Makes the name of a tool from the title of its call.
fn name_of(title: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String = title.chars().map(|c| if is_allowed(c) { c } else { '_' }).take(NAME_LIMIT).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

fn arguments(input: RawJson) -> RawJson {
    if input.is_null() {
        return RawJson::EMPTY_OBJECT;
    }
    match RawObject::try_from(input.clone()) {
        Ok(object) => object.into(),
        Err(_) => RawObject::from_iter([("input", input)]).into(),
    }
}

/// Returns the size of a message, in bytes.
fn length(message: &Message) -> usize {
    let parts = match message {
        Message::User(user) => user.content.iter().map(block_length).sum(),
        Message::Assistant(answer) => {
            answer.text.len()
                + answer.thoughts.len()
                + answer.tool_uses.iter().map(tool_use_length).sum::<usize>()
        }
    };
    PART_COST + parts
}

fn tool_use_length(call: &ToolUse) -> usize {
    let result = &call.result;
    PART_COST
        + call.id.len()
        + call.name.len()
        + call.arguments.len()
        + result.raw_output.as_ref().map_or(0, RawJson::len)
        + result.content.iter().map(content_length).sum::<usize>()
}

fn content_length(content: &ToolCallContent) -> usize {
    match content {
        ToolCallContent::Content(content) => block_length(&content.content),
        other => PART_COST + RawJson::encode(other).map_or(0, |json| json.len()),
    }
}

fn block_length(block: &ContentBlock) -> usize {
    let length = match block.as_text() {
        Some(text) => text.len(),
        None => RawJson::encode(block).map_or(0, |json| json.len()),
    };
    PART_COST + length
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client may send prompts without a word.
    #[test]
    fn messages_without_text_are_bounded_too() {
        let mut merge = Merge::new(10_000);
        for turn in 0..1000 {
            for _ in 0..10 {
                let chunk = ContentChunk::new("").message_id(format!("m{turn}"));
                merge.add(SessionUpdate::UserMessageChunk(chunk));
            }
        }
        let blocks = |message: &Message| match message {
            Message::User(user) => user.content.len(),
            Message::Assistant(_) => 0,
        };
        let messages = merge.finish();
        let blocks: usize = messages.iter().map(blocks).sum();
        assert!((10..=150).contains(&blocks), "{} messages of {blocks} blocks", messages.len());
        // A turn that is empty altogether is none.
        let mut merge = Merge::new(0);
        merge.add(SessionUpdate::AgentThoughtChunk(ContentChunk::new("hm")));
        assert!(merge.finish().is_empty());
    }
}
