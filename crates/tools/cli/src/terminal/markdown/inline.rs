//! Draws the emphasis and code of a line while its text arrives.

use std::ops::Range;

use super::spans::{LONGEST_RUN, Run, Spans, Style, is_mark, push_part};

/// The most bytes that are held back for a closing mark: 1 KiB.
pub(super) const HOLD: usize = 1 << 10;

/// The text of a line. The part after an opening mark is held back until the closing mark arrives.
#[derive(Default)]
pub(super) struct Inline {
    held: String,
    /// The number of bytes of `held` that were searched for marks.
    seen: usize,
    /// The opening mark at the start of `held`, and its length.
    open: Option<(u8, usize)>,
    /// The character before `held`.
    before: Option<char>,
}

impl Inline {
    pub(super) fn push(&mut self, piece: &str, style: Style, out: &mut Spans) {
        self.held.push_str(piece);
        self.advance(false, style, out);
    }

    /// Ends the line.
    pub(super) fn finish(&mut self, style: Style, out: &mut Spans) {
        self.advance(true, style, out);
        *self = Self::default();
    }

    /// Whether the held text is within the limit.
    #[cfg(test)]
    pub(super) fn is_bounded(&self) -> bool {
        self.held.len() <= HOLD + 16
    }

    fn advance(&mut self, is_end: bool, style: Style, out: &mut Spans) {
        let text = std::mem::take(&mut self.held);
        let bytes = text.as_bytes();
        // The start of the text that was not shown.
        let mut start = 0;
        let mut place = self.seen;
        while place < bytes.len() {
            let looks_at = |byte: &u8| match self.open {
                // In code, a backslash is plain text.
                Some((mark, _)) => *byte == mark || *byte == b'\\' && mark != b'`',
                None => is_mark(*byte) || *byte == b'\\',
            };
            let Some(found) = bytes[place..].iter().position(looks_at) else {
                place = bytes.len();
                break;
            };
            place += found;
            let run = Run::at(&text, place, self.before);
            let end = place + run.length;
            // The meaning of a mark depends on the next character.
            if end == bytes.len() && !is_end && run.length <= LONGEST_RUN {
                break;
            }
            (start, place) = self.advance_over(&run, &text, start..place, style, out);
            if self.open.is_some() && place - start > HOLD {
                self.show_part(&text[start..place], style, out);
                start = place;
            }
        }
        if self.open.is_some() && (is_end || place - start > HOLD) {
            self.show_part(&text[start..], style, out);
            (start, place) = (text.len(), text.len());
        } else if self.open.is_none() {
            let end = if is_end { text.len() } else { place };
            self.show(&text[start..end], style, out);
            start = end;
        }
        self.seen = place - start;
        self.held = if start == 0 { text } else { text[start..].to_owned() };
    }

    /// Reads a run of marks after the text that is not shown yet. Returns the new start of that text, and the place after the run.
    fn advance_over(
        &mut self,
        run: &Run,
        text: &str,
        Range { start, end: place }: Range<usize>,
        style: Style,
        out: &mut Spans,
    ) -> (usize, usize) {
        let end = place + run.length;
        if run.mark == b'\\' {
            // A backslash takes its meaning from a mark, and is not shown before one.
            let is_escape = self.open.is_none()
                && run.length == 1
                && text.as_bytes().get(end).copied().is_some_and(is_mark);
            if is_escape {
                self.show(&text[start..place], style, out);
            }
            let mut place = (end + run.length % 2).min(text.len());
            while !text.is_char_boundary(place) {
                place += 1;
            }
            (if is_escape { end } else { start }, place)
        } else if let Some((_, length)) = self.open {
            if !run.closes || run.length != length {
                return (start, end);
            }
            self.show_part(&text[start..end], style, out);
            (end, end)
        } else if run.opens {
            self.show(&text[start..place], style, out);
            self.open = Some((run.mark, run.length));
            (place, end)
        } else {
            (start, end)
        }
    }

    /// Shows text without marks.
    fn show(&mut self, text: &str, style: Style, out: &mut Spans) {
        out.push(style, text);
        self.before = text.chars().next_back().or(self.before);
    }

    /// Shows the held text.
    fn show_part(&mut self, text: &str, style: Style, out: &mut Spans) {
        push_part(text, self.before, style, out);
        self.before = text.chars().next_back().or(self.before);
        self.open = None;
    }
}
