//! Draws a conversation of version 1 on the screen.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;
use std::time::Instant;

use agentwire_acp_schema::v1::{
    ContentBlock, NoticeSeverity, PlanEntryStatus, TerminalId, ToolCallContent, ToolCallStatus, UsageUpdate,
};
use agentwire_acp_toolkit::{Change, Compaction, Conversation, Entry, Message, ToolCallEntry};

use super::settings::current_value;
use crate::chat::prompt::embedded_uri;
use crate::terminal::{MAX_ITEMS, Mark, Screen, StreamedMessage, ValueHashes, short};
use crate::text::one_line;

/// Returns the output of one of our terminals, also after the agent has released it.
pub(super) type TerminalOutput<'a> = &'a dyn Fn(&TerminalId) -> Option<String>;

/// The most content of a tool call whose terminals' output is shown.
const MAX_TERMINALS: usize = 64;

/// The most entries of [`Renderer::terminals`]. Beyond that all are dropped, so output may be shown again.
const TERMINALS_LIMIT: usize = 65_536;

/// Draws changes of a conversation, and remembers which settings and terminals it has drawn.
#[derive(Default)]
pub(super) struct Renderer {
    /// The mode, shortened.
    mode: Option<String>,
    /// The values of the current options, by their ids.
    options: ValueHashes,
    /// Whether there is a title that was not shown.
    new_title: bool,
    /// Whether there is a usage that was not shown.
    new_usage: bool,
    /// The usage, shortened.
    usage: Option<String>,
    /// Our terminals whose output was shown.
    terminals: HashSet<TerminalId>,
}

impl Renderer {
    /// Draws one change of a conversation.
    pub(super) fn draw(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        change: Change,
        output: TerminalOutput<'_>,
    ) -> io::Result<()> {
        match change {
            Change::Added(index) => match conversation.entry(index) {
                Some(Entry::Message(message)) => draw_message(screen, index, message, 0, 0)?,
                Some(Entry::ToolCall(entry)) => self.draw_tool_call(screen, entry, true, Some(0), output)?,
                Some(Entry::Compaction(compaction)) => draw_compaction(screen, compaction)?,
                Some(Entry::Notice(notice)) => {
                    let colour = match notice.severity {
                        NoticeSeverity::Error => "31",
                        NoticeSeverity::Warning => "33",
                        _ => "2",
                    };
                    let description = notice.description.as_deref().map(|text| format!(": {text}"));
                    let description = description.unwrap_or_default();
                    screen.coloured(colour, &format!("! {}{description}", notice.title))?;
                }
                // An entry of an unknown kind is not drawn.
                _ => {}
            },
            Change::Updated { index, fields } => match conversation.entry(index) {
                Some(Entry::ToolCall(entry)) => {
                    // A cancelled call has one mark, whatever its status.
                    let headline = fields.title || fields.cancelled || (fields.status && !entry.cancelled);
                    self.draw_tool_call(screen, entry, headline, fields.content, output)?;
                }
                Some(Entry::Compaction(compaction)) if fields.status || fields.error => {
                    draw_compaction(screen, compaction)?;
                }
                // A message that changes without growing has a new id, which is not shown.
                _ => {}
            },
            Change::Extended { index, block, byte } => {
                if let Some(Entry::Message(message)) = conversation.entry(index) {
                    draw_message(screen, index, message, block, byte)?;
                }
            }
            Change::Plan => draw_plan(screen, conversation)?,
            Change::Mode => self.draw_mode(screen, conversation, true)?,
            Change::ConfigOptions => self.draw_options(screen, conversation, true)?,
            Change::Settings => {
                self.draw_mode(screen, conversation, false)?;
                self.draw_options(screen, conversation, false)?;
            }
            // The title and the usage are shown after the turn.
            Change::Info { title } => self.new_title |= title,
            Change::Usage => self.new_usage = true,
            _ => {}
        }
        screen.flush()
    }

    /// Draws a tool call that was marked as cancelled.
    pub(super) fn draw_cancelled(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        index: usize,
    ) -> io::Result<()> {
        if let Some(Entry::ToolCall(entry)) = conversation.entry(index) {
            self.draw_tool_call(screen, entry, true, None, &|_| None)?;
        }
        screen.flush()
    }

    /// Shows the title and the usage of the context if they changed.
    pub(super) fn draw_settings(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
    ) -> io::Result<()> {
        if std::mem::take(&mut self.new_title)
            && let Some(title) = conversation.title()
        {
            screen.dim(&format!("title: {}", short(title)))?;
        }
        if std::mem::take(&mut self.new_usage) {
            let usage = conversation.usage().map(usage_text);
            if usage != self.usage {
                if let Some(usage) = &usage {
                    screen.dim(usage)?;
                }
                self.usage = usage;
            }
        }
        screen.flush()
    }

    /// Shows the headline of a tool call if that is new, and its content from this block on.
    fn draw_tool_call(
        &mut self,
        screen: &mut Screen,
        entry: &ToolCallEntry,
        headline: bool,
        content: Option<usize>,
        output: TerminalOutput<'_>,
    ) -> io::Result<()> {
        let call = &entry.call;
        if headline {
            let mark = match call.status {
                _ if entry.cancelled => Mark::Cancelled,
                ToolCallStatus::Pending => Mark::Pending,
                ToolCallStatus::InProgress => Mark::Running,
                ToolCallStatus::Completed => Mark::Completed,
                ToolCallStatus::Failed => Mark::Failed,
                _ => Mark::Unknown,
            };
            screen.marked_line(mark, &short(&call.title))?;
        }
        let new = content.and_then(|first| call.content.get(first..)).unwrap_or_default();
        let deadline = Screen::diff_deadline();
        new.iter().take(MAX_ITEMS).try_for_each(|content| draw_tool_content(screen, content, deadline))?;
        screen.more(new.len().saturating_sub(MAX_ITEMS))?;
        // The output of terminals is shown when the call has ended, and only if it has no other content.
        if entry.has_ended() && call.content.len() <= MAX_TERMINALS {
            let terminals = call.content.iter().map(|content| match content {
                ToolCallContent::Terminal(terminal) => Some(&terminal.terminal_id),
                _ => None,
            });
            for terminal in terminals.collect::<Option<Vec<_>>>().unwrap_or_default() {
                if !self.terminals.contains(terminal)
                    && let Some(text) = output(terminal)
                {
                    if self.terminals.len() >= TERMINALS_LIMIT {
                        self.terminals.clear();
                    }
                    self.terminals.insert(terminal.clone());
                    screen.indented(&text)?;
                }
            }
        }
        Ok(())
    }

    /// Records the mode, and shows it if it is new.
    fn draw_mode(&mut self, screen: &mut Screen, conversation: &Conversation, show: bool) -> io::Result<()> {
        let mode = conversation.current_mode().map(|mode| short(mode.as_str()));
        if show
            && mode != self.mode
            && let Some(mode) = &mode
        {
            screen.dim(&format!("mode: {mode}"))?;
        }
        self.mode = mode;
        Ok(())
    }

    /// Records the options, and shows those whose value is new.
    fn draw_options(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        show: bool,
    ) -> io::Result<()> {
        let values = conversation.config_options().map(|option| (option.id.as_str(), current_value(option)));
        let mut new = self.options.replace(values).into_iter().peekable();
        let mut shown = 0;
        for (index, option) in conversation.config_options().enumerate().filter(|_| show) {
            if new.next_if_eq(&index).is_some()
                && let Some(value) = current_value(option)
            {
                shown += 1;
                if shown <= MAX_ITEMS {
                    screen.dim(&format!("{}: {}", short(&option.name), short(value)))?;
                }
            }
        }
        screen.more(shown.saturating_sub(MAX_ITEMS))
    }
}

/// Shows a message from this block and byte on.
fn draw_message(
    screen: &mut Screen,
    index: usize,
    message: &Message,
    block: usize,
    byte: usize,
) -> io::Result<()> {
    let streamed = StreamedMessage { kind: message.kind, key: index as u64 };
    for (number, content) in message.content.iter().enumerate().skip(block) {
        let text = content_text(content);
        let from = if number == block { byte } else { 0 };
        screen.stream(streamed, text.get(from..).unwrap_or(&text).into())?;
    }
    Ok(())
}

fn draw_tool_content(
    screen: &mut Screen,
    content: &ToolCallContent,
    diff_deadline: Instant,
) -> io::Result<()> {
    match content {
        ToolCallContent::Content(content) => screen.indented(&content_text(&content.content)),
        ToolCallContent::Diff(diff) => {
            screen.dim(&format!("  {}", diff.path.display()))?;
            screen.diff(diff.old_text.as_deref().unwrap_or_default(), &diff.new_text, diff_deadline)
        }
        _ => Ok(()),
    }
}

fn draw_compaction(screen: &mut Screen, compaction: &Compaction) -> io::Result<()> {
    let why = compaction.error.as_deref().map(|why| format!(": {}", short(why))).unwrap_or_default();
    let status = short(compaction.status.as_str());
    screen.dim(&format!("[compaction of the context: {status}{why}]"))
}

fn draw_plan(screen: &mut Screen, conversation: &Conversation) -> io::Result<()> {
    let entries = conversation.plan().map(|plan| &*plan.entries).unwrap_or_default();
    screen.plan(entries.iter().map(|entry| {
        let mark = match entry.status {
            PlanEntryStatus::Completed => Mark::Completed,
            PlanEntryStatus::InProgress => Mark::Running,
            _ => Mark::Pending,
        };
        (mark, &*entry.content)
    }))
}

fn usage_text(usage: &UsageUpdate) -> String {
    let cost = usage.cost.as_ref().map(|cost| format!(", {:.2} {}", cost.amount, short(&cost.currency)));
    let cost = cost.unwrap_or_default();
    match (u128::from(usage.used) * 100).checked_div(u128::from(usage.size)) {
        Some(part) => format!("context: {part} % of {} tokens{cost}", usage.size),
        None => format!("context: {} tokens{cost}", usage.used),
    }
}

/// A content block as text.
pub(super) fn content_text(content: &ContentBlock) -> Cow<'_, str> {
    match content {
        ContentBlock::Text(text) => text.text.as_str().into(),
        ContentBlock::ResourceLink(link) => {
            format!("[{}]({})", one_line(&link.name), one_line(&link.uri)).into()
        }
        ContentBlock::Image(image) => format!("[an image, {}]", short(&image.mime_type)).into(),
        ContentBlock::Audio(audio) => format!("[a sound, {}]", short(&audio.mime_type)).into(),
        ContentBlock::Resource(resource) => format!("[{}]", one_line(embedded_uri(resource))).into(),
        _ => "[content that cannot be shown here]".into(),
    }
}

#[cfg(test)]
mod tests;
