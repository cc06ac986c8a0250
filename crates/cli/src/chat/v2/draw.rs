//! Draws the updates of version 2 on the screen.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::io;

use agentwire_acp_schema::v2::{
    ContentBlock, ContentChunk, DiffOperation, MessageId, Patch, PlanEntryStatus, PlanUpdateContent,
    SessionUpdate, ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate,
};
use agentwire_acp_toolkit::MessageKind;
use agentwire_jsonrpc::RawObject;

use crate::terminal::{MAX_ITEMS, Mark, Screen, ShownHashes, StreamedMessage, short};
use crate::text::one_line;

/// The most lines of a patch that are shown. [`Screen::more`] counts the others.
const MAX_PATCH_LINES: usize = 5000;

/// The most entries of [`Renderer::calls`], each with a title of up to 2 KiB. Beyond that all are dropped, and an update
/// without a title shows none.
const CALLS_LIMIT: usize = 4096;

/// Draws updates, and remembers what it has drawn of a session. All of it has a bound.
#[derive(Default)]
pub(super) struct Renderer {
    /// The tool calls, by a hash of their ids, which may be long.
    calls: HashMap<u64, Headline>,
    /// The messages and pieces of content that were shown.
    shown: ShownHashes,
    hasher: RandomState,
}

/// The line of a tool call.
#[derive(Clone, PartialEq)]
struct Headline {
    title: String,
    mark: Mark,
}

impl Renderer {
    /// Draws an update. In a turn, user messages are not drawn: the person's prompt is on the screen already.
    pub(super) fn draw(
        &mut self,
        screen: &mut Screen,
        update: SessionUpdate,
        in_turn: bool,
    ) -> io::Result<()> {
        match update {
            SessionUpdate::UserMessageChunk(_) | SessionUpdate::UserMessage(_) if in_turn => {}
            SessionUpdate::UserMessageChunk(chunk) => self.draw_chunk(screen, MessageKind::User, chunk)?,
            SessionUpdate::AgentMessageChunk(chunk) => self.draw_chunk(screen, MessageKind::Agent, chunk)?,
            SessionUpdate::AgentThoughtChunk(chunk) => {
                self.draw_chunk(screen, MessageKind::Thought, chunk)?
            }
            SessionUpdate::UserMessage(message) => {
                self.draw_message(screen, MessageKind::User, &message.message_id, message.content)?;
            }
            SessionUpdate::AgentMessage(message) => {
                self.draw_message(screen, MessageKind::Agent, &message.message_id, message.content)?;
            }
            SessionUpdate::AgentThought(message) => {
                self.draw_message(screen, MessageKind::Thought, &message.message_id, message.content)?;
            }
            SessionUpdate::ToolCallUpdate(update) => self.draw_tool_call(screen, *update)?,
            SessionUpdate::ToolCallContentChunk(chunk) => {
                self.draw_content(screen, &chunk.tool_call_id, &chunk.content)?;
            }
            SessionUpdate::PlanUpdate(update) => draw_plan(screen, &update.plan)?,
            SessionUpdate::SessionInfoUpdate(update) => {
                if let Patch::Set(title) = &update.title {
                    screen.dim(&format!("title: {}", short(title)))?;
                }
            }
            SessionUpdate::Notice(notice) => {
                let description = notice.description.map(|text| format!(": {text}")).unwrap_or_default();
                screen.dim(&format!("! {}{description}", notice.title))?;
            }
            // The session's state, its usage and the output of the agent's terminals are not drawn.
            _ => {}
        }
        screen.flush()
    }

    fn draw_tool_call(&mut self, screen: &mut Screen, update: ToolCallUpdate) -> io::Result<()> {
        let id = update.tool_call_id;
        let key = self.hasher.hash_one(&id);
        let before = self.calls.get(&key).cloned();
        let mut headline = before.clone().unwrap_or(Headline { title: String::new(), mark: Mark::Pending });
        match &update.title {
            Patch::Set(title) => headline.title = short(title),
            Patch::Clear => headline.title.clear(),
            Patch::Keep => {}
        }
        if let Patch::Set(status) = &update.status {
            headline.mark = match status {
                ToolCallStatus::Pending | ToolCallStatus::Paused => Mark::Pending,
                ToolCallStatus::InProgress => Mark::Running,
                ToolCallStatus::Completed => Mark::Completed,
                ToolCallStatus::Failed => Mark::Failed,
                ToolCallStatus::Cancelled => Mark::Cancelled,
                _ => Mark::Unknown,
            };
        }
        if before.as_ref() != Some(&headline) {
            screen.marked_line(headline.mark, &headline.title)?;
            if before.is_none() && self.calls.len() >= CALLS_LIMIT {
                self.calls.clear();
            }
            self.calls.insert(key, headline);
        }
        if let Patch::Set(contents) = &update.content {
            for content in contents.iter().take(MAX_ITEMS) {
                self.draw_content(screen, &id, content)?;
            }
            screen.more(contents.len().saturating_sub(MAX_ITEMS))?;
        }
        Ok(())
    }

    fn draw_chunk(&mut self, screen: &mut Screen, kind: MessageKind, chunk: ContentChunk) -> io::Result<()> {
        self.shown.insert(&chunk.message_id);
        let key = self.hasher.hash_one(&chunk.message_id);
        screen.stream(StreamedMessage { kind, key }, into_text(chunk.content).into())
    }

    /// Draws a whole message, unless chunks of it were drawn.
    fn draw_message(
        &mut self,
        screen: &mut Screen,
        kind: MessageKind,
        id: &MessageId,
        content: Patch<Vec<ContentBlock>>,
    ) -> io::Result<()> {
        let Patch::Set(content) = content else { return Ok(()) };
        if self.shown.insert(id) {
            let key = self.hasher.hash_one(id);
            for block in content {
                screen.stream(StreamedMessage { kind, key }, into_text(block).into())?;
            }
        }
        Ok(())
    }

    /// Draws a piece of a call's content, unless it was drawn before.
    fn draw_content(
        &mut self,
        screen: &mut Screen,
        id: &ToolCallId,
        content: &ToolCallContent,
    ) -> io::Result<()> {
        if !self.shown.insert_content(id, content) {
            return Ok(());
        }
        match content {
            ToolCallContent::Content(content) => screen.indented(&content_text(&content.content)),
            ToolCallContent::Diff(diff) => {
                for change in diff.changes.iter().take(MAX_ITEMS) {
                    screen.dim(&format!("  {}", change_text(&change.operation)))?;
                }
                screen.more(diff.changes.len().saturating_sub(MAX_ITEMS))?;
                let patch = diff.patch.as_ref().map(|patch| &*patch.text).unwrap_or_default();
                let mut lines = patch.lines();
                lines.by_ref().take(MAX_PATCH_LINES).try_for_each(|line| {
                    let colour = match line.as_bytes().first() {
                        Some(b'+') => "32",
                        Some(b'-') => "31",
                        _ => "2",
                    };
                    screen.shortened_line(colour, line)
                })?;
                screen.more(lines.count())
            }
            _ => Ok(()),
        }
    }
}

/// The kind and the path of a change.
fn change_text(operation: &DiffOperation) -> String {
    match RawObject::encode(operation) {
        Ok(change) => {
            let member = |name| change.decode_member::<String>(name).ok().flatten().unwrap_or_default();
            format!("{} {}", member("operation"), member("path"))
        }
        Err(_) => String::new(),
    }
}

fn draw_plan(screen: &mut Screen, plan: &PlanUpdateContent) -> io::Result<()> {
    let PlanUpdateContent::Items(plan) = plan else { return Ok(()) };
    screen.plan(plan.entries.iter().map(|entry| {
        let mark = match entry.status {
            PlanEntryStatus::Completed => Mark::Completed,
            PlanEntryStatus::InProgress => Mark::Running,
            PlanEntryStatus::Cancelled => Mark::Cancelled,
            _ => Mark::Pending,
        };
        (mark, &*entry.content)
    }))
}

fn into_text(content: ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text,
        other => content_text(&other).into_owned(),
    }
}

fn content_text(content: &ContentBlock) -> Cow<'_, str> {
    match content {
        ContentBlock::Text(text) => text.text.as_str().into(),
        ContentBlock::ResourceLink(link) => {
            format!("[{}]({})", one_line(&link.name), one_line(&link.uri)).into()
        }
        ContentBlock::Image(_) => "[an image]".into(),
        ContentBlock::Audio(_) => "[a sound]".into(),
        _ => "[content that cannot be shown here]".into(),
    }
}
