//! A conversation of version 1 on the screen.

use std::borrow::Cow;
use std::io;

use agentwire_acp_schema::v1::{
    ContentBlock, NoticeSeverity, PlanEntryStatus, SessionConfigKind, SessionConfigOption, TerminalId,
    ToolCallContent, ToolCallStatus, UsageUpdate,
};
use agentwire_acp_toolkit::{Change, Compaction, Conversation, Entry, Message, ToolCallEntry};

use super::rendered::short;
use super::screen::{Screen, Voice};
use crate::text::{Painted, one_line};

/// Looks up what a terminal of ours has printed, also when it is gone.
pub(super) type Output<'a> = &'a dyn Fn(&TerminalId) -> Option<String>;

/// Of a call with more content than this, the output of its terminals is not shown.
const MOST_TERMINALS: usize = 64;

/// The most entries of a plan, and pieces of a call's content, that are shown. How many there are more is said.
pub(super) const MOST_ENTRIES: usize = 200;

impl Screen {
    /// Draws what is new in a conversation: as much as the change names, and no more.
    pub(super) fn draw(
        &mut self,
        conversation: &Conversation,
        change: Change,
        output: Output<'_>,
    ) -> io::Result<()> {
        match change {
            Change::Added(index) => match conversation.entry(index) {
                Some(Entry::Message(message)) => self.message(index, message, 0, 0)?,
                Some(Entry::ToolCall(entry)) => self.tool_call(entry, true, Some(0), output)?,
                Some(Entry::Compaction(compaction)) => self.compaction(compaction)?,
                Some(Entry::Notice(notice)) => {
                    let colour = match notice.severity {
                        NoticeSeverity::Error => "31",
                        NoticeSeverity::Warning => "33",
                        _ => "2",
                    };
                    let description = notice.description.as_deref().map(|text| format!(": {text}"));
                    let description = description.unwrap_or_default();
                    self.coloured(colour, &format!("! {}{description}", notice.title))?;
                }
                // What nobody here knows must not be drawn as if it were known.
                _ => {}
            },
            Change::Updated { index, fields } => match conversation.entry(index) {
                Some(Entry::ToolCall(entry)) => {
                    // The mark of a call that was cancelled does not depend on its status.
                    let headline = fields.title || fields.cancelled || (fields.status && !entry.cancelled);
                    self.tool_call(entry, headline, fields.content, output)?;
                }
                Some(Entry::Compaction(compaction)) if fields.status || fields.error => {
                    self.compaction(compaction)?;
                }
                // A message that changes without growing has another id, which is not shown.
                _ => {}
            },
            Change::Extended { index, block, byte } => {
                if let Some(Entry::Message(message)) = conversation.entry(index) {
                    self.message(index, message, block, byte)?;
                }
            }
            Change::Plan => self.plan(conversation)?,
            Change::Mode => self.mode(conversation, true)?,
            Change::ConfigOptions => self.options(conversation, true)?,
            Change::Settings => {
                self.mode(conversation, false)?;
                self.options(conversation, false)?;
            }
            // The title and the usage are shown after the turn.
            Change::Info { title } => self.shown.new_title |= title,
            Change::Usage => self.shown.new_usage = true,
            _ => {}
        }
        self.flush()
    }

    /// Draws a tool call that was marked as cancelled.
    pub(super) fn draw_cancelled(&mut self, conversation: &Conversation, index: usize) -> io::Result<()> {
        if let Some(Entry::ToolCall(entry)) = conversation.entry(index) {
            self.tool_call(entry, true, None, &|_| None)?;
        }
        self.flush()
    }

    /// Shows the title and the usage of the context if they changed.
    pub(super) fn draw_settings(&mut self, conversation: &Conversation) -> io::Result<()> {
        if std::mem::take(&mut self.shown.new_title)
            && let Some(title) = conversation.title()
        {
            self.dim(&format!("title: {}", short(title)))?;
        }
        if std::mem::take(&mut self.shown.new_usage) {
            let usage = conversation.usage().map(usage_text);
            if usage != self.shown.usage {
                if let Some(usage) = &usage {
                    self.dim(usage)?;
                }
                self.shown.usage = usage;
            }
        }
        self.flush()
    }

    /// Shows a piece of a message of which the conversation holds nothing.
    pub(super) fn unkept(&mut self, message: Voice, text: String) -> io::Result<()> {
        self.speak(message, text.into())?;
        self.flush()
    }

    /// Shows a message from this block and byte on.
    fn message(&mut self, index: usize, message: &Message, block: usize, byte: usize) -> io::Result<()> {
        let voice = Voice { kind: message.kind, message: index as u64 };
        for (number, content) in message.content.iter().enumerate().skip(block) {
            let text = content_text(content);
            let from = if number == block { byte } else { 0 };
            self.speak(voice, text.get(from..).unwrap_or(&text).into())?;
        }
        Ok(())
    }

    /// Shows the headline of a tool call if that is new, and its content from this block on.
    fn tool_call(
        &mut self,
        entry: &ToolCallEntry,
        headline: bool,
        content: Option<usize>,
        output: Output<'_>,
    ) -> io::Result<()> {
        let call = &entry.call;
        let (mark, colour) = match call.status {
            _ if entry.cancelled => ("✗", "2"),
            ToolCallStatus::Pending => ("○", "2"),
            ToolCallStatus::InProgress => ("◐", "33"),
            ToolCallStatus::Completed => ("●", "32"),
            ToolCallStatus::Failed => ("✗", "31"),
            _ => ("?", "2"),
        };
        if headline {
            self.line(self.paint(colour, mark).then(" ").then(short(&call.title)))?;
        }
        let new = content.and_then(|first| call.content.get(first..)).unwrap_or_default();
        new.iter().take(MOST_ENTRIES).try_for_each(|content| self.tool_content(content))?;
        self.more(new.len().saturating_sub(MOST_ENTRIES))?;
        // What ran in a terminal is shown when it is over, where nothing else says what came of it.
        if entry.has_ended() && call.content.len() <= MOST_TERMINALS {
            let terminals = call.content.iter().map(|content| match content {
                ToolCallContent::Terminal(terminal) => Some(&terminal.terminal_id),
                _ => None,
            });
            for terminal in terminals.collect::<Option<Vec<_>>>().unwrap_or_default() {
                if !self.shown.terminals.contains(terminal)
                    && let Some(text) = output(terminal)
                    && self.shown.terminal(terminal)
                {
                    self.indented(&text)?;
                }
            }
        }
        Ok(())
    }

    fn tool_content(&mut self, content: &ToolCallContent) -> io::Result<()> {
        match content {
            ToolCallContent::Content(content) => self.indented(&content_text(&content.content)),
            ToolCallContent::Diff(diff) => {
                self.dim(&format!("  {}", diff.path.display()))?;
                self.diff(diff.old_text.as_deref().unwrap_or_default(), &diff.new_text)
            }
            _ => Ok(()),
        }
    }

    fn compaction(&mut self, compaction: &Compaction) -> io::Result<()> {
        let why = compaction.error.as_deref().map(|why| format!(": {}", short(why))).unwrap_or_default();
        let status = short(compaction.status.as_str());
        self.dim(&format!("[compaction of the context: {status}{why}]"))
    }

    fn plan(&mut self, conversation: &Conversation) -> io::Result<()> {
        self.line(self.paint("1", "Plan"))?;
        let entries = conversation.plan().map(|plan| &*plan.entries).unwrap_or_default();
        for entry in entries.iter().take(MOST_ENTRIES) {
            let (mark, colour) = match entry.status {
                PlanEntryStatus::Completed => ("●", "32"),
                PlanEntryStatus::InProgress => ("◐", "33"),
                _ => ("○", "2"),
            };
            let mark = Painted::from("  ").then(self.paint(colour, mark));
            self.line(mark.then(" ").then(&*entry.content))?;
        }
        self.more(entries.len().saturating_sub(MOST_ENTRIES))
    }

    /// Shows how many items are left out.
    pub(super) fn more(&mut self, count: usize) -> io::Result<()> {
        if count > 0 { self.dim(&format!("  … {count} more")) } else { Ok(()) }
    }

    /// Records the mode, and shows it if it is new.
    fn mode(&mut self, conversation: &Conversation, show: bool) -> io::Result<()> {
        let mode = conversation.current_mode().map(|mode| short(mode.as_str()));
        if show
            && mode != self.shown.mode
            && let Some(mode) = &mode
        {
            self.dim(&format!("mode: {mode}"))?;
        }
        self.shown.mode = mode;
        Ok(())
    }

    /// Records the options, and shows those whose value is new.
    fn options(&mut self, conversation: &Conversation, show: bool) -> io::Result<()> {
        let values = conversation.config_options().map(|option| (option.id.as_str(), current_value(option)));
        let mut new = self.shown.options.replace(values).into_iter().peekable();
        let mut shown = 0;
        for (place, option) in conversation.config_options().enumerate().filter(|_| show) {
            if new.next_if_eq(&place).is_some()
                && let Some(value) = current_value(option)
            {
                shown += 1;
                if shown <= MOST_ENTRIES {
                    self.dim(&format!("{}: {}", short(&option.name), short(value)))?;
                }
            }
        }
        self.more(shown.saturating_sub(MOST_ENTRIES))
    }
}

/// What an option is set to. None where it is of a type that this version does not know.
pub(super) fn current_value(option: &SessionConfigOption) -> Option<&str> {
    match &option.kind {
        SessionConfigKind::Select(select) => Some(select.current_value.as_str()),
        SessionConfigKind::Boolean(boolean) => Some(if boolean.current_value { "on" } else { "off" }),
        _ => None,
    }
}

fn usage_text(usage: &UsageUpdate) -> String {
    let cost = usage.cost.as_ref().map(|cost| format!(", {:.2} {}", cost.amount, short(&cost.currency)));
    let cost = cost.unwrap_or_default();
    match (u128::from(usage.used) * 100).checked_div(u128::from(usage.size)) {
        Some(part) => format!("context: {part} % of {} tokens{cost}", usage.size),
        None => format!("context: {} tokens{cost}", usage.used),
    }
}

pub(super) fn content_text(content: &ContentBlock) -> Cow<'_, str> {
    match content {
        ContentBlock::Text(text) => text.text.as_str().into(),
        ContentBlock::ResourceLink(link) => {
            format!("[{}]({})", one_line(&link.name), one_line(&link.uri)).into()
        }
        ContentBlock::Image(image) => format!("[an image, {}]", short(&image.mime_type)).into(),
        ContentBlock::Audio(audio) => format!("[a sound, {}]", short(&audio.mime_type)).into(),
        ContentBlock::Resource(resource) => {
            format!("[{}]", one_line(super::prompt::embedded_uri(resource))).into()
        }
        _ => "[content that cannot be shown here]".into(),
    }
}

#[cfg(test)]
mod tests;
