//! Prepares text from a peer for attributes: cuts it to a limit and escapes control characters.

use std::borrow::Cow;

use agentwire_jsonrpc::{Printable, read};

/// The value of an attribute for all unknown values.
pub const OTHER: &str = "_OTHER";

/// The maximum length of a peer's text in an attribute, in bytes before escaping.
pub const TEXT_LIMIT: usize = 256;

/// The maximum length of a tool's arguments or result in an attribute, in bytes before escaping.
pub const CONTENT_LIMIT: usize = 4096;

/// The text in one line, escaped, and cut after `limit` bytes.
pub(crate) fn bounded(text: &str, limit: usize) -> String {
    let end = boundary(text, limit);
    let shown = Printable::one_line(&text[..end]).to_string();
    if end < text.len() { shown + "…" } else { shown }
}

/// Decodes a JSON string. `None` for any other value, and for a string with escapes that is far longer than any attribute.
pub(crate) fn string(json: &str) -> Option<Cow<'_, str>> {
    let text = json.strip_prefix('"')?.strip_suffix('"')?;
    if !text.contains('\\') {
        return Some(Cow::Borrowed(text));
    }
    // Each character may be an escape of six bytes, or of twelve for a pair.
    if json.len() > 12 * CONTENT_LIMIT {
        return None;
    }
    read::<String>(json).ok().map(Cow::Owned)
}

/// The last character boundary that is not after `index`. `str::floor_char_boundary` needs Rust 1.91.
fn boundary(text: &str, index: usize) -> usize {
    let mut end = text.len().min(index);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_and_escaped() {
        assert_eq!(bounded("a\u{1b}b\nc", 9), "a^[b c");
        assert_eq!(bounded("ééé", 5), "éé…");
        assert_eq!(bounded("ééé", 6), "ééé");
    }

    #[test]
    fn only_strings_of_bounded_length_are_decoded() {
        assert_eq!(string(r#""a""#).as_deref(), Some("a"));
        assert_eq!(string(r#""\u0041""#).as_deref(), Some("A"));
        assert_eq!(string("1"), None);
        assert_eq!(string(&format!(r#""\n{}""#, "a".repeat(12 * CONTENT_LIMIT))), None);
    }
}
