//! A person's screen: lines, text as it streams, a spinner, colours.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use agentwire_acp_toolkit::MessageKind;
use similar::{ChangeTag, TextDiff};

use super::rendered::Rendered;
use crate::output_queue::Output;
use crate::text::{Painted, write_text};

/// The most lines shown of what a tool gave back.
const MOST_LINES: usize = 40;

/// The most characters shown of each of them.
const MOST_COLUMNS: usize = 2000;

/// The most bytes and lines of a text that is compared with another: to compare takes about 100 bytes of memory a line.
const MOST_COMPARED: usize = 1 << 20;
const MOST_LINES_COMPARED: usize = 50_000;

/// From how many bytes on a text is made printable when its turn comes: it may be as long as a line of the agent's.
const LONG: usize = 64 << 10;

/// How long to look for the smallest difference of two texts. Their texts may be such that it takes quadratic time; then
/// the difference that was found so far is shown.
const DIFF_TIMEOUT: Duration = Duration::from_millis(200);

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// What a person sees of a session. What to draw of a conversation is in [`draw`](super::draw).
pub(super) struct Screen {
    out: Box<dyn Output>,
    /// Whether to use colours and a spinner.
    lively: bool,
    at_line_start: bool,
    /// The message that the text belongs to that streams.
    voice: Option<Voice>,
    spinner: Option<Spinner>,
    /// What stands on the screen already.
    pub(super) shown: Rendered,
}

/// Whose words stream, and in which message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Voice {
    pub(super) kind: MessageKind,
    /// Its place in the conversation, or a hash of its id.
    pub(super) message: u64,
}

struct Spinner {
    since: Instant,
    frame: usize,
    shown: bool,
}

impl Screen {
    pub(super) fn new(out: Box<dyn Output>, lively: bool) -> Self {
        Self { out, lively, at_line_start: true, voice: None, spinner: None, shown: Rendered::default() }
    }

    /// Begins to wait.
    pub(super) fn start_waiting(&mut self) {
        self.spinner = self.lively.then(|| Spinner { since: Instant::now(), frame: 0, shown: false });
    }

    /// Waits no longer, and ends the line that stands open.
    pub(super) fn stop_waiting(&mut self) -> io::Result<()> {
        self.clear_spinner()?;
        self.spinner = None;
        self.end_line()?;
        self.out.flush()
    }

    /// Turns the spinner, where the cursor stands at the start of a line.
    pub(super) fn tick(&mut self) -> io::Result<()> {
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

    /// Shows a line of our own.
    pub(super) fn dim(&mut self, text: &str) -> io::Result<()> {
        self.coloured("2", text)
    }

    /// Shows a line in a colour.
    pub(super) fn coloured(&mut self, colour: &str, text: &str) -> io::Result<()> {
        self.line(self.paint(colour, text))?;
        self.out.flush()
    }

    /// Shows the lines that the person is to answer below.
    pub(super) fn ask(&mut self, lines: &str) -> io::Result<()> {
        self.clear_spinner()?;
        self.end_line()?;
        write_text(&mut self.out, None, lines)?;
        // An answer is typed behind it.
        self.at_line_start = false;
        self.out.flush()
    }

    /// What was typed behind a question has ended its line, or an editor has left the cursor at the start of one.
    pub(super) fn line_is_typed(&mut self) {
        self.at_line_start = true;
        self.voice = None;
    }

    /// Shows a line.
    pub(super) fn line(&mut self, text: impl Into<Painted>) -> io::Result<()> {
        self.clear_spinner()?;
        self.end_line()?;
        writeln!(self.out, "{}", text.into().as_str())
    }

    /// Writes out what is shown so far.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Shows a piece of a message, behind what stands there of it. A long one is kept as it is until its turn comes.
    pub(super) fn speak(&mut self, voice: Voice, text: Cow<'_, str>) -> io::Result<()> {
        self.clear_spinner()?;
        let kind = voice.kind;
        if self.voice.as_ref() != Some(&voice) {
            self.end_line()?;
            self.voice = Some(voice);
            if kind == MessageKind::User {
                write!(self.out, "> ")?;
            }
        }
        let colour = match kind {
            MessageKind::Thought if self.lively => Some("2"),
            MessageKind::User if self.lively => Some("1"),
            _ => None,
        };
        if !text.is_empty() {
            self.at_line_start = text.ends_with('\n');
        }
        if text.len() <= LONG {
            return write_text(&mut self.out, colour, &text);
        }
        let text = text.into_owned();
        self.out.write_later(text.len(), Box::new(move |out| write_text(out, colour, &text)));
        Ok(())
    }

    /// Shows what a tool gave back, as far as there is room for it.
    pub(super) fn indented(&mut self, text: &str) -> io::Result<()> {
        let count = text.lines().count();
        text.lines().take(MOST_LINES).try_for_each(|line| self.shortened_line("2", line))?;
        if count > MOST_LINES {
            self.dim(&format!("  … {} more lines", count - MOST_LINES))?;
        }
        Ok(())
    }

    /// Shows what changed in a text, with three lines around it.
    pub(super) fn diff(&mut self, old: &str, new: &str) -> io::Result<()> {
        let is_long =
            |text: &str| text.len() > MOST_COMPARED || text.lines().nth(MOST_LINES_COMPARED).is_some();
        if is_long(old) || is_long(new) {
            let (old, new) = (old.len(), new.len());
            return self.dim(&format!("  [{old} bytes before and {new} after are too long to be compared]"));
        }
        let changes = TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(old, new);
        for group in changes.grouped_ops(3) {
            for change in group.iter().flat_map(|operation| changes.iter_changes(operation)) {
                let (sign, colour) = match change.tag() {
                    ChangeTag::Delete => ('-', "31"),
                    ChangeTag::Insert => ('+', "32"),
                    ChangeTag::Equal => (' ', "2"),
                };
                let text = change.value().trim_end_matches('\n');
                self.shortened_line(colour, &format!("{sign}{text}"))?;
            }
        }
        Ok(())
    }

    /// Shows a line of something that has more, as far as there is room for it.
    pub(super) fn shortened_line(&mut self, colour: &str, line: &str) -> io::Result<()> {
        match line.char_indices().nth(MOST_COLUMNS) {
            Some((end, _)) => self.indented_line(colour, &format!("{}…", &line[..end])),
            None => self.indented_line(colour, line),
        }
    }

    /// Shows a line of something that has more, with the tabs that it has.
    fn indented_line(&mut self, colour: &str, line: &str) -> io::Result<()> {
        let line = Painted::lines(line);
        let line = if self.lively { line.coloured(colour) } else { line };
        self.line(Painted::from("  ").then(line))
    }

    /// A text in a colour, on one line.
    pub(super) fn paint(&self, colour: &str, text: &str) -> Painted {
        let text = Painted::from(text);
        if self.lively { text.coloured(colour) } else { text }
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
