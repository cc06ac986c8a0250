//! A conversation of version 1 on the screen.

use std::borrow::Cow;
use std::io;

use agentwire_acp_schema::v1::{
    ContentBlock, NoticeSeverity, PlanEntryStatus, SessionConfigKind, SessionConfigOption, TerminalId,
    ToolCallContent, ToolCallStatus, UsageUpdate,
};
use agentwire_acp_toolkit::{Change, Compaction, Conversation, Entry, Message, ToolCallEntry};

use super::screen::{Screen, Voice};
use super::shown::short;
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
            // What is not about the flow waits until that rests.
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

    /// Shows what changed beside the flow: the title and how full the context is.
    pub(super) fn rest(&mut self, conversation: &Conversation) -> io::Result<()> {
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

    /// Says how many of something there are that are not shown.
    pub(super) fn more(&mut self, count: usize) -> io::Result<()> {
        if count > 0 { self.dim(&format!("  … {count} more")) } else { Ok(()) }
    }

    /// Takes note of the mode, and shows it if it is new.
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

    /// Takes note of the options, and shows those whose value is new.
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
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use agentwire_acp_schema::v1::{
        ConfigOptionUpdate, CurrentModeUpdate, Diff, SessionInfoUpdate, SessionNotification, SessionUpdate,
        Terminal, ToolCall, ToolCallUpdate,
    };

    use super::*;
    use crate::outlet::{Later, Out};

    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Out for Paper {
        fn write_later(&mut self, _: usize, write: Later) {
            write(self).unwrap();
        }
    }

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn show(updates: impl IntoIterator<Item = SessionUpdate>) -> String {
        let paper = Paper::default();
        let mut screen = Screen::new(Box::new(paper.clone()), false);
        let mut conversation = Conversation::new();
        for update in updates {
            let change = conversation.apply(update).change;
            screen.draw(&conversation, change, &|_| Some("from the terminal".into())).unwrap();
        }
        screen.stop_waiting().unwrap();
        screen.rest(&conversation).unwrap();
        let bytes = paper.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn chunk(text: &str) -> SessionUpdate {
        SessionNotification::message("s", text).update
    }

    #[test]
    fn text_streams_and_tools_stand_on_their_own_lines() {
        let shown = show([
            chunk("Let me "),
            chunk("see."),
            ToolCall::new("1", "Read a.txt").into(),
            ToolCallUpdate::new("1").status(ToolCallStatus::Completed).into(),
            chunk("Done."),
        ]);
        assert_eq!(shown, "Let me see.\n○ Read a.txt\n● Read a.txt\nDone.\n");
    }

    #[test]
    fn a_replay_shows_who_said_what() {
        let shown = show([SessionNotification::user_message("s", "Hello").update, chunk("Good day.")]);
        assert_eq!(shown, "> Hello\nGood day.\n");
    }

    #[test]
    fn a_diff_shows_what_changed() {
        let diff = Diff::new("/a.txt", "one\nthree\n").old_text("one\ntwo\n");
        let shown = show([ToolCall::new("1", "Write").content([diff]).into()]);
        assert_eq!(shown, "○ Write\n  /a.txt\n   one\n  -two\n  +three\n");
    }

    #[test]
    fn a_terminal_is_shown_when_nothing_else_tells_of_it() {
        let terminal = || ToolCallContent::from(Terminal::new("t"));
        let ends = || ToolCallUpdate::new("1").status(ToolCallStatus::Completed);
        let shown = show([ToolCall::new("1", "Run").content([terminal()]).into(), ends().into()]);
        assert_eq!(shown, "○ Run\n● Run\n  from the terminal\n");
        let told = ToolCall::new("1", "Run").content([terminal(), ContentBlock::from("told").into()]);
        assert_eq!(show([told.into(), ends().into()]), "○ Run\n  told\n● Run\n");
    }

    #[test]
    fn what_is_beside_the_flow_does_not_break_it() {
        let titled = SessionInfoUpdate::new().title("A title".to_owned());
        let usage = UsageUpdate::new(50, 200);
        let shown = show([chunk("one "), titled.into(), usage.into(), chunk("word")]);
        assert_eq!(shown, "one word\ntitle: A title\ncontext: 25 % of 200 tokens\n");
        assert_eq!(show([CurrentModeUpdate::new("plan").into()]), "mode: plan\n");
    }

    #[test]
    fn escapes_of_others_do_not_reach_the_terminal() {
        assert_eq!(show([chunk("\x1b[2Jhel\u{202e}lo\x07")]), "^[[2Jhel<U+202E>lo^G\n");
    }

    #[test]
    fn what_has_one_line_does_not_take_more() {
        let title = "Read\n> yes, delete it";
        assert_eq!(show([ToolCall::new("1", title).into()]), "○ Read > yes, delete it\n");
    }

    #[test]
    fn what_is_told_again_is_not_shown_again() {
        let text = |text: &str| ToolCallContent::from(ContentBlock::from(text));
        let ends = || ToolCallUpdate::new("1").status(ToolCallStatus::Completed);
        let told = |contents: &[&str]| ends().content(contents.iter().map(|content| text(content)));
        let shown = show([
            ToolCall::new("1", "Run").content([text("one")]).into(),
            told(&["one", "two"]).into(),
            told(&["one", "two"]).into(),
            ends().into(),
        ]);
        assert_eq!(shown, "○ Run\n  one\n● Run\n  two\n");
        let terminal = || ToolCallContent::from(Terminal::new("t"));
        let again =
            |id: &str| ToolCall::new(id, "Run").status(ToolCallStatus::Completed).content([terminal()]);
        assert_eq!(show([again("1").into(), again("2").into()]), "● Run\n  from the terminal\n● Run\n");
    }

    #[test]
    fn options_are_shown_when_their_values_change() {
        let options = |loud: bool| {
            ConfigOptionUpdate::new([
                SessionConfigOption::boolean("loud", "Loud", loud),
                SessionConfigOption::boolean("new", "New", true),
            ])
        };
        let shown = show([options(true).into(), options(true).into(), options(false).into()]);
        assert_eq!(shown, "Loud: on\nNew: on\nLoud: off\n");
    }

    #[test]
    fn a_title_is_shown_as_far_as_there_is_room() {
        let shown = show([ToolCall::new("1", "x".repeat(10_000)).into()]);
        assert_eq!(shown, format!("○ {}…\n", "x".repeat(500)));
    }

    #[test]
    fn a_context_may_be_as_full_as_it_wants() {
        let shown = show([UsageUpdate::new(u64::MAX, 1).into()]);
        assert_eq!(shown, format!("context: {} % of 1 tokens\n", u128::from(u64::MAX) * 100));
    }
}
