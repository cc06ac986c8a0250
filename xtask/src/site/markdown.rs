//! Finds the destinations of links in Markdown and replaces some of them.

use anyhow::Result;

/// The text before a destination: of a link or an image of Markdown, and in HTML.
const OPENINGS: [&str; 3] = ["](", "href=\"", "src=\""];

/// Returns the text with other destinations, where `replace` has another one. Code keeps its text.
///
/// Destinations of `[text](destination)`, `![text](destination)`, `[label]: destination`, `href="…"` and `src="…"` are found.
pub(super) fn replace_destinations(
    text: &str,
    mut replace: impl FnMut(&str) -> Result<Option<String>>,
) -> Result<String> {
    let (mut replaced, mut rest) = (String::with_capacity(text.len()), text);
    while !rest.is_empty() {
        let at_line_start = replaced.is_empty() || replaced.ends_with('\n');
        let code = code(rest, at_line_start);
        if code > 0 {
            replaced.push_str(&rest[..code]);
            rest = &rest[code..];
        } else if let Some((opening, destination)) = destination(rest, at_line_start) {
            replaced.push_str(opening);
            let other = replace(destination)?;
            replaced.push_str(other.as_deref().unwrap_or(destination));
            rest = &rest[opening.len() + destination.len()..];
        } else {
            let length = rest.chars().next().map_or(0, char::len_utf8);
            replaced.push_str(&rest[..length]);
            rest = &rest[length..];
        }
    }
    Ok(replaced)
}

/// The texts of the headings of a page, in order. Code has none.
pub(super) fn headings(text: &str) -> Vec<&str> {
    let (mut headings, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let code = code(rest, true);
        let is_block = rest[..code].contains('\n');
        let line = rest.split_inclusive('\n').next().unwrap_or(rest);
        let level = line.len() - line.trim_start_matches('#').len();
        if !is_block && (1..=6).contains(&level) && line[level..].starts_with(' ') {
            headings.push(line[level..].trim());
        }
        rest = &rest[if is_block { code } else { line.len() }..];
    }
    headings
}

/// The length of the code with which a text begins: a fenced block, or a span between equal runs of backticks.
fn code(text: &str, at_line_start: bool) -> usize {
    let run = |text: &str, mark: char| text.len() - text.trim_start_matches(mark).len();
    let indented = text.trim_start_matches(' ');
    for mark in ['`', '~'] {
        let fence = run(indented, mark);
        if at_line_start && fence >= 3 {
            let lines = text.split_inclusive('\n');
            let is_end = |line: &str| {
                run(line.trim_start(), mark) >= fence && line.trim().trim_matches(mark).is_empty()
            };
            let mut length = 0;
            for (number, line) in lines.enumerate() {
                length += line.len();
                if number > 0 && is_end(line) {
                    break;
                }
            }
            return length;
        }
    }
    let opening = run(text, '`');
    let paragraph = text.split("\n\n").next().unwrap_or(text);
    let mut end = opening;
    while opening > 0
        && let Some(found) = paragraph[end..].find('`')
    {
        let closing = run(&paragraph[end + found..], '`');
        end += found + closing;
        if closing == opening {
            return end;
        }
    }
    opening
}

/// The opening and the destination with which a text begins.
fn destination(text: &str, at_line_start: bool) -> Option<(&str, &str)> {
    let definition = || {
        let label = text.strip_prefix('[').filter(|_| at_line_start)?.split(['\n', ']']).next()?;
        let opening = text.get(..label.len() + "[]: ".len())?;
        opening.ends_with("]: ").then_some(opening)
    };
    let opening = OPENINGS.iter().find(|opening| text.starts_with(**opening));
    let opening = opening.map(|opening| &text[..opening.len()]).or_else(definition)?;
    let destination = text[opening.len()..].split([')', '"', ' ', '\n']).next()?;
    Some((opening, destination))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str) -> String {
        replace_destinations(text, |old| Ok((!old.starts_with('#')).then(|| format!("<{old}>")))).unwrap()
    }

    #[test]
    fn each_form_of_a_link_is_found() {
        let rows = [
            ("see [a](b.md), ![c](d.svg \"e\")", "see [a](<b.md>), ![c](<d.svg> \"e\")"),
            ("[![a](b)](c)", "[![a](<b>)](<c>)"),
            ("[a]: b.md\nmore", "[a]: <b.md>\nmore"),
            ("<a href=\"b\"><img src=\"c\"></a>", "<a href=\"<b>\"><img src=\"<c>\"></a>"),
            ("[a](#b) and no [link]: x", "[a](#b) and no [link]: x"),
        ];
        for (text, expected) in rows {
            assert_eq!(replaced(text), expected);
        }
    }

    #[test]
    fn code_keeps_its_text() {
        for text in
            ["`[a](b)`", "``a ` [b](c)``", "```rust\n[a](b)\n```\n", "  ~~~~\n[a](b)\n~~~\n[c](d)\n~~~~\n"]
        {
            assert_eq!(replaced(text), text);
        }
        assert_eq!(replaced("```\n[a](b)\n```\n[c](d)"), "```\n[a](b)\n```\n[c](<d>)");
        assert_eq!(replaced("a `b\nc` [d](e) `f`"), "a `b\nc` [d](<e>) `f`");
        assert_eq!(replaced("one ` alone\n\n[a](b) `c`"), "one ` alone\n\n[a](<b>) `c`");
    }
}
