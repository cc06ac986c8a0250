//! Draws Markdown while it arrives: headings, lists, emphasis and code, with the colours of a terminal.
//!
//! Text is shown as soon as its meaning is known: at the latest when its line ends or [`inline::HOLD`] bytes of it are held back.
//! Incomplete Markdown is shown unchanged. No characters are lost but the marks of drawn elements. Takes linear time.

mod inline;
mod spans;

use self::inline::Inline;
use self::spans::{Spans, Style};

/// The most bytes at the start of a line that are held back while the kind of the line is not known.
const START: usize = 256;

/// The state of drawing a message.
#[derive(Default)]
pub(super) struct Markdown {
    line: Line,
    /// The start of a line whose kind is not known.
    start: String,
    fence: Option<Fence>,
    inline: Inline,
    /// Whether a part of the current line was shown.
    in_line: bool,
}

/// The kind of a line.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Line {
    #[default]
    Unknown,
    Text,
    Heading,
    Code,
    Fence,
}

/// A fence, which ends with a line of at least as many marks.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

impl Line {
    fn style(self) -> Style {
        match self {
            Self::Heading => Style { bold: true, ..Style::default() },
            Self::Code => Style { code: true, ..Style::default() },
            Self::Fence => Style { dim: true, ..Style::default() },
            Self::Unknown | Self::Text => Style::default(),
        }
    }
}

impl Markdown {
    /// Takes a piece of the message. Returns the text to show, escaped and with colours.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut out = Spans::default();
        for line in piece.split_inclusive('\n') {
            let text = line.strip_suffix('\n').unwrap_or(line);
            self.take(text, &mut out);
            if text.len() < line.len() {
                self.end_line(&mut out);
                out.end_line();
            }
        }
        self.shown(out)
    }

    /// Ends the message. Returns the text that was held back.
    pub(super) fn finish(&mut self) -> String {
        let mut out = Spans::default();
        self.end_line(&mut out);
        self.fence = None;
        self.shown(out)
    }

    /// Whether the shown text ends with a line feed.
    pub(super) fn at_line_start(&self) -> bool {
        !self.in_line
    }

    fn shown(&mut self, out: Spans) -> String {
        let out = out.into_text();
        if !out.is_empty() {
            self.in_line = !out.ends_with('\n');
        }
        out
    }

    /// Takes a part of a line.
    fn take(&mut self, text: &str, out: &mut Spans) {
        if self.line == Line::Unknown {
            self.start.push_str(text);
            let is_over = self.start.len() > START;
            if self.begin_line(is_over, out) {
                let rest = std::mem::take(&mut self.start);
                self.take_known(&rest, out);
            }
        } else {
            self.take_known(text, out);
        }
    }

    fn take_known(&mut self, text: &str, out: &mut Spans) {
        match self.line {
            Line::Code | Line::Fence => out.push(self.line.style(), text),
            _ => self.inline.push(text, self.line.style(), out),
        }
    }

    fn end_line(&mut self, out: &mut Spans) {
        if self.line == Line::Unknown && !self.start.is_empty() {
            self.begin_line(true, out);
            let rest = std::mem::take(&mut self.start);
            self.take_known(&rest, out);
        }
        self.inline.finish(self.line.style(), out);
        self.line = Line::Unknown;
    }

    /// Finds the kind of the line. Returns whether it is known. With `is_over`, the line has ended and nothing is held back.
    fn begin_line(&mut self, is_over: bool, out: &mut Spans) -> bool {
        if let Some(fence) = self.fence {
            return self.begin_code(fence, is_over);
        }
        let text = self.start.trim_start_matches([' ', '\t']);
        let indent = self.start.len() - text.len();
        let Some(mark) = text.chars().next() else {
            self.line = if is_over { Line::Text } else { Line::Unknown };
            return is_over;
        };
        let run = text.len() - text.trim_start_matches(mark).len();
        let rest = &text[run..];
        if rest.is_empty() && !is_over && matches!(mark, '#' | '`' | '~' | '-' | '*' | '+') {
            return false;
        }
        self.line = Line::Text;
        match mark {
            '#' if run <= 6 && rest.starts_with(' ') => {
                self.line = Line::Heading;
                self.start.drain(..indent + run + 1);
            }
            '`' | '~' if run >= 3 => {
                if !is_over {
                    self.line = Line::Unknown;
                    return false;
                }
                // Text between as many marks on one line is inline code.
                if self.start.len() <= START && !rest.contains('`') {
                    self.fence = Some(Fence { mark, length: run });
                    self.line = Line::Fence;
                }
            }
            '-' | '*' | '+' if run == 1 && rest.starts_with(' ') => {
                let indented = format!("{}•", &self.start[..indent]);
                out.push(Style::default(), &indented);
                self.start.drain(..indent + 1);
            }
            _ => {}
        }
        true
    }

    /// As `begin_line`, within a fence.
    fn begin_code(&mut self, fence: Fence, is_over: bool) -> bool {
        let marks = self.start.trim_matches([' ', '\t', '\r']);
        let is_fence = marks.chars().all(|character| character == fence.mark);
        if is_fence && !is_over {
            return false;
        }
        self.line = Line::Code;
        if is_fence && marks.len() >= fence.length {
            self.line = Line::Fence;
            self.fence = None;
        }
        true
    }
}

#[cfg(test)]
mod tests;
