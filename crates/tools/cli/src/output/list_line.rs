//! Formats a line of a list: a signature or name, and the server's description of it. At a terminal, it is cut to one row,
//! because descriptions are often paragraphs without a line break.

use std::io::{self, IsTerminal as _};

use agentwire_jsonrpc::Printable;

use crate::output::text::beginning;

/// The most bytes of the first line of a description that are shown: 4 KiB.
const LINE_LIMIT: usize = 4 << 10;

/// The fewest columns of a description. After a long signature it takes a second row.
const COLUMNS: usize = 40;

/// A text and the first line of a description.
pub(crate) fn with_description(text: &str, description: Option<&str>) -> String {
    row(text, "  ", description)
}

/// A text and the first line of a description, separated by `between`.
pub(crate) fn row(text: &str, between: &str, description: Option<&str>) -> String {
    within(columns(), text, between, description)
}

fn within(columns: Option<usize>, text: &str, between: &str, description: Option<&str>) -> String {
    let first = description.and_then(|text| text.trim_start().lines().next()).unwrap_or_default();
    let first = beginning(Printable::one_line(first), LINE_LIMIT);
    if first.is_empty() {
        return text.to_owned();
    }
    match columns {
        Some(columns) => {
            let used = width(text) + width(between);
            format!("{text}{between}{}", cut(&first, columns.saturating_sub(used).max(COLUMNS)))
        }
        None => format!("{text}{between}{first}"),
    }
}

/// The columns of the terminal on stdout, less the indentation of `inspect`.
fn columns() -> Option<usize> {
    let is_terminal = io::stdout().is_terminal();
    let (columns, _) = is_terminal.then(crossterm::terminal::size)?.ok()?;
    (columns > 0).then(|| usize::from(columns).saturating_sub(2))
}

/// The words of a text that fit.
fn cut(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = text.char_indices().find(|(_, c)| {
        used += width(c.encode_utf8(&mut [0; 4]));
        used > room
    });
    let start = &text[..fits.map_or(text.len(), |(at, _)| at)];
    let words = start.rsplit_once(' ').map_or(start, |(words, _)| words);
    format!("{}…", words.trim_end_matches([' ', ',', '.', ';', ':']))
}

/// The most columns that a text can take.
fn width(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_is_cut_to_the_row_of_a_terminal() {
        let long = "Reads a file. It must be within the folders that are allowed, or else it fails.\nMore.";
        let whole = "read(path: string)  Reads a file. It must be within the folders that are allowed, or else it fails.";
        assert_eq!(within(None, "read(path: string)", "  ", Some(long)), whole);
        let cut = within(Some(62), "read(path: string)", "  ", Some(long));
        assert_eq!(cut, "read(path: string)  Reads a file. It must be within the…");
        // After a long signature, the description has the fewest columns.
        let name = "x".repeat(100);
        assert_eq!(
            within(Some(62), &name, "  ", Some(long)),
            format!("{name}  Reads a file. It must be within the…")
        );
        assert_eq!(within(Some(62), "f()", "  ", Some("\u{1b}[2J  \nb")), "f()  ^[[2J  ");
        assert_eq!(within(Some(62), "f()", "  ", None), "f()");
        assert_eq!(
            within(Some(30), "a://b  The b", ": ", Some(&"wörd ".repeat(20))),
            format!("a://b  The b: {}…", "wörd ".repeat(6).trim_end())
        );
        let wide = within(Some(45), "f()", "  ", Some(&"漢".repeat(100)));
        assert_eq!(wide, format!("f()  {}…", "漢".repeat(19)));
    }
}
