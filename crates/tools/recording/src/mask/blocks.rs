//! Finds the secrets below a name on a separate line: blocks of YAML and sections of INI files.

use std::ops::Range;

use super::boundary::{floor, last_bytes};
use super::names::is_secret_text_name;
use super::pairs::Value;
use super::patterns::Certainty;
use super::random::looks_generated;
use super::values::quoted;

/// The most lines and bytes of a block that are searched.
const BLOCK_LINES: usize = 200;
const BLOCK_BYTES: usize = 16 << 10;

/// The most white space before the name of a block.
const LONGEST_INDENT: usize = 80;

/// Returns the values of the YAML block below a name. Empty if no block begins after the name's `:`.
pub(super) fn block_values(text: &str, before_name: &str, behind: usize) -> Vec<Value> {
    // A longer line has more behind the name than the mark of a block.
    let first = &text[behind..floor(text, behind + LONGEST_INDENT)];
    let head = first.find('\n').map_or(first, |end| &first[..end]);
    let is_scalar = is_block_mark(head.trim());
    let before = last_bytes(before_name, LONGEST_INDENT);
    let indent = before.rsplit('\n').next().unwrap_or_default();
    let begins_line = indent.bytes().all(|byte| b" -".contains(&byte));
    if !begins_line || !is_scalar && !head.trim().is_empty() {
        return Vec::new();
    }
    let start = behind + head.len();
    let block = &text[start..floor(text, start + BLOCK_BYTES)];
    let mut values = Vec::new();
    for line in lines(block, start).take(BLOCK_LINES) {
        let content = text[line.clone()].trim_start_matches(' ');
        if content.trim().is_empty() {
            continue;
        }
        let depth = line.len() - content.len();
        let item = content.strip_prefix("- ");
        if depth < indent.len() || depth == indent.len() && (is_scalar || item.is_none()) {
            break;
        }
        let (certainty, value) = match item.unwrap_or(content).split_once(": ") {
            _ if is_scalar => (Certainty::Perhaps, Some(content)),
            Some((_, value)) => (Certainty::Sure, Some(value)),
            None => (Certainty::Sure, item),
        };
        let range = value.map(|value| inside(value, line.end));
        // Values below a name may be descriptions.
        values.extend(
            range
                .filter(|range| is_scalar || looks_generated(&text[range.clone()]))
                .map(|range| Value { range, certainty }),
        );
    }
    values
}

/// The values in the sections of an INI file that are named like secrets.
pub(super) fn section_values(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let mut is_in_section = false;
    // Most texts have no line that begins like a section.
    if !text.starts_with('[') && !text.contains("\n[") {
        return values;
    }
    for line in lines(text, 0) {
        let content = &text[line.clone()];
        if let Some(name) = content.strip_prefix('[') {
            is_in_section = name.trim_end().strip_suffix(']').is_some_and(is_secret_text_name);
        } else if is_in_section && let Some((_, value)) = content.split_once(['=', ':']) {
            let range = inside(value, line.end);
            if looks_generated(&text[range.clone()]) {
                values.push(Value { range, certainty: Certainty::Sure });
            }
        }
    }
    values
}

/// Whether a text is the mark of a block of text, such as `|` and `>-`.
fn is_block_mark(text: &str) -> bool {
    let rest = text.strip_prefix(['|', '>']);
    rest.is_some_and(|rest| rest.len() <= 2 && rest.bytes().all(|byte| b"+-123456789".contains(&byte)))
}

/// The places of the lines of a text that begins at `start`.
fn lines(text: &str, start: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    text.split_inclusive('\n').scan(start, |at, line| {
        let begin = *at;
        *at += line.len();
        Some(begin..begin + line.trim_end_matches(['\n', '\r']).len())
    })
}

/// The place of a value without white space and quotation marks, which ends at `end`.
fn inside(value: &str, end: usize) -> Range<usize> {
    let trimmed = value.trim_start();
    let start = end - trimmed.len();
    match quoted(trimmed) {
        Some(inner) => start + inner.start..start + inner.end,
        None => start..start + trimmed.trim_end().len(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::pairs::secret_values;

    const SECRET: &str = "Zq1vX7wPk1LmT3rYb1Hn5";

    #[test]
    fn values_below_a_name_are_found() {
        for text in [
            "secrets:\n  github: SECRET\n  user: bob\nother: x1y2z3a4",
            "tokens:\n  - SECRET\n  - first\n",
            "  tokens:\n  - 'SECRET'\n  next: x1y2z3a4",
            "password: |\n  SECRET\n",
            "- password: >-\r\n    SECRET\r\n  user: x",
            "[credentials]\ngithub = SECRET\nhelper = store\n[other]\nid = x1y2z3a4",
        ] {
            let text = text.replace("SECRET", SECRET);
            let values: Vec<_> = secret_values(&text).into_iter().map(|value| &text[value.range]).collect();
            assert_eq!(values, [SECRET], "{text}");
        }
    }

    #[test]
    fn descriptions_below_a_name_are_not_secret() {
        for text in [
            "secrets:\n  db_password:\n    file: ./db_password.txt\n",
            "token:\n  type: string\n  description: The token of v2 users.\n",
            "tokens:\n- first\n- second\n",
            "[credential]\n\thelper = store\n",
            "These are all the secrets:\n  x1y2z3a4: b",
        ] {
            assert_eq!(secret_values(text), [], "{text}");
        }
    }
}
