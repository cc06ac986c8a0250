//! Pieces of text that all pages use.

use serde_json::Value;

/// The beginning of each page.
pub(super) const GENERATED: &str =
    "<!-- Written by `cargo xtask schema` from the types of the schema crates; edit those. -->\n\n";

/// The text with its first letter in upper case.
pub(super) fn upper_first(text: &str) -> String {
    let at = text.find(char::is_alphabetic).unwrap_or_default();
    let (before, rest) = text.split_at(at);
    let mut letters = rest.chars();
    let first: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    format!("{before}{first}{}", letters.as_str())
}

/// A member as text, or nothing.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
