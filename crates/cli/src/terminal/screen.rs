//! A person's screen: lines, streamed text, a spinner, colours.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use agentwire_acp_toolkit::MessageKind;
use similar::{Algorithm, ChangeTag, capture_diff_slices_deadline, group_diff_ops};

use crate::output_queue::Output;
use crate::text::{StyledText, one_line, write_text};

/// The most lines of a tool's output that are shown.
const MAX_LINES: usize = 40;

/// The most characters of each such line that are shown.
const MAX_COLUMNS: usize = 2000;

/// The most bytes of a text in a diff.
const MAX_DIFF_BYTES: usize = 1 << 20;

/// The most lines of a text in a diff. Comparing takes about 100 bytes of memory a line.
const MAX_DIFF_LINES: usize = 50_000;

/// The longest text that is escaped before it is queued: 64 KiB. A longer one is escaped when it is written.
const LONG: usize = 64 << 10;

/// How long to look for the smallest diffs of one update. The search takes quadratic time for some texts. After this time
/// larger diffs are shown.
const DIFF_TIMEOUT: Duration = Duration::from_millis(200);

/// The most entries of a plan, and pieces of a call's content, that are shown. [`Screen::more`] counts the others.
pub(crate) const MAX_ITEMS: usize = 200;

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// A person's screen.
pub(crate) struct Screen {
    out: Box<dyn Output>,
    /// Whether to use colours and a spinner.
    is_terminal: bool,
    at_line_start: bool,
    /// The message whose text was written last, while its line can go on.
    streamed: Option<StreamedMessage>,
    spinner: Option<Spinner>,
}

/// The state of a tool call or of an entry of a plan, shown as a coloured mark.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Pending,
    Running,
    Completed,
    Failed,
    Cancelled,
    Unknown,
}

impl Mark {
    /// The character and its colour.
    fn style(self) -> (&'static str, &'static str) {
        match self {
            Self::Pending => ("○", "2"),
            Self::Running => ("◐", "33"),
            Self::Completed => ("●", "32"),
            Self::Failed => ("✗", "31"),
            Self::Cancelled => ("✗", "2"),
            Self::Unknown => ("?", "2"),
        }
    }
}

/// A message whose text is shown piece by piece.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamedMessage {
    pub(crate) kind: MessageKind,
    /// The index of the message in the conversation, or a hash of its id.
    pub(crate) key: u64,
}

struct Spinner {
    /// Shown before the seconds. Empty, or with a space at its end.
    label: String,
    since: Instant,
    frame: usize,
    shown: bool,
}

impl Screen {
    pub(crate) fn new(out: Box<dyn Output>, is_terminal: bool) -> Self {
        Self { out, is_terminal, at_line_start: true, streamed: None, spinner: None }
    }

    /// Starts the spinner, with a text before the seconds.
    pub(crate) fn start_spinner(&mut self, label: &str) {
        let label = if label.is_empty() { String::new() } else { format!("{} ", one_line(label)) };
        let spinner = Spinner { label, since: Instant::now(), frame: 0, shown: false };
        self.spinner = self.is_terminal.then_some(spinner);
    }

    /// Removes the spinner, and ends an open line.
    pub(crate) fn stop_spinner(&mut self) -> io::Result<()> {
        self.clear_spinner()?;
        self.spinner = None;
        self.end_line()?;
        self.out.flush()
    }

    /// Turns the spinner, if the cursor is at the start of a line.
    pub(crate) fn turn_spinner(&mut self) -> io::Result<()> {
        let Some(spinner) = &mut self.spinner else {
            return Ok(());
        };
        if self.at_line_start {
            spinner.frame += 1;
            spinner.shown = true;
            let frame = FRAMES[spinner.frame % FRAMES.len()];
            let (label, seconds) = (&spinner.label, spinner.since.elapsed().as_secs());
            write!(self.out, "\r\x1b[2K\x1b[2m{frame} {label}{seconds} s\x1b[0m")?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Shows a dim line.
    pub(crate) fn dim(&mut self, text: &str) -> io::Result<()> {
        self.coloured("2", text)
    }

    /// Shows a line in a colour.
    pub(crate) fn coloured(&mut self, colour: &str, text: &str) -> io::Result<()> {
        self.line(self.paint(colour, text))?;
        self.out.flush()
    }

    /// Shows the lines of a question. The person types the answer after them.
    pub(crate) fn ask(&mut self, lines: &str) -> io::Result<()> {
        self.clear_spinner()?;
        self.end_line()?;
        write_text(&mut self.out, None, lines)?;
        self.at_line_start = false;
        self.out.flush()
    }

    /// Called when typed input has ended its line, or an editor has left the cursor at the start of a line.
    pub(crate) fn input_ended(&mut self) {
        self.at_line_start = true;
        self.streamed = None;
    }

    /// Shows a line.
    pub(crate) fn line(&mut self, text: impl Into<StyledText>) -> io::Result<()> {
        self.clear_spinner()?;
        self.end_line()?;
        writeln!(self.out, "{}", text.into().as_str())
    }

    /// Passes on what is shown so far.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Shows a piece of a message, after the pieces before it. A long piece is escaped when it is written.
    pub(crate) fn stream(&mut self, message: StreamedMessage, text: Cow<'_, str>) -> io::Result<()> {
        self.clear_spinner()?;
        let kind = message.kind;
        if self.streamed != Some(message) {
            self.end_line()?;
            self.streamed = Some(message);
            if kind == MessageKind::User {
                write!(self.out, "> ")?;
            }
        }
        let colour = match kind {
            MessageKind::Thought if self.is_terminal => Some("2"),
            MessageKind::User if self.is_terminal => Some("1"),
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

    /// Shows the beginning of a tool's output: up to 40 lines.
    pub(crate) fn indented(&mut self, text: &str) -> io::Result<()> {
        let count = text.lines().count();
        text.lines().take(MAX_LINES).try_for_each(|line| self.shortened_line("2", line))?;
        if count > MAX_LINES {
            self.dim(&format!("  … {} more lines", count - MAX_LINES))?;
        }
        Ok(())
    }

    /// Shows a line with a mark.
    pub(crate) fn marked_line(&mut self, mark: Mark, text: &str) -> io::Result<()> {
        self.line(self.mark(mark).then(" ").then(text))
    }

    /// Shows a plan: up to [`MAX_ITEMS`] entries.
    pub(crate) fn plan<'a>(
        &mut self,
        entries: impl ExactSizeIterator<Item = (Mark, &'a str)>,
    ) -> io::Result<()> {
        self.line(self.paint("1", "Plan"))?;
        let left_out = entries.len().saturating_sub(MAX_ITEMS);
        for (mark, content) in entries.take(MAX_ITEMS) {
            self.line(StyledText::from("  ").then(self.mark(mark)).then(" ").then(content))?;
        }
        self.more(left_out)
    }

    fn mark(&self, mark: Mark) -> StyledText {
        let (character, colour) = mark.style();
        self.paint(colour, character)
    }

    /// Shows how many items are left out.
    pub(crate) fn more(&mut self, count: usize) -> io::Result<()> {
        if count > 0 { self.dim(&format!("  … {count} more")) } else { Ok(()) }
    }

    /// The time until which to look for the smallest diffs of the update that is shown now.
    pub(crate) fn diff_deadline() -> Instant {
        Instant::now() + DIFF_TIMEOUT
    }

    /// Shows what changed in a text, with three lines of context.
    pub(crate) fn diff(&mut self, old: &str, new: &str, deadline: Instant) -> io::Result<()> {
        let is_long = |text: &str| text.len() > MAX_DIFF_BYTES || text.lines().nth(MAX_DIFF_LINES).is_some();
        if is_long(old) || is_long(new) {
            let (old, new) = (old.len(), new.len());
            return self.dim(&format!("  [{old} bytes before and {new} after are too long to be compared]"));
        }
        let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<_>>();
        let (old, new) = (lines(old), lines(new));
        let changes = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline));
        for group in group_diff_ops(changes, 3) {
            for change in group.iter().flat_map(|operation| operation.iter_changes(&*old, &*new)) {
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

    /// Shows the beginning of an indented line: up to 2,000 characters.
    pub(crate) fn shortened_line(&mut self, colour: &str, line: &str) -> io::Result<()> {
        match line.char_indices().nth(MAX_COLUMNS) {
            Some((end, _)) => self.indented_line(colour, &format!("{}…", &line[..end])),
            None => self.indented_line(colour, line),
        }
    }

    /// Shows an indented line, with its tabs.
    fn indented_line(&mut self, colour: &str, line: &str) -> io::Result<()> {
        let line = StyledText::lines(line);
        let line = if self.is_terminal { line.coloured(colour) } else { line };
        self.line(StyledText::from("  ").then(line))
    }

    /// A text on one line, in a colour where the screen has them.
    pub(crate) fn paint(&self, colour: &str, text: &str) -> StyledText {
        let text = StyledText::from(text);
        if self.is_terminal { text.coloured(colour) } else { text }
    }

    fn end_line(&mut self) -> io::Result<()> {
        if !self.at_line_start {
            writeln!(self.out)?;
        }
        self.at_line_start = true;
        self.streamed = None;
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
