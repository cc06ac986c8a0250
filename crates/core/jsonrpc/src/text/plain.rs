//! Rewrites JSON text for people, without the escapes by which a string could hide a word.

use crate::reader;
use crate::text::scan::{skip_space, string_end};

/// Removes white space between tokens, and escapes in strings that JSON does not require. Allocates only the returned text.
pub(crate) fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let start = skip_space(bytes, at);
        let string = (bytes.get(start) == Some(&b'"')).then(|| string_end(bytes, start)).flatten();
        let end = match &string {
            Some(end) => end.at,
            None => end_of_token(bytes, start),
        };
        let token = text.get(start..end).unwrap_or_default();
        if string.is_some_and(|string| string.escapes) {
            push_plain(&mut plain, token);
        } else {
            plain.push_str(token);
        }
        at = end.max(start + 1);
    }
    plain
}

/// Writes a string, escape by escape.
fn push_plain(plain: &mut String, mut string: &str) {
    while let Some((before, escapes)) = string.find('\\').map(|at| string.split_at(at)) {
        plain.push_str(before);
        let (escape, rest) = escapes.split_at(escape_length(escapes));
        match reader::decode::<String>(&format!("\"{escape}\"")) {
            Ok(decoded) => {
                let written = serde_json::Value::from(decoded).to_string();
                plain.push_str(&written[1..written.len() - 1]);
            }
            Err(_) => plain.push_str(escape),
        }
        string = rest;
    }
    plain.push_str(string);
}

/// The length in bytes of the escape at the beginning of a text; that of both escapes of a surrogate pair.
fn escape_length(text: &str) -> usize {
    let unit = |at: usize| u32::from_str_radix(text.get(at..)?.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let length = match (unit(0), unit(6)) {
        (None, _) => 1 + text.chars().nth(1).map_or(0, char::len_utf8),
        (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
        (Some(_), _) => 6,
    };
    length.min(text.len())
}

/// The position after `at` at which white space or a string begins.
fn end_of_token(bytes: &[u8], at: usize) -> usize {
    let is_end = |byte: &u8| matches!(byte, b'"' | b' ' | b'\t' | b'\n' | b'\r');
    let rest = bytes.get(at + 1..).unwrap_or_default();
    rest.iter().position(is_end).map_or(bytes.len(), |length| at + 1 + length)
}

#[cfg(test)]
mod tests {
    #[test]
    fn plain_text_hides_nothing() {
        let table = [
            (
                r#" { "a" : [ 1.0 , "\u0072\u006d \/ \n \u001b\"\\" ] } "#,
                r#"{"a":[1.0,"rm / \n \u001b\"\\"]}"#,
            ),
            (r#"["x y","\ud83d\ude00\ud83d"]"#, "[\"x y\",\"\u{1f600}\u{fffd}\"]"),
            ("true", "true"),
            (r#""""#, r#""""#),
            (r#"{"a":"b"#, r#"{"a":"b"#),
            (r#"["\"#, r#"["\"#),
            ("é\u{a0}1", "é\u{a0}1"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(super::plain(text), expected, "{text}");
        }
    }
}
