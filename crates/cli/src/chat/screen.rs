//! Shows a conversation to a person.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Instant;

use agentwire_acp_schema::v1::{
    ContentBlock, Diff, Plan, PlanEntryStatus, SessionUpdate, ToolCallContent, ToolCallId, ToolCallStatus,
};
use similar::{ChangeTag, TextDiff};

use crate::text::printable;

/// The most lines shown of what a tool gave back.
const MOST_LINES: usize = 40;

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// A person's view of a session: text as it streams, tool calls with their state, diffs, plans.
pub(crate) struct Screen {
    out: Box<dyn Write>,
    /// Whether to use colours and a spinner.
    lively: bool,
    at_line_start: bool,
    /// What the last streamed text was.
    voice: Option<Voice>,
    tools: HashMap<ToolCallId, Tool>,
    spinner: Option<Spinner>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Voice {
    Message,
    Thought,
}

#[derive(Default)]
struct Tool {
    title: String,
    status: ToolCallStatus,
    /// What of it stands on the screen. Agents send all of a call's content again when it grows.
    shown: Vec<ToolCallContent>,
}

struct Spinner {
    since: Instant,
    frame: usize,
    shown: bool,
}

impl Screen {
    pub(crate) fn new(out: Box<dyn Write>, lively: bool) -> Self {
        Self { out, lively, at_line_start: true, voice: None, tools: HashMap::new(), spinner: None }
    }

    /// Begins to wait.
    pub(crate) fn start_waiting(&mut self) {
        self.spinner = self.lively.then(|| Spinner { since: Instant::now(), frame: 0, shown: false });
    }

    /// Waits no longer, and ends the line that stands open.
    pub(crate) fn stop_waiting(&mut self) -> io::Result<()> {
        self.clear_spinner()?;
        self.spinner = None;
        self.end_line()
    }

    /// Turns the spinner, where the cursor stands at the start of a line.
    pub(crate) fn tick(&mut self) -> io::Result<()> {
        let Some(spinner) = &mut self.spinner else {
            return Ok(());
        };
        if self.at_line_start {
            spinner.frame += 1;
            spinner.shown = true;
            let frame = FRAMES[spinner.frame % FRAMES.len()];
            write!(self.out, "\r\x1b[2K\x1b[2m{frame} {} s\x1b[0m", spinner.since.elapsed().as_secs())?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Shows one update.
    pub(crate) fn update(&mut self, update: &SessionUpdate) -> io::Result<()> {
        self.clear_spinner()?;
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.speak(Voice::Message, &chunk.content)?,
            SessionUpdate::AgentThoughtChunk(chunk) => self.speak(Voice::Thought, &chunk.content)?,
            SessionUpdate::ToolCall(call) => {
                let tool = Tool { title: call.title.clone(), status: call.status.clone(), shown: Vec::new() };
                self.line(&self.tool_line(&tool))?;
                self.tools.insert(call.tool_call_id.clone(), tool);
                self.contents(&call.tool_call_id, &call.content)?;
            }
            SessionUpdate::ToolCallUpdate(update) => {
                let tool = self.tools.entry(update.tool_call_id.clone()).or_default();
                let title_changed = update.title.as_ref().is_some_and(|title| *title != tool.title);
                let status_changed = update.status.as_ref().is_some_and(|status| *status != tool.status);
                tool.title = update.title.clone().unwrap_or_else(|| tool.title.clone());
                tool.status = update.status.clone().unwrap_or_else(|| tool.status.clone());
                if title_changed || status_changed {
                    let line = self.tool_line(&self.tools[&update.tool_call_id]);
                    self.line(&line)?;
                }
                let content = update.content.as_deref().unwrap_or_default();
                self.contents(&update.tool_call_id, content)?;
            }
            SessionUpdate::Plan(plan) => self.plan(plan)?,
            SessionUpdate::CurrentModeUpdate(mode) => {
                self.dim(&format!("mode: {}", mode.current_mode_id))?;
            }
            SessionUpdate::Notice(notice) => self.line(&format!("! {}", notice.title))?,
            // Commands, options, titles and usage are no part of what is said.
            _ => {}
        }
        self.out.flush()
    }

    /// Shows a line of our own.
    pub(crate) fn dim(&mut self, text: &str) -> io::Result<()> {
        let text = self.paint("2", text);
        self.line(&text)?;
        self.out.flush()
    }

    /// Shows text that the user is to answer behind it.
    pub(crate) fn ask(&mut self, text: &str) -> io::Result<()> {
        self.clear_spinner()?;
        self.end_line()?;
        write!(self.out, "{text}")?;
        self.at_line_start = false;
        self.out.flush()
    }

    /// Shows a line.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        self.clear_spinner()?;
        self.end_line()?;
        writeln!(self.out, "{text}")
    }

    fn speak(&mut self, voice: Voice, content: &ContentBlock) -> io::Result<()> {
        if self.voice != Some(voice) {
            self.end_line()?;
            self.voice = Some(voice);
        }
        let text = content_text(content);
        let painted = if voice == Voice::Thought { self.paint("2", &text) } else { printable(&text) };
        write!(self.out, "{painted}")?;
        if !text.is_empty() {
            self.at_line_start = text.ends_with('\n');
        }
        Ok(())
    }

    fn tool_line(&self, tool: &Tool) -> String {
        let (mark, colour) = match tool.status {
            ToolCallStatus::Pending => ("○", "2"),
            ToolCallStatus::InProgress => ("◐", "33"),
            ToolCallStatus::Completed => ("●", "32"),
            ToolCallStatus::Failed => ("✗", "31"),
            _ => ("?", "2"),
        };
        format!("{} {}", self.paint(colour, mark), printable(&tool.title))
    }

    /// Shows what of a call's content has not been shown.
    fn contents(&mut self, id: &ToolCallId, contents: &[ToolCallContent]) -> io::Result<()> {
        let Some(tool) = self.tools.get_mut(id) else {
            return Ok(());
        };
        let shown = &mut tool.shown;
        let news: Vec<_> = contents.iter().filter(|content| !shown.contains(content)).collect();
        shown.extend(news.iter().copied().cloned());
        for content in news {
            match content {
                ToolCallContent::Content(content) => self.indented(&content_text(&content.content))?,
                ToolCallContent::Diff(diff) => self.diff(diff)?,
                // What runs in a terminal of ours is shown when the tool call ends.
                _ => {}
            }
        }
        Ok(())
    }

    fn indented(&mut self, text: &str) -> io::Result<()> {
        let count = text.lines().count();
        for line in text.lines().take(MOST_LINES) {
            let line = self.paint("2", line);
            self.line(&format!("  {line}"))?;
        }
        if count > MOST_LINES {
            self.dim(&format!("  … {} more lines", count - MOST_LINES))?;
        }
        Ok(())
    }

    fn diff(&mut self, diff: &Diff) -> io::Result<()> {
        self.dim(&format!("  {}", diff.path.display()))?;
        let old = diff.old_text.as_deref().unwrap_or_default();
        let changes = TextDiff::from_lines(old, &diff.new_text);
        for group in changes.grouped_ops(3) {
            for change in group.iter().flat_map(|operation| changes.iter_changes(operation)) {
                let (sign, colour) = match change.tag() {
                    ChangeTag::Delete => ('-', "31"),
                    ChangeTag::Insert => ('+', "32"),
                    ChangeTag::Equal => (' ', "2"),
                };
                let text = change.value().trim_end_matches('\n');
                let line = self.paint(colour, &format!("{sign}{text}"));
                self.line(&format!("  {line}"))?;
            }
        }
        Ok(())
    }

    fn plan(&mut self, plan: &Plan) -> io::Result<()> {
        self.line(&self.paint("1", "Plan"))?;
        for entry in &plan.entries {
            let (mark, colour) = match entry.status {
                PlanEntryStatus::Completed => ("●", "32"),
                PlanEntryStatus::InProgress => ("◐", "33"),
                _ => ("○", "2"),
            };
            self.line(&format!("  {} {}", self.paint(colour, mark), printable(&entry.content)))?;
        }
        Ok(())
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        let text = printable(text);
        if self.lively { format!("\x1b[{colour}m{text}\x1b[0m") } else { text }
    }

    fn end_line(&mut self) -> io::Result<()> {
        if !self.at_line_start {
            writeln!(self.out)?;
        }
        self.at_line_start = true;
        self.voice = None;
        Ok(())
    }

    fn clear_spinner(&mut self) -> io::Result<()> {
        if let Some(spinner) = &mut self.spinner
            && std::mem::take(&mut spinner.shown)
        {
            write!(self.out, "\r\x1b[2K")?;
        }
        Ok(())
    }
}

fn content_text(content: &ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::ResourceLink(link) => format!("[{}]({})", link.name, link.uri),
        ContentBlock::Image(image) => format!("[an image, {}]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[a sound, {}]", audio.mime_type),
        _ => "[content that cannot be shown here]".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use agentwire_acp_schema::v1::{SessionUpdate, ToolCall, ToolCallStatus, ToolCallUpdate};

    use super::*;

    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn show(updates: &[SessionUpdate]) -> String {
        let paper = Paper::default();
        let mut screen = Screen::new(Box::new(paper.clone()), false);
        for update in updates {
            screen.update(update).unwrap();
        }
        screen.stop_waiting().unwrap();
        let bytes = paper.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn chunk(text: &str) -> SessionUpdate {
        agentwire_acp_schema::v1::SessionNotification::message("s", text).update
    }

    #[test]
    fn text_streams_and_tools_stand_on_their_own_lines() {
        let shown = show(&[
            chunk("Let me "),
            chunk("see."),
            ToolCall::new("1", "Read a.txt").into(),
            ToolCallUpdate::new("1").status(ToolCallStatus::Completed).into(),
            chunk("Done."),
        ]);
        assert_eq!(shown, "Let me see.\n○ Read a.txt\n● Read a.txt\nDone.\n");
    }

    #[test]
    fn a_diff_shows_what_changed() {
        let diff = Diff::new("/a.txt", "one\nthree\n").old_text("one\ntwo\n");
        let shown = show(&[ToolCall::new("1", "Write").content([diff]).into()]);
        assert_eq!(shown, "○ Write\n  /a.txt\n   one\n  -two\n  +three\n");
    }

    #[test]
    fn escapes_of_others_do_not_reach_the_terminal() {
        assert_eq!(show(&[chunk("\x1b[2Jhello\x07")]), "[2Jhello\n");
    }
}
