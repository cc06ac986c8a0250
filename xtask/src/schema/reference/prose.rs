//! Rewrites doc comments for readers outside of rustdoc.

use std::collections::BTreeSet;

use serde_json::Value;

use super::text::upper_first;
use crate::schema::document::{definitions, walk};

/// The names of a document, to distinguish them from names of Rust.
#[derive(Debug, Default)]
pub(in crate::schema) struct Prose {
    definitions: BTreeSet<String>,
    members: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl Prose {
    pub(in crate::schema) fn new(document: &Value) -> Self {
        let mut prose = Self::default();
        prose.definitions.extend(definitions(document).map(|(name, _)| name.clone()));
        walk(document, &mut |keyword, value| match (keyword, value) {
            ("properties", Value::Object(members)) => prose.members.extend(members.keys().cloned()),
            ("enum", Value::Array(values)) => {
                prose.words.extend(values.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            ("const", Value::String(value)) => drop(prose.words.insert(value.clone())),
            _ => {}
        });
        prose
    }

    /// A doc comment without Rust examples, links to Rust items and Rust's names: ``[`cwd`](Self::cwd)`` and ``[`cwd`]``
    /// become `` `cwd` ``, fields and variants get their names on the wire. Links to pages stay.
    pub(in crate::schema) fn plain(&self, text: &str) -> String {
        let text = without_links(&without_fences(text)).replace("; see `Meta`", "");
        let mut plain = String::new();
        for (index, part) in text.split('`').enumerate() {
            let is_code = index % 2 == 1;
            plain.push_str(&if is_code { self.code_span(part) } else { part.to_owned() });
        }
        plain
    }

    fn code_span(&self, name: &str) -> String {
        let last = name.rsplit("::").next().unwrap_or(name);
        let owner = name.strip_suffix(last).and_then(|path| path.strip_suffix("::"));
        let is_name = last.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        if let Some(code) = code(last).filter(|_| is_constant(last)) {
            return format!("`{code}` ({})", last.to_lowercase().replace('_', " "));
        }
        let is_known = |name: &str| self.members.contains(name) || self.words.contains(name);
        match owner {
            Some(owner) if self.members.contains(&camel(last)) && last.starts_with(char::is_lowercase) => {
                format!("`{}` of `{owner}`", camel(last))
            }
            // A variant of a type; an item of a module is a type.
            Some(owner) if last.starts_with(char::is_uppercase) && owner.contains(char::is_uppercase) => {
                format!("`{}`", snake(last))
            }
            Some(_) if is_name => format!("`{last}`"),
            None if !is_name || is_known(name) || self.definitions.contains(name) => format!("`{name}`"),
            None if name.starts_with(char::is_uppercase) && self.words.contains(&snake(name)) => {
                format!("`{}`", snake(name))
            }
            None if self.definitions.contains(&format!("{name}Object")) => format!("`{name}Object`"),
            None if name.contains('_') && self.members.contains(&camel(name)) => format!("`{}`", camel(name)),
            _ => format!("`{name}`"),
        }
    }
}

/// Removes links to Rust items: ``[`cwd`](Self::cwd)`` and ``[`cwd`]`` become `` `cwd` ``. Links to pages stay.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        plain.push_str(before);
        let Some((label, after)) = link.split_once(']') else {
            plain.push('[');
            rest = link;
            continue;
        };
        let target = after.strip_prefix('(').and_then(|after| after.split_once(')'));
        match target {
            Some((target, after)) if !is_address(target) => {
                plain.push_str(&item(label));
                rest = after;
            }
            None if label.starts_with('`') && label.ends_with('`') && label.len() > 1 => {
                plain.push_str(&item(label));
                rest = after;
            }
            _ => {
                plain.push('[');
                rest = link;
            }
        }
    }
    plain + rest
}

fn is_address(target: &str) -> bool {
    target.contains("://") || target.ends_with(".md") || target.starts_with('#')
}

/// A label without the item's module.
fn item(label: &str) -> String {
    ["Self::", "super::", "crate::"].iter().fold(label.to_owned(), |label, prefix| label.replace(prefix, ""))
}

fn without_fences(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_fence && !is_code
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    let paragraphs = text.split("\n\n").map(str::trim_end).filter(|paragraph| !paragraph.trim().is_empty());
    paragraphs.map(|paragraph| paragraph.trim_start_matches('\n')).collect::<Vec<_>>().join("\n\n")
}

/// `load_session` and `LoadSession` as `loadSession`.
fn camel(name: &str) -> String {
    let mut words = snake(name).split('_').map(str::to_owned).collect::<Vec<_>>();
    for word in words.iter_mut().skip(1) {
        *word = upper_first(word);
    }
    words.concat()
}

/// `InputRequired` as `input_required`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

fn is_constant(name: &str) -> bool {
    name.contains('_') && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
}

/// The number of an error code, by the name of its constant.
fn code(name: &str) -> Option<i64> {
    use agentwire_acp_schema::{v1, v2};
    use agentwire_mcp_schema::code as mcp;
    let mcp = [
        ("URL_ELICITATION_REQUIRED", mcp::URL_ELICITATION_REQUIRED),
        ("HEADER_MISMATCH", mcp::HEADER_MISMATCH),
        ("MISSING_REQUIRED_CLIENT_CAPABILITY", mcp::MISSING_REQUIRED_CLIENT_CAPABILITY),
    ];
    let acp = v1::error_code::CODES.iter().chain(v2::error_code::CODES).map(|info| (info.name, info.code));
    acp.chain(mcp).find(|(other, _)| *other == name).map(|(_, code)| code)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Prose;

    #[test]
    fn links_to_items_are_removed_and_links_to_pages_stay() {
        for (comment, expected) in [
            ("as [`cwd`](Self::cwd) says", "as `cwd` says"),
            ("see [`Self::cwd`].", "see `cwd`."),
            ("see [the item](super::item)", "see the item"),
            ("see [the page](https://example.org/a)", "see [the page](https://example.org/a)"),
            ("see <https://example.org/a>", "see <https://example.org/a>"),
            ("a list [1, 2] and `[` alone", "a list [1, 2] and `[` alone"),
        ] {
            assert_eq!(Prose::default().plain(comment), expected);
        }
    }

    #[test]
    fn names_are_those_of_the_wire_and_examples_are_removed() {
        let prose = Prose::new(&json!({ "$defs": {
            "Answer": { "properties": { "isError": {}, "why": { "enum": ["not_now", "Listed"] } } },
        } }));
        for (comment, expected) in [
            ("with `is_error` set", "with `isError` set"),
            ("the word `not_now`, and `Listed`", "the word `not_now`, and `Listed`"),
            ("as `NotNow`, or as [`Why::NotNow`](super::Why::NotNow)", "as `not_now`, or as `not_now`"),
            ("what [`Answer::is_error`] says", "what `isError` of `Answer` says"),
            ("an `Answer`", "an `Answer`"),
            ("with `INVALID_PARAMS`.", "with `-32602` (invalid params)."),
            ("Free room; see [`Meta`].", "Free room."),
            ("One.\n\n```\nlet x = 1;\n\nx\n```\n\nTwo.", "One.\n\nTwo."),
        ] {
            assert_eq!(prose.plain(comment), expected);
        }
    }
}
