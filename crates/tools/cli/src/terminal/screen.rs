//! Draws on a person's screen: lines, streamed text, a spinner, colours.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Instant;

use agentwire_acp_toolkit::MessageKind;

use super::markdown::Markdown;
use super::shown::without_marks;
use super::style::Style;
use crate::output::output_queue::Output;
use crate::output::text::{StyledText, one_line, write_text};

/// The most characters of a line of a patch or a diff that are shown.
const MAX_COLUMNS: usize = 2000;

/// The longest text that is escaped before it is queued: 64 KiB. A longer one is escaped when it is written.
const LONG: usize = 64 << 10;

/// The longest piece of a message that is drawn as Markdown: 1 MiB. A longer one is shown unchanged.
const LONG_MARKDOWN: usize = 1 << 20;

/// The most entries of a plan, and pieces of a call's content, that are shown. [`Screen::more`] counts the others.
pub(crate) const MAX_ITEMS: usize = 200;

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// A person's screen. The answer may go to a separate stream.
pub(crate) struct Screen {
    out: Box<dyn Output>,
    style: Style,
    at_line_start: bool,
    /// The text that was written last, while its line can be continued.
    streamed: Option<Streamed>,
    /// Draws the streamed message, if the screen has colours.
    markdown: Option<Markdown>,
    spinner: Option<Spinner>,
    answer: Option<Answer>,
}

/// The separate stream of the answer: a pipe or a file.
struct Answer {
    out: Box<dyn Output>,
    at_line_start: bool,
    streamed: Option<u64>,
}

/// The state of a tool call or of an entry of a plan, shown as a coloured mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamedMessage {
    pub(crate) kind: MessageKind,
    /// The index of the message in the conversation, or a hash of its id.
    pub(crate) key: u64,
    /// Whether it belongs to the running turn, and not to an earlier one.
    pub(crate) is_new: bool,
}

/// A text that is shown piece by piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Streamed {
    Message(StreamedMessage),
    /// The output of the tool call with this index.
    Output(usize),
}

struct Spinner {
    /// Shown before the seconds. Empty, or with a space at its end.
    label: String,
    since: Instant,
    frame: usize,
    shown: bool,
}

impl Screen {
    pub(crate) fn new(out: Box<dyn Output>, style: Style) -> Self {
        Self { out, style, at_line_start: true, streamed: None, markdown: None, spinner: None, answer: None }
    }

    /// Sends the text of new messages of the agent unchanged to a separate stream.
    pub(crate) fn with_answer(mut self, out: Box<dyn Output>) -> Self {
        self.answer = Some(Answer { out, at_line_start: true, streamed: None });
        self
    }

    /// Whether new messages of the agent go to a separate stream.
    pub(crate) fn has_answer(&self) -> bool {
        self.answer.is_some()
    }

    /// Starts the spinner, with a text before the seconds.
    pub(crate) fn start_spinner(&mut self, label: &str) {
        let label = if label.is_empty() { String::new() } else { format!("{} ", one_line(label)) };
        let is_shown = self.style.redraws && self.answer.is_none();
        self.spinner = is_shown.then(|| Spinner { label, since: Instant::now(), frame: 0, shown: false });
    }

    /// Removes the spinner, and ends open lines.
    pub(crate) fn stop_spinner(&mut self) -> io::Result<()> {
        self.clear_spinner()?;
        self.spinner = None;
        self.end_line()?;
        self.out.flush()?;
        self.end_answer()
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
            match self.style.colours {
                true => write!(self.out, "\r\x1b[2K\x1b[2m{frame} {label}{seconds} s\x1b[0m")?,
                false => write!(self.out, "\r\x1b[2K{frame} {label}{seconds} s")?,
            }
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

    /// Shows a line that the person requested, such as one of a list. Writes it to the stream of the answer.
    pub(crate) fn answer_line(&mut self, text: &str) -> io::Result<()> {
        if self.answer.is_none() {
            self.line(text)?;
            return self.out.flush();
        }
        self.end_answer()?;
        let Some(answer) = &mut self.answer else { return Ok(()) };
        writeln!(answer.out, "{}", StyledText::from(text).as_str())?;
        answer.out.flush()
    }

    /// Flushes the output.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Shows a piece of a message, after the pieces before it. A long piece is escaped when it is written.
    pub(crate) fn stream(&mut self, message: StreamedMessage, text: Cow<'_, str>) -> io::Result<()> {
        let kind = message.kind;
        if kind == MessageKind::Agent && message.is_new && self.answer.is_some() {
            return self.stream_answer(message.key, text);
        }
        self.clear_spinner()?;
        if self.streamed != Some(Streamed::Message(message)) {
            self.end_line()?;
            self.streamed = Some(Streamed::Message(message));
            self.markdown = (kind == MessageKind::Agent && self.style.colours).then(Markdown::default);
            if kind == MessageKind::User {
                write!(self.out, "> ")?;
            }
        }
        if let Some(markdown) = &mut self.markdown {
            if text.len() <= LONG_MARKDOWN {
                let drawn = markdown.push(&text);
                if !drawn.is_empty() {
                    self.out.write_all(drawn.as_bytes())?;
                    self.at_line_start = markdown.at_line_start();
                }
                return Ok(());
            }
            let rest = markdown.finish();
            self.out.write_all(rest.as_bytes())?;
        }
        let colour = match kind {
            MessageKind::Thought if self.style.colours => Some("2"),
            MessageKind::User if self.style.colours => Some("1"),
            _ => None,
        };
        if !text.is_empty() {
            self.at_line_start = text.ends_with('\n');
        }
        write_piece(&mut *self.out, colour, text)
    }

    fn stream_answer(&mut self, key: u64, text: Cow<'_, str>) -> io::Result<()> {
        if self.answer.as_ref().is_some_and(|answer| answer.streamed != Some(key)) {
            self.end_answer()?;
            // Both streams may be one file.
            self.end_line()?;
            self.out.flush()?;
        }
        let Some(answer) = &mut self.answer else { return Ok(()) };
        answer.streamed = Some(key);
        if !text.is_empty() {
            answer.at_line_start = text.ends_with('\n');
        }
        write_piece(&mut *answer.out, None, text)?;
        answer.out.flush()
    }

    /// Shows a piece of a line of a tool call's output, indented. It may end with a line feed.
    pub(crate) fn output_piece(&mut self, call: usize, piece: &str) -> io::Result<()> {
        self.clear_spinner()?;
        if self.streamed != Some(Streamed::Output(call)) {
            self.end_line()?;
            self.streamed = Some(Streamed::Output(call));
        }
        let line = piece.strip_suffix('\n').unwrap_or(piece);
        if self.at_line_start && !piece.is_empty() {
            self.out.write_all(b"  ")?;
        }
        if !line.is_empty() {
            write_text(&mut self.out, self.style.colours.then_some("2"), line)?;
        }
        if !piece.is_empty() {
            self.at_line_start = line.len() < piece.len();
        }
        if self.at_line_start && !piece.is_empty() {
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Whether the line of a tool call's output can be continued.
    pub(crate) fn is_in_output(&self, call: usize) -> bool {
        !self.at_line_start && self.streamed == Some(Streamed::Output(call))
    }

    /// Shows a line with a mark.
    pub(crate) fn marked_line(&mut self, mark: Mark, text: &str) -> io::Result<()> {
        self.line(self.mark(mark).then(" ").then(text))
    }

    /// Shows up to [`MAX_ITEMS`] changed entries of a plan, and the number of dropped ones. `count` is the number of all
    /// entries.
    pub(crate) fn plan<'a>(
        &mut self,
        count: usize,
        changed: impl ExactSizeIterator<Item = (Mark, &'a str)>,
        gone: usize,
    ) -> io::Result<()> {
        self.line(self.paint("1", if count == 0 { "Plan: none" } else { "Plan" }))?;
        let left_out = changed.len().saturating_sub(MAX_ITEMS);
        for (mark, content) in changed.take(MAX_ITEMS) {
            self.line(StyledText::from("  ").then(self.mark(mark)).then(" ").then(&*without_marks(content)))?;
        }
        self.more(left_out)?;
        let entries = if gone == 1 { "entry" } else { "entries" };
        if gone > 0 && count > 0 { self.dim(&format!("  {gone} {entries} dropped")) } else { Ok(()) }
    }

    fn mark(&self, mark: Mark) -> StyledText {
        let (character, colour) = mark.style();
        self.paint(colour, character)
    }

    /// Shows how many items are left out.
    pub(crate) fn more(&mut self, count: usize) -> io::Result<()> {
        if count > 0 { self.dim(&format!("  … {count} more")) } else { Ok(()) }
    }

    /// Shows the beginning of an indented line: up to 2,000 characters, with its tabs.
    pub(crate) fn shortened_line(&mut self, colour: &str, line: &str) -> io::Result<()> {
        let line = match line.char_indices().nth(MAX_COLUMNS) {
            Some((end, _)) => StyledText::lines(&format!("{}…", &line[..end])),
            None => StyledText::lines(line),
        };
        let line = if self.style.colours { line.coloured(colour) } else { line };
        self.line(StyledText::from("  ").then(line))
    }

    /// A text on one line, in a colour if the screen has colours.
    pub(crate) fn paint(&self, colour: &str, text: &str) -> StyledText {
        let text = StyledText::from(text);
        if self.style.colours { text.coloured(colour) } else { text }
    }

    /// Ends a message that is complete.
    pub(crate) fn end_message(&mut self) -> io::Result<()> {
        self.end_line()?;
        self.out.flush()
    }

    fn end_line(&mut self) -> io::Result<()> {
        if let Some(mut markdown) = self.markdown.take() {
            let rest = markdown.finish();
            if !rest.is_empty() {
                self.out.write_all(rest.as_bytes())?;
                self.at_line_start = markdown.at_line_start();
            }
        }
        if !self.at_line_start {
            writeln!(self.out)?;
        }
        self.at_line_start = true;
        self.streamed = None;
        Ok(())
    }

    /// Ends an open line of the answer.
    fn end_answer(&mut self) -> io::Result<()> {
        let Some(answer) = &mut self.answer else { return Ok(()) };
        if !answer.at_line_start {
            writeln!(answer.out)?;
        }
        answer.at_line_start = true;
        answer.streamed = None;
        answer.out.flush()
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

/// Writes a piece of a message. A long one is escaped when it is written.
fn write_piece(out: &mut dyn Output, colour: Option<&'static str>, text: Cow<'_, str>) -> io::Result<()> {
    if text.len() <= LONG {
        return write_text(out, colour, &text);
    }
    let text = text.into_owned();
    out.write_later(text.len(), Box::new(move |out| write_text(out, colour, &text)));
    Ok(())
}
