//! Updates of version 2 on the screen.

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

use crate::chat::draw::MOST_ENTRIES;
use crate::chat::rendered::{Seen, short};
use crate::chat::screen::{Screen, Voice};
use crate::text::{Painted, one_line};

/// How many lines of a patch are shown. How many there are more is said.
const MOST_PATCH_LINES: usize = 5000;

/// How many tool calls are remembered, each with 2 KiB of its title. Of one that is forgotten the title is not shown again.
const LIMIT: usize = 4096;

/// What has been drawn of a session, as far as it matters for what comes. All of it has a bound.
#[derive(Default)]
pub(super) struct Drawn {
    /// By a hash of the id, which may be long.
    calls: HashMap<u64, Headline>,
    seen: Seen,
    hasher: RandomState,
}

/// How a tool call was shown.
#[derive(Clone, PartialEq)]
struct Headline {
    title: String,
    mark: &'static str,
    colour: &'static str,
}

impl Drawn {
    /// Draws an update.
    pub(super) fn draw(
        &mut self,
        screen: &mut Screen,
        update: SessionUpdate,
        in_turn: bool,
    ) -> io::Result<()> {
        match update {
            // What the person has just said stands there already.
            SessionUpdate::UserMessageChunk(_) | SessionUpdate::UserMessage(_) if in_turn => {}
            SessionUpdate::UserMessageChunk(chunk) => self.say(screen, MessageKind::User, chunk)?,
            SessionUpdate::AgentMessageChunk(chunk) => self.say(screen, MessageKind::Agent, chunk)?,
            SessionUpdate::AgentThoughtChunk(chunk) => self.say(screen, MessageKind::Thought, chunk)?,
            SessionUpdate::UserMessage(message) => {
                self.say_all(screen, MessageKind::User, &message.message_id, message.content)?;
            }
            SessionUpdate::AgentMessage(message) => {
                self.say_all(screen, MessageKind::Agent, &message.message_id, message.content)?;
            }
            SessionUpdate::AgentThought(message) => {
                self.say_all(screen, MessageKind::Thought, &message.message_id, message.content)?;
            }
            SessionUpdate::ToolCallUpdate(update) => self.tool_call(screen, *update)?,
            SessionUpdate::ToolCallContentChunk(chunk) => {
                self.tool_content(screen, &chunk.tool_call_id, &chunk.content)?;
            }
            SessionUpdate::PlanUpdate(update) => plan(screen, &update.plan)?,
            SessionUpdate::SessionInfoUpdate(update) => {
                if let Patch::Set(title) = &update.title {
                    screen.dim(&format!("title: {}", short(title)))?;
                }
            }
            SessionUpdate::Notice(notice) => {
                let description = notice.description.map(|text| format!(": {text}")).unwrap_or_default();
                screen.dim(&format!("! {}{description}", notice.title))?;
            }
            // State, usage and what the agent's own terminals print are no part of what is said.
            _ => {}
        }
        screen.flush()
    }

    fn tool_call(&mut self, screen: &mut Screen, update: ToolCallUpdate) -> io::Result<()> {
        let id = update.tool_call_id;
        let key = self.hasher.hash_one(&id);
        let before = self.calls.get(&key).cloned();
        let mut headline =
            before.clone().unwrap_or(Headline { title: String::new(), mark: "○", colour: "2" });
        match &update.title {
            Patch::Set(title) => headline.title = short(title),
            Patch::Clear => headline.title.clear(),
            Patch::Keep => {}
        }
        if let Patch::Set(status) = &update.status {
            (headline.mark, headline.colour) = match status {
                ToolCallStatus::Pending | ToolCallStatus::Paused => ("○", "2"),
                ToolCallStatus::InProgress => ("◐", "33"),
                ToolCallStatus::Completed => ("●", "32"),
                ToolCallStatus::Failed => ("✗", "31"),
                ToolCallStatus::Cancelled => ("✗", "2"),
                _ => ("?", "2"),
            };
        }
        if before.as_ref() != Some(&headline) {
            screen.line(screen.paint(headline.colour, headline.mark).then(" ").then(&*headline.title))?;
            if before.is_none() && self.calls.len() >= LIMIT {
                self.calls.clear();
            }
            self.calls.insert(key, headline);
        }
        if let Patch::Set(contents) = &update.content {
            for content in contents.iter().take(MOST_ENTRIES) {
                self.tool_content(screen, &id, content)?;
            }
            screen.more(contents.len().saturating_sub(MOST_ENTRIES))?;
        }
        Ok(())
    }

    fn say(&mut self, screen: &mut Screen, kind: MessageKind, chunk: ContentChunk) -> io::Result<()> {
        self.seen.insert(&chunk.message_id);
        let message = self.hasher.hash_one(&chunk.message_id);
        screen.speak(Voice { kind, message }, into_text(chunk.content).into())
    }

    /// A whole message. One that was said in pieces is not said again.
    fn say_all(
        &mut self,
        screen: &mut Screen,
        kind: MessageKind,
        id: &MessageId,
        content: Patch<Vec<ContentBlock>>,
    ) -> io::Result<()> {
        let Patch::Set(content) = content else { return Ok(()) };
        if self.seen.insert(id) {
            let message = self.hasher.hash_one(id);
            for block in content {
                screen.speak(Voice { kind, message }, into_text(block).into())?;
            }
        }
        Ok(())
    }

    /// Shows what of a call's content has not been shown.
    fn tool_content(
        &mut self,
        screen: &mut Screen,
        id: &ToolCallId,
        content: &ToolCallContent,
    ) -> io::Result<()> {
        if !self.seen.insert_content(id, content) {
            return Ok(());
        }
        match content {
            ToolCallContent::Content(content) => screen.indented(&content_text(&content.content)),
            ToolCallContent::Diff(diff) => {
                for change in diff.changes.iter().take(MOST_ENTRIES) {
                    screen.dim(&format!("  {}", changed(&change.operation)))?;
                }
                screen.more(diff.changes.len().saturating_sub(MOST_ENTRIES))?;
                let patch = diff.patch.as_ref().map(|patch| &*patch.text).unwrap_or_default();
                let mut lines = patch.lines();
                lines.by_ref().take(MOST_PATCH_LINES).try_for_each(|line| {
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

fn changed(operation: &DiffOperation) -> String {
    match RawObject::encode(operation) {
        Ok(change) => {
            let word = |name| change.decode_member::<String>(name).ok().flatten().unwrap_or_default();
            format!("{} {}", word("operation"), word("path"))
        }
        Err(_) => String::new(),
    }
}

fn plan(screen: &mut Screen, plan: &PlanUpdateContent) -> io::Result<()> {
    let PlanUpdateContent::Items(plan) = plan else { return Ok(()) };
    screen.line(screen.paint("1", "Plan"))?;
    for entry in plan.entries.iter().take(MOST_ENTRIES) {
        let (mark, colour) = match entry.status {
            PlanEntryStatus::Completed => ("●", "32"),
            PlanEntryStatus::InProgress => ("◐", "33"),
            PlanEntryStatus::Cancelled => ("✗", "2"),
            _ => ("○", "2"),
        };
        let mark = Painted::from("  ").then(screen.paint(colour, mark));
        screen.line(mark.then(" ").then(&*entry.content))?;
    }
    screen.more(plan.entries.len().saturating_sub(MOST_ENTRIES))
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
