//! Finds the new part of a text that an agent sends as a whole again and again.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher as _;

use agentwire_acp_toolkit::last_bytes;

/// How many bytes of the shown text's end are kept, to find them in a text that has lost its beginning: 32 KiB.
const TAIL: usize = 32 << 10;

/// The most and the fewest of these bytes that are searched for within a text.
const NEEDLE: usize = 4 << 10;
const SHORTEST_NEEDLE: usize = 128;

/// A text of which all known parts were shown.
#[derive(Default)]
pub(super) struct NewText {
    /// The length of the text as it is now, in bytes.
    length: usize,
    hasher: DefaultHasher,
    /// The end of all that was shown.
    tail: String,
}

impl NewText {
    /// Takes text that follows the earlier one. All of it is new.
    pub(super) fn add(&mut self, text: &str) {
        self.length += text.len();
        self.hasher.write(text.as_bytes());
        self.keep(text);
    }

    /// Takes the current whole text and returns the part of it that was not shown. If the text has the earlier one, or its last
    /// lines, that is the part after them; otherwise all of it is new.
    pub(super) fn replace<'a>(&mut self, whole: &'a str) -> &'a str {
        let starts_as_before = whole.get(..self.length).is_some_and(|start| {
            let mut hasher = DefaultHasher::new();
            hasher.write(start.as_bytes());
            hasher.finish() == self.hasher.finish()
        });
        let shown = if starts_as_before { self.length } else { self.shown_part(whole) };
        let new = &whole[shown..];
        self.length = whole.len();
        self.hasher = DefaultHasher::new();
        self.hasher.write(whole.as_bytes());
        self.keep(new);
        new
    }

    /// Returns the part of another text, which may repeat this one, that was not shown.
    pub(super) fn not_in<'a>(&self, text: &'a str) -> &'a str {
        let (text, end) = (text.trim_end(), text);
        let shown = self.tail.trim_end();
        if !shown.is_empty() && (shown == text || is_line_of(shown, text)) { "" } else { end }
    }

    /// How many bytes of memory it takes beside its fixed size.
    pub(super) fn weight(&self) -> usize {
        self.tail.capacity()
    }

    /// Drops the kept end. A text that still begins with the earlier one is recognised without it.
    pub(super) fn give_up(&mut self) {
        self.tail = String::new();
    }

    fn keep(&mut self, new: &str) {
        self.tail.push_str(last_bytes(new, TAIL));
        if self.tail.len() > 2 * TAIL {
            self.tail.drain(..self.tail.len() - last_bytes(&self.tail, TAIL).len());
        }
    }

    /// How many bytes at the start of a text are the end of the shown text.
    fn shown_part(&self, whole: &str) -> usize {
        let tail = last_bytes(&self.tail, TAIL);
        if tail.is_empty() || whole.is_empty() {
            return 0;
        }
        // The searched part is in proportion to the text, so that a short update costs little.
        let near = last_bytes(tail, 2 * whole.len());
        if is_line_of(near, whole) {
            return whole.len();
        }
        let needle = last_bytes(tail, NEEDLE);
        if needle.len() >= SHORTEST_NEEDLE
            && let Some(start) = whole.rfind(needle)
        {
            return start + needle.len();
        }
        // A first line may count the lines that are left out.
        let first_line = whole.find('\n').map_or(whole.len(), |end| end + 1);
        match (overlap(tail, whole), overlap(tail, &whole[first_line..])) {
            (0, 0) => 0,
            (0, rest) => first_line + rest,
            (start, _) => start,
        }
    }
}

/// Whether a text has these lines.
fn is_line_of(text: &str, lines: &str) -> bool {
    text.match_indices(lines).any(|(start, _)| {
        let after = &text[start + lines.len()..];
        let ends = lines.ends_with('\n') || after.is_empty() || after.starts_with('\n');
        ends && (start == 0 || text[..start].ends_with('\n'))
    })
}

/// How many bytes at the start of `whole` are the end of `tail`: at least a whole line. Takes time linear in both lengths.
fn overlap(tail: &str, whole: &str) -> usize {
    let pattern = &whole.as_bytes()[..whole.len().min(tail.len())];
    let tail = &tail.as_bytes()[tail.len() - pattern.len()..];
    if pattern.is_empty() {
        return 0;
    }
    // For each start of the pattern, the longest shorter start that is also its end (Knuth, Morris and Pratt).
    let mut borders = vec![0; pattern.len()];
    let mut border = 0;
    for place in 1..pattern.len() {
        while border > 0 && pattern[place] != pattern[border] {
            border = borders[border - 1];
        }
        border += usize::from(pattern[place] == pattern[border]);
        borders[place] = border;
    }
    let mut matched = 0;
    for byte in tail {
        while matched > 0 && (matched == pattern.len() || *byte != pattern[matched]) {
            matched = borders[matched - 1];
        }
        matched += usize::from(*byte == pattern[matched]);
    }
    while matched > 0 && !pattern[..matched].contains(&b'\n') {
        matched = borders[matched - 1];
    }
    matched
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], expected: &[&str]) {
        let mut shown = NewText::default();
        let new: Vec<_> = texts.iter().map(|text| shown.replace(text)).collect();
        assert_eq!(new, expected);
    }

    #[test]
    fn only_what_is_new_is_shown() {
        check(&["one", "one\ntwo", "one\ntwo"], &["one", "\ntwo", ""]);
        check(&["a\nb\nc\n", "b\nc\nd\n", "c\nd\ne\n"], &["a\nb\nc\n", "d\n", "e\n"]);
        check(&["a\nb\npar", "b\npartial\n"], &["a\nb\npar", "tial\n"]);
        check(&["1\n2\n3\n", "[1 line before]\n2\n3\n4\n"], &["1\n2\n3\n", "4\n"]);
        check(&["a\nb\nc\n", "b\n"], &["a\nb\nc\n", ""]);
        check(&["running", "done"], &["running", "done"]);
        check(&["x", "xyz\n", "yz"], &["x", "yz\n", "yz"]);
        check(&["", "ä", "äö"], &["", "ä", "ö"]);
    }

    #[test]
    fn each_line_of_a_sliding_window_is_shown_once() {
        let lines: Vec<_> = (0..5000).map(|number| format!("line {number} of it\n")).collect();
        for window in [1, 2, 10, 300] {
            let mut shown = NewText::default();
            let mut all = String::new();
            for end in 1..=lines.len() {
                let text = lines[end.saturating_sub(window)..end].concat();
                all.push_str(shown.replace(&text));
            }
            assert_eq!(all, lines.concat(), "{window}");
            assert!(shown.tail.len() <= 2 * TAIL);
        }
    }

    #[test]
    fn pieces_that_are_added_count_as_shown() {
        let mut shown = NewText::default();
        shown.add("one\n");
        shown.add("two\n");
        assert_eq!(shown.replace("one\ntwo\nthree\n"), "three\n");
        assert_eq!(shown.replace("three\n"), "");
    }

    /// Texts without new lines and of one letter are the worst for a search.
    #[test]
    fn a_hostile_text_costs_no_more() {
        let since = std::time::Instant::now();
        for (one, other) in [("a", "ab"), ("a\n", "a"), ("ab\n", "ba\n")] {
            let mut shown = NewText::default();
            for text in [one, other].repeat(5) {
                shown.replace(&text.repeat((1 << 18) / text.len()));
            }
        }
        assert!(since.elapsed() < std::time::Duration::from_secs(10), "{:?}", since.elapsed());
    }
}
