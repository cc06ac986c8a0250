//! Draws a conversation of either version of the protocol on the screen.

mod calls;
mod content;
mod fold;
mod new_text;
mod repeated;
mod settings;
mod shown_texts;
mod tool_calls;

use std::collections::HashMap;
use std::io;

use agentwire_acp_schema::v1::{NoticeSeverity, PlanEntryStatus};
use agentwire_acp_toolkit::{Applied, Change, Compaction, Conversation, Entry, Message, MessageKind};

use self::repeated::HeldMessage;
use self::settings::Settings;
use self::shown_texts::ShownTexts;
use self::tool_calls::{DrawnParts, ToolCalls};
use crate::terminal::{Mark, Screen, StreamedMessage, ValueHashes, short};

pub(super) use self::content::content_text;
pub(super) use self::tool_calls::OwnTerminals;

/// Draws changes of a conversation, and remembers what it has drawn. All of that has a bound.
#[derive(Default)]
pub(super) struct Renderer {
    /// Whether only the answer is drawn.
    is_quiet: bool,
    /// Whether what is drawn belongs to an earlier turn.
    pub(super) is_replay: bool,
    /// Whether a turn is running, so that `end_turn` will be called.
    pub(super) is_in_turn: bool,
    held: Option<HeldMessage>,
    settings: Settings,
    tools: ToolCalls,
    /// Messages that an agent may send as a whole, by hashes of their ids.
    messages: ShownTexts<u64>,
    /// The entries of the plan, with their states.
    plan: ValueHashes,
}

impl Renderer {
    /// `is_quiet`: only the answer is drawn. `offers_last`: a person can ask for all of an output.
    pub(super) fn new(is_quiet: bool, offers_last: bool) -> Self {
        let tools = ToolCalls::new(offers_last);
        Self { is_quiet, tools, ..Self::default() }
    }

    /// Draws the changes of one update.
    pub(super) fn draw(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        applied: &Applied,
        own: OwnTerminals<'_>,
    ) -> io::Result<()> {
        if self.is_quiet {
            return Ok(());
        }
        if applied.change.index().is_some() || applied.change == Change::Plan || applied.terminal.is_some() {
            self.end_message(screen)?;
        }
        let is_new_call = matches!(applied.change, Change::Added(_));
        // Output is shown above the line for the end of its call.
        if let Some(index) = applied.change.index().filter(|_| !is_new_call) {
            self.tools.draw_own_output(screen, conversation, index, own)?;
        }
        if let Some(change) = applied.terminal.filter(|_| !is_new_call) {
            self.tools.draw_terminal(screen, conversation, change)?;
        }
        self.draw_change(screen, conversation, applied.change, own)?;
        if let Some(change) = applied.terminal.filter(|_| is_new_call) {
            self.tools.draw_terminal(screen, conversation, change)?;
        }
        screen.flush()
    }

    fn draw_change(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        change: Change,
        own: OwnTerminals<'_>,
    ) -> io::Result<()> {
        match change {
            Change::Added(index) => match conversation.entry(index) {
                Some(Entry::Message(message)) => self.draw_message(screen, index, message, 0, 0),
                Some(Entry::ToolCall(entry)) => {
                    let parts = DrawnParts { headline: true, content: Some(0) };
                    self.tools.draw_tool_call(screen, conversation, index, entry, parts, own)
                }
                Some(Entry::Compaction(compaction)) => self.draw_compaction(screen, compaction),
                Some(Entry::Notice(notice)) => {
                    self.tools.current_call = None;
                    let colour = match notice.severity {
                        NoticeSeverity::Error => "31",
                        NoticeSeverity::Warning => "33",
                        _ => "2",
                    };
                    let description = notice.description.as_deref().map(|text| format!(": {text}"));
                    let description = description.unwrap_or_default();
                    screen.coloured(colour, &format!("! {}{description}", notice.title))
                }
                // An entry of an unknown kind is not drawn.
                _ => Ok(()),
            },
            Change::Updated { index, fields } => match conversation.entry(index) {
                Some(Entry::ToolCall(entry)) => {
                    // A cancelled call has one mark, whatever its status.
                    let headline = fields.title || fields.cancelled || (fields.status && !entry.cancelled);
                    let parts = DrawnParts { headline, content: fields.content };
                    self.tools.draw_tool_call(screen, conversation, index, entry, parts, own)
                }
                Some(Entry::Compaction(compaction)) if fields.status || fields.error => {
                    self.draw_compaction(screen, compaction)
                }
                // A message that changes without growing has a new id, which is not shown.
                _ => Ok(()),
            },
            Change::Extended { index, block, byte } => match conversation.entry(index) {
                Some(Entry::Message(message)) => self.draw_message(screen, index, message, block, byte),
                _ => Ok(()),
            },
            Change::Plan => self.draw_plan(screen, conversation),
            change => self.settings.draw(screen, conversation, change),
        }
    }

    /// Shows a piece of a message that is not in the conversation.
    pub(super) fn stream(
        &mut self,
        screen: &mut Screen,
        kind: MessageKind,
        key: u64,
        text: String,
    ) -> io::Result<()> {
        if self.is_quiet && (kind != MessageKind::Agent || self.is_replay) {
            return Ok(());
        }
        let message = StreamedMessage { kind, key, is_new: !self.is_replay };
        if self.held.as_ref().is_some_and(|held| held.message != message) {
            self.end_message(screen)?;
        }
        let held = match (self.held.take(), self.result_above(screen, kind)) {
            (Some(held), _) => held.extend(&text),
            (None, Some(result)) if !text.is_empty() => HeldMessage::begin(message, text, result),
            (None, _) => Err(text),
        };
        match held {
            Ok(held) => self.held = Some(held),
            Err(text) => self.stream_text(screen, message, text)?,
        }
        screen.flush()
    }

    /// The result directly above a message of this kind, if the message may be a copy of it.
    fn result_above(&self, screen: &Screen, kind: MessageKind) -> Option<&str> {
        let is_compared =
            kind == MessageKind::Agent && !screen.has_answer() && (self.is_in_turn || self.is_replay);
        self.tools.result_above().filter(|_| is_compared)
    }

    /// Shows the message that was held back, unless it is a copy of the result above it.
    fn end_message(&mut self, screen: &mut Screen) -> io::Result<()> {
        let Some(held) = self.held.take() else { return Ok(()) };
        let message = held.message;
        held.end().map_or(Ok(()), |text| self.stream_text(screen, message, text))
    }

    fn stream_text(&mut self, screen: &mut Screen, message: StreamedMessage, text: String) -> io::Result<()> {
        if !text.is_empty() {
            self.tools.current_call = None;
        }
        screen.stream(message, text.into())
    }

    /// Records a piece of a message that the agent may send as a whole later.
    pub(super) fn add_to_message(&mut self, key: u64, text: &str) {
        self.messages.add(key, text);
    }

    /// Takes the whole of a message. Returns the part that was not shown.
    pub(super) fn new_part(&mut self, key: u64, whole: &str) -> String {
        self.messages.replace(key, whole).to_owned()
    }

    /// Draws a tool call that was marked as cancelled.
    pub(super) fn draw_cancelled(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        index: usize,
    ) -> io::Result<()> {
        self.end_message(screen)?;
        if let Some(Entry::ToolCall(entry)) = conversation.entry(index)
            && !self.is_quiet
        {
            let parts = DrawnParts { headline: true, content: None };
            self.tools.draw_tool_call(screen, conversation, index, entry, parts, &|_, _| None)?;
        }
        screen.flush()
    }

    /// Shows what is left of the output of the calls that have not ended, and of terminals that no call names.
    pub(super) fn end_turn(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        own: OwnTerminals<'_>,
    ) -> io::Result<()> {
        self.end_message(screen)?;
        if self.is_quiet { Ok(()) } else { self.tools.end_turn(screen, conversation, own) }
    }

    /// Shows all of the last output that was shown in part. Returns whether there is one.
    pub(super) fn draw_last(&self, screen: &mut Screen) -> io::Result<bool> {
        self.tools.draw_last(screen)
    }

    /// Shows the new output of our terminals.
    pub(super) fn draw_running(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        own: OwnTerminals<'_>,
    ) -> io::Result<()> {
        if self.is_quiet { Ok(()) } else { self.tools.draw_running(screen, conversation, own) }
    }

    /// Shows the title and the usage of the context if they changed.
    pub(super) fn draw_settings(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
    ) -> io::Result<()> {
        if self.is_quiet { Ok(()) } else { self.settings.draw_later(screen, conversation) }
    }

    /// Shows a message from this block and byte on.
    fn draw_message(
        &mut self,
        screen: &mut Screen,
        index: usize,
        message: &Message,
        block: usize,
        byte: usize,
    ) -> io::Result<()> {
        self.tools.current_call = None;
        let streamed = StreamedMessage { kind: message.kind, key: index as u64, is_new: !self.is_replay };
        for (number, content) in message.content.iter().enumerate().skip(block) {
            let text = content_text(content);
            let from = if number == block { byte } else { 0 };
            screen.stream(streamed, text.get(from..).unwrap_or(&text).into())?;
        }
        Ok(())
    }

    fn draw_compaction(&mut self, screen: &mut Screen, compaction: &Compaction) -> io::Result<()> {
        self.tools.current_call = None;
        let why = compaction.error.as_deref().map(|why| format!(": {}", short(why))).unwrap_or_default();
        let status = short(compaction.status.as_str());
        screen.dim(&format!("[compaction of the context: {status}{why}]"))
    }

    /// Shows the new and changed entries of the plan, and the number of dropped ones.
    fn draw_plan(&mut self, screen: &mut Screen, conversation: &Conversation) -> io::Result<()> {
        let entries = conversation.plan().map(|plan| &*plan.entries).unwrap_or_default();
        let before = self.plan.len();
        // Two entries may have the same text.
        let mut counts = HashMap::<&str, usize>::new();
        let list = entries.iter().map(|entry| {
            let count = counts.entry(&*entry.content).or_default();
            *count += 1;
            ((&*entry.content, *count), mark_of_plan(&entry.status))
        });
        let (new, kept) = self.plan.replace_all(list);
        let gone = before - kept;
        // A plan that is too large to be kept has no entries.
        if new.is_empty() && gone == 0 {
            return Ok(());
        }
        self.tools.current_call = None;
        let changed =
            new.iter().map(|place| (mark_of_plan(&entries[*place].status), &*entries[*place].content));
        screen.plan(entries.len(), changed, gone)
    }
}

fn mark_of_plan(status: &PlanEntryStatus) -> Mark {
    match status {
        PlanEntryStatus::Completed => Mark::Completed,
        PlanEntryStatus::InProgress => Mark::Running,
        // A status of version 2.
        PlanEntryStatus::Other(word) if &**word == "cancelled" => Mark::Cancelled,
        _ => Mark::Pending,
    }
}

#[cfg(test)]
mod tests;
