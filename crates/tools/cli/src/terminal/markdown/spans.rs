//! Writes styled text as control sequences, and finds the emphasis and code of one line.

use std::collections::HashMap;
use std::fmt::Write as _;

use agentwire_jsonrpc::Printable;

/// The most open marks that a closing one is compared with. No real text nests deeper.
const DEPTH: usize = 8;

/// The longest run of marks that has a meaning.
pub(super) const LONGEST_RUN: usize = 8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) bold: bool,
    pub(super) italic: bool,
    pub(super) code: bool,
    pub(super) dim: bool,
}

/// Text with styles. Neighbours of one style share their escape sequences.
#[derive(Default)]
pub(super) struct Spans {
    text: String,
    style: Style,
}

impl Spans {
    /// Adds text, escaped.
    pub(super) fn push(&mut self, style: Style, text: &str) {
        if text.is_empty() {
            return;
        }
        self.set(style);
        // Writing to a String never fails.
        let _never = write!(self.text, "{}", Printable::new(text));
    }

    pub(super) fn end_line(&mut self) {
        self.set(Style::default());
        self.text.push('\n');
    }

    pub(super) fn into_text(mut self) -> String {
        self.set(Style::default());
        self.text
    }

    fn set(&mut self, style: Style) {
        if style == self.style {
            return;
        }
        if self.style != Style::default() {
            self.text.push_str("\x1b[0m");
        }
        let codes = [(style.bold, "1"), (style.dim, "2"), (style.italic, "3"), (style.code, "36")];
        for (_, code) in codes.iter().filter(|(is_set, _)| *is_set) {
            let _never = write!(self.text, "\x1b[{code}m");
        }
        self.style = style;
    }
}

/// A run of one of the characters `*`, `_` and `` ` ``.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) start: usize,
    pub(super) length: usize,
    pub(super) mark: u8,
    pub(super) opens: bool,
    pub(super) closes: bool,
}

impl Run {
    /// The run at `start` of a text. `before` is the character before the text.
    pub(super) fn at(text: &str, start: usize, before: Option<char>) -> Self {
        let mark = text.as_bytes()[start];
        let length = text.as_bytes()[start..].iter().take_while(|byte| **byte == mark).count();
        let before = text[..start].chars().next_back().or(before);
        let after = text[start + length..].chars().next();
        let is_space = |character: Option<char>| character.is_none_or(char::is_whitespace);
        let is_word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        let (mut opens, mut closes) = (!is_space(after), !is_space(before));
        if mark == b'_' {
            opens &= !is_word(before);
            closes &= !is_word(after);
        }
        let longest = if mark == b'`' { LONGEST_RUN } else { 3 };
        opens = length <= longest && (opens || mark == b'`');
        closes = length <= longest && (closes || mark == b'`');
        Self { start, length, mark, opens, closes }
    }

    fn end(&self) -> usize {
        self.start + self.length
    }
}

/// Whether a byte is a mark of emphasis or code.
pub(super) fn is_mark(byte: u8) -> bool {
    matches!(byte, b'*' | b'_' | b'`')
}

/// Adds a part of a line, with its emphasis and code where both marks are present. Takes linear time.
pub(super) fn push_part(text: &str, before: Option<char>, base: Style, out: &mut Spans) {
    let runs = runs(text, before);
    let pairs = pairs(&runs);
    let (mut shown, mut style) = (0, base);
    for (index, run) in runs.iter().enumerate() {
        let Some(partner) = pairs.get(&index) else { continue };
        if run.start < shown {
            continue;
        }
        out.push(style, &text[shown..run.start]);
        shown = run.end();
        if run.mark == b'`' {
            let code = &text[run.end()..runs[*partner].start];
            out.push(Style { code: true, ..style }, code);
            shown = runs[*partner].end();
            continue;
        }
        let is_open = *partner > index;
        if run.length != 2 {
            style.italic = is_open || base.italic;
        }
        if run.length != 1 {
            style.bold = is_open || base.bold;
        }
    }
    out.push(style, &text[shown..]);
}

fn runs(text: &str, before: Option<char>) -> Vec<Run> {
    let (mut runs, mut place) = (Vec::new(), 0);
    let bytes = text.as_bytes();
    // In code, a backslash is plain text.
    let has_escapes = !text.starts_with('`');
    while place < bytes.len() {
        if bytes[place] == b'\\' && has_escapes {
            place += 2;
        } else if is_mark(bytes[place]) {
            let run = Run::at(text, place, before);
            place = run.end();
            runs.push(run);
        } else {
            place += 1;
        }
    }
    runs
}

/// The partner of each run that has one, by their indices.
fn pairs(runs: &[Run]) -> HashMap<usize, usize> {
    // For each run of backticks the next one of the same length.
    let (mut next, mut last) = (HashMap::new(), HashMap::new());
    for (index, run) in runs.iter().enumerate().rev().filter(|(_, run)| run.mark == b'`') {
        if let Some(later) = last.insert(run.length, index) {
            next.insert(index, later);
        }
    }
    let (mut pairs, mut open, mut index) = (HashMap::new(), Vec::<usize>::new(), 0);
    while let Some(run) = runs.get(index) {
        if run.mark == b'`' {
            if let Some(later) = next.get(&index) {
                pairs.insert(index, *later);
                index = *later;
            }
        } else {
            let is_partner =
                |other: &usize| runs[*other].mark == run.mark && runs[*other].length == run.length;
            let partner = open.iter().rev().take(DEPTH).position(is_partner).filter(|_| run.closes);
            if let Some(depth) = partner {
                let other = open[open.len() - 1 - depth];
                open.truncate(open.len() - 1 - depth);
                pairs.insert(other, index);
                pairs.insert(index, other);
            } else if run.opens {
                open.push(index);
            }
        }
        index += 1;
    }
    pairs
}
