//! Draws tool calls, with the output of their commands.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::io;

use agentwire_acp_schema::v1::{TerminalExitStatus, TerminalId, ToolCallContent, ToolCallStatus};
use agentwire_acp_toolkit::{CommandExit, Conversation, ShownOutput, TerminalChange, ToolCallEntry};

use super::calls::{CallOutput, CallOutputs, TerminalText, terminal_source};
use super::content::{content_text, draw_diff, draw_patch};
use super::fold::WholeOutput;
use super::repeated::is_comparable;
use crate::output::text::beginning;
use crate::terminal::{MAX_ITEMS, Mark, Screen, short};

/// Returns what one of our terminals wrote since a position, also after the agent has released it.
pub(in crate::chat) type OwnTerminals<'a> = &'a dyn Fn(&TerminalId, u64) -> Option<ShownOutput>;

/// The most terminals whose tool calls are remembered.
const KNOWN: usize = 4096;

/// The most shown bytes of the text about a command's end, in which an agent may name any signal.
const EXIT: usize = 64;

/// The parts of a tool call to draw.
pub(super) struct DrawnParts {
    /// Whether its headline may have changed.
    pub(super) headline: bool,
    /// The first new or changed block of its content.
    pub(super) content: Option<usize>,
}

/// Draws tool calls, and remembers their drawn parts, within bounds.
#[derive(Default)]
pub(super) struct ToolCalls {
    /// Whether a person can ask for all of an output.
    offers_last: bool,
    calls: CallOutputs,
    /// The tool calls of the terminals that were named, by hashes of the terminals' ids.
    owners: HashMap<u64, usize>,
    /// Terminals of the agent that no tool call has named so far.
    unowned: Vec<usize>,
    /// The call whose headline or output was drawn last, if nothing else was drawn since.
    pub(super) current_call: Option<usize>,
    /// A call and the last text of its content that was shown, if a message may be a copy of the text.
    last_text: Option<(usize, String)>,
    /// The last output that was shown in part, with the title of its call.
    last: Option<(String, WholeOutput)>,
    hasher: RandomState,
}

impl ToolCalls {
    /// `offers_last`: a person can ask for all of an output.
    pub(super) fn new(offers_last: bool) -> Self {
        Self { offers_last, calls: CallOutputs::new(offers_last), ..Self::default() }
    }

    /// Shows what is left of the output of the calls that have not ended, and of terminals that no call names.
    pub(super) fn end_turn(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        own: OwnTerminals<'_>,
    ) -> io::Result<()> {
        for index in self.calls.running() {
            self.draw_own_output(screen, conversation, index, own)?;
            self.finish_call(screen, index)?;
        }
        for index in std::mem::take(&mut self.unowned) {
            let Some(terminal) = conversation.terminal(index) else { continue };
            if self.owner(conversation, &terminal.terminal_id).is_some() {
                continue;
            }
            let command = terminal.command.as_deref().unwrap_or("(a command of the agent)");
            screen.marked_line(Mark::Completed, &short(command))?;
            terminal
                .output()
                .lines()
                .take(MAX_ITEMS)
                .try_for_each(|line| screen.shortened_line("2", line))?;
            screen.more(terminal.output().lines().count().saturating_sub(MAX_ITEMS))?;
            if let Some(exit) = &terminal.exit {
                let (exit, is_good) = agent_exit_text(exit);
                screen.coloured(if is_good { "2" } else { "31" }, &format!("  {exit}"))?;
            }
        }
        self.current_call = None;
        screen.flush()
    }

    /// Shows all of the last output that was shown in part. Returns whether there is one.
    pub(super) fn draw_last(&self, screen: &mut Screen) -> io::Result<bool> {
        let Some((title, whole)) = &self.last else { return Ok(false) };
        screen.line(screen.paint("1", title))?;
        whole.draw(screen)?;
        screen.flush()?;
        Ok(true)
    }

    /// Shows the new output of our terminals.
    pub(super) fn draw_running(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        own: OwnTerminals<'_>,
    ) -> io::Result<()> {
        for index in self.calls.running() {
            self.draw_own_output(screen, conversation, index, own)?;
        }
        screen.flush()
    }

    /// Shows the headline of a tool call if it is new, and its content from the given block on.
    pub(super) fn draw_tool_call(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        index: usize,
        entry: &ToolCallEntry,
        parts: DrawnParts,
        own: OwnTerminals<'_>,
    ) -> io::Result<()> {
        // A call that is no longer remembered shows its last lines.
        if let Some(oldest) = self.calls.displaced_by(index) {
            self.finish_call(screen, oldest)?;
        }
        let call = &entry.call;
        let new = (mark_of(entry), title_of(entry));
        let output = self.calls.get(index);
        output.has_ended = entry.has_ended();
        output.headline = Some(new);
        // A call has one line when it begins and one when it ends. A title that changes between them is shown above the output.
        if parts.headline && (output.shown.is_none() || output.has_ended) && output.shown != output.headline {
            self.show_headline(screen, index)?;
        }
        let first = parts.content.unwrap_or(call.content.len());
        let blocks = call.content.get(first..).unwrap_or_default();
        let deadline = Screen::diff_deadline();
        for (place, block) in blocks.iter().enumerate().take(MAX_ITEMS) {
            let place = first + place;
            match block {
                ToolCallContent::Content(content) => {
                    let text = content_text(&content.content);
                    let new = self.calls.new_text(index, place, &text);
                    self.draw_output(screen, index, place, new)?;
                    self.last_text = is_comparable(&text).then(|| (index, text.into_owned()));
                }
                ToolCallContent::Diff(diff)
                    if self.is_new_change(index, &(&diff.path, &diff.old_text, &diff.new_text)) =>
                {
                    draw_diff(screen, diff, &call.title, deadline)?;
                }
                ToolCallContent::Unknown(object) if self.is_new_change(index, object.as_str()) => {
                    draw_patch(screen, object)?;
                }
                ToolCallContent::Terminal(terminal) => {
                    self.add_terminal(screen, conversation, index, &terminal.terminal_id)?;
                }
                _ => {}
            }
        }
        let left_out = blocks.len().saturating_sub(MAX_ITEMS);
        if self.calls.get(index).is_new_count(left_out) {
            screen.more(left_out)?;
        }
        if entry.has_ended() {
            self.draw_own_output(screen, conversation, index, own)?;
            self.finish_call(screen, index)?;
        }
        Ok(())
    }

    /// The result directly above the next line, if a message may be a copy of it.
    pub(super) fn result_above(&self) -> Option<&str> {
        let (_, text) = self.last_text.as_ref().filter(|(call, _)| self.current_call == Some(*call))?;
        Some(text)
    }

    fn is_new_change<T: Hash + ?Sized>(&mut self, index: usize, change: &T) -> bool {
        let hash = self.hasher.hash_one(change);
        self.calls.get(index).is_new_change(hash)
    }

    /// Records that a call shows this terminal. The first of several calls owns it.
    fn add_terminal(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        index: usize,
        id: &TerminalId,
    ) -> io::Result<()> {
        let key = self.hasher.hash_one(id);
        if self.owners.len() >= KNOWN && !self.owners.contains_key(&key) {
            self.owners.clear();
        }
        if *self.owners.entry(key).or_insert(index) != index {
            return Ok(());
        }
        let Some(place) = self.calls.get(index).add_terminal(key, id) else { return Ok(()) };
        let Some((_, terminal)) = conversation.terminal_of(id) else { return Ok(()) };
        self.calls.get(index).terminals[place].exit = terminal.exit.as_ref().map(agent_exit_text);
        self.draw_terminal_text(screen, index, place, TerminalText::Whole(terminal.output()))
    }

    /// Shows what has changed of a terminal of the agent.
    pub(super) fn draw_terminal(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        change: TerminalChange,
    ) -> io::Result<()> {
        let Some(terminal) = conversation.terminal(change.index) else { return Ok(()) };
        let Some(index) = self.owner(conversation, &terminal.terminal_id) else {
            if !self.unowned.contains(&change.index) && self.unowned.len() < MAX_ITEMS {
                self.unowned.push(change.index);
            }
            return Ok(());
        };
        let key = self.hasher.hash_one(&terminal.terminal_id);
        let is_place = |output: &&mut CallOutput| output.terminals.iter().position(|known| known.key == key);
        let place = self.calls.find(index).as_ref().and_then(is_place);
        let Some(place) = place else {
            self.add_terminal(screen, conversation, index, &terminal.terminal_id)?;
            return self.finish_if_ended(screen, index, change.ended);
        };
        if let Some(position) = change.output {
            let more = terminal.output_since(position);
            let text = if position == 0 { TerminalText::Whole(more) } else { TerminalText::More(more) };
            self.draw_terminal_text(screen, index, place, text)?;
        }
        if change.ended {
            let exit = terminal.exit.as_ref().map(agent_exit_text);
            self.calls.get(index).terminals[place].exit = exit;
        }
        self.finish_if_ended(screen, index, change.ended)
    }

    /// Shows the end of a command that ended after its call.
    fn finish_if_ended(&mut self, screen: &mut Screen, index: usize, ended: bool) -> io::Result<()> {
        match self.calls.find(index) {
            Some(output) if output.has_ended && ended => self.finish_call(screen, index),
            _ => Ok(()),
        }
    }

    /// The call that shows a terminal of the agent.
    fn owner(&self, conversation: &Conversation, id: &TerminalId) -> Option<usize> {
        let named = self.owners.get(&self.hasher.hash_one(id)).copied();
        named.or_else(|| {
            let (_, terminal) = conversation.terminal_of(id)?;
            conversation.tool_call(terminal.tool_call_id.as_ref()?).map(|(index, _)| index)
        })
    }

    /// Shows the new output of our terminals of a call.
    pub(super) fn draw_own_output(
        &mut self,
        screen: &mut Screen,
        conversation: &Conversation,
        index: usize,
        own: OwnTerminals<'_>,
    ) -> io::Result<()> {
        let count = self.calls.find(index).map_or(0, |output| output.terminals.len());
        for place in 0..count {
            let Some(output) = self.calls.find(index) else { return Ok(()) };
            let terminal = &mut output.terminals[place];
            let Some(id) = &terminal.own_id else { continue };
            if conversation.terminal_of(id).is_some() {
                continue;
            }
            let Some(shown) = own(id, terminal.position) else { continue };
            // A command that has ended writes nothing more.
            let is_end = terminal.position < u64::MAX && shown.exit_status.is_some();
            if is_end {
                terminal.exit = shown.exit_status.as_ref().map(exit_text);
            }
            terminal.position = if shown.exit_status.is_some() { u64::MAX } else { shown.position };
            self.draw_terminal_text(screen, index, place, TerminalText::More(&shown.output))?;
        }
        Ok(())
    }

    /// Shows the new part of a terminal's output: `text` is the continuation of the output, or the whole of it.
    fn draw_terminal_text(
        &mut self,
        screen: &mut Screen,
        index: usize,
        place: usize,
        text: TerminalText<'_>,
    ) -> io::Result<()> {
        let source = terminal_source(place);
        let new = self.calls.new_output(index, source, text);
        self.draw_output(screen, index, source, new)
    }

    fn draw_output(&mut self, screen: &mut Screen, index: usize, source: usize, new: &str) -> io::Result<()> {
        if !new.is_empty() && self.calls.get(index).shows_more() {
            self.name_call(screen, index)?;
        }
        self.calls.draw(screen, index, source, new)
    }

    /// Shows the headline of a call again before its output, if something else was shown since or the title has changed.
    fn name_call(&mut self, screen: &mut Screen, index: usize) -> io::Result<()> {
        let output = self.calls.get(index);
        let title = |headline: &Option<(Mark, String)>| headline.as_ref().map(|(_, title)| title.clone());
        if self.current_call == Some(index) && title(&output.shown) == title(&output.headline) {
            return Ok(());
        }
        self.show_headline(screen, index)
    }

    fn show_headline(&mut self, screen: &mut Screen, index: usize) -> io::Result<()> {
        self.current_call = Some(index);
        let output = self.calls.get(index);
        output.shown.clone_from(&output.headline);
        match &output.headline {
            Some((mark, title)) => screen.marked_line(*mark, title),
            None => Ok(()),
        }
    }

    fn finish_call(&mut self, screen: &mut Screen, index: usize) -> io::Result<()> {
        let offers_last = self.offers_last;
        if self.calls.find(index).is_some_and(|output| output.has_end()) {
            self.name_call(screen, index)?;
        }
        let Some(output) = self.calls.find(index) else { return Ok(()) };
        let title = output.headline.as_ref().map(|(_, title)| title.clone()).unwrap_or_default();
        if let Some(whole) = output.finish(screen, index, offers_last)? {
            self.last = Some((title, whole));
        }
        Ok(())
    }
}

fn mark_of(entry: &ToolCallEntry) -> Mark {
    match &entry.call.status {
        _ if entry.cancelled => Mark::Cancelled,
        ToolCallStatus::Pending => Mark::Pending,
        ToolCallStatus::InProgress => Mark::Running,
        ToolCallStatus::Completed => Mark::Completed,
        ToolCallStatus::Failed => Mark::Failed,
        // The same as pending in version 2, where the call waits for the person.
        ToolCallStatus::Other(word) if &**word == "paused" => Mark::Pending,
        _ => Mark::Unknown,
    }
}

/// The title of a call, or the name of its tool.
fn title_of(entry: &ToolCallEntry) -> String {
    match (&*entry.call.title, &entry.call.name) {
        ("", Some(name)) => short(name),
        ("", None) => "(a tool call without a title)".to_owned(),
        (title, _) => short(title),
    }
}

fn exit_text(exit: &TerminalExitStatus) -> (String, bool) {
    (beginning(exit, EXIT), exit.exit_code == Some(0))
}

/// The end of a command in a terminal of the agent, which may name any signal.
fn agent_exit_text(exit: &CommandExit) -> (String, bool) {
    (beginning(exit, EXIT), exit.code == Some(0))
}
