//! Reads values in text: their ends, their schemes and their escapes.

use std::ops::Range;

use super::rules::SCHEMES;

/// The inside of the quotation marks that a text begins with, which may be escaped. Without an end, all of it is inside.
pub(super) fn quoted(text: &str) -> Option<Range<usize>> {
    let escapes = text.bytes().take_while(|byte| *byte == b'\\').count();
    let quote = *text.as_bytes().get(escapes).filter(|byte| b"\"'".contains(byte))?;
    let start = escapes + 1;
    let mut backslashes = 0;
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            b'\\' => backslashes += 1,
            // Each level of escapes doubles the backslashes before a quotation mark, and adds one.
            byte if byte == quote && backslashes % (2 * start) == escapes => {
                return Some(start..at - escapes);
            }
            _ => backslashes = 0,
        }
    }
    Some(start..text.len())
}

/// The length of a value without quotation marks. These, and escapes, belong to it only if more of it follows.
pub(super) fn unquoted_length(text: &str, name: &str) -> usize {
    if name.to_ascii_lowercase().ends_with("cookie") {
        return text.find(['\r', '\n', '"', '\'']).unwrap_or(text.len());
    }
    let (scheme, value) = split_scheme(text);
    let mut length = 0;
    for (at, c) in value.char_indices() {
        match c {
            '"' | '\'' => {}
            '\\' if !value[at + 1..].starts_with(['n', 'r', 't']) => {}
            '\\' | '&' | ',' | ';' | '<' | '>' | '{' | '}' | '[' | ']' | '\u{1b}' => break,
            c if c.is_whitespace() => break,
            c => length = at + c.len_utf8(),
        }
    }
    if length == 0 { 0 } else { scheme.len() + length }
}

/// Splits credentials into the name of their scheme, with the white space after it, and the rest. The scheme may be
/// empty.
pub(super) fn split_scheme(text: &str) -> (&str, &str) {
    const LONGEST: usize = 16;
    let word = text.bytes().take(LONGEST).take_while(u8::is_ascii_alphabetic).count();
    let rest = text[word..].trim_start_matches([' ', '\t']);
    let is_scheme = rest.len() < text.len() - word
        && !rest.is_empty()
        && SCHEMES.contains(&&*text[..word].to_ascii_lowercase());
    if is_scheme { text.split_at(text.len() - rest.len()) } else { ("", text) }
}

/// A text without percent-encoding and without the escapes of JSON that have a number.
pub(super) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['%', '\\']) {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at..];
        let escape = [("%", 3), ("\\u", 6)].into_iter().find_map(|(start, length)| {
            let digits = rest.strip_prefix(start)?.get(..length - start.len())?;
            Some((u32::from_str_radix(digits, 16).ok()?, length))
        });
        let (code, length) = escape.unwrap_or((rest.as_bytes()[0].into(), 1));
        match (u8::try_from(code), char::from_u32(code)) {
            // A byte of UTF-8.
            (Ok(byte), _) if length == 3 => bytes.push(byte),
            (_, c) => bytes.extend_from_slice(c.unwrap_or_default().encode_utf8(&mut [0; 4]).as_bytes()),
        }
        rest = &rest[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The longest colour code, in bytes.
const LONGEST_CODE: usize = 16;

/// The text without the white space and the colour codes of a terminal that it begins with.
pub(super) fn trim_gap(mut text: &str, is_space: fn(char) -> bool) -> &str {
    loop {
        text = text.trim_start_matches(is_space);
        let Some(code) = text.strip_prefix("\u{1b}[") else { return text };
        let digits = code.bytes().take(LONGEST_CODE).take_while(is_in_code).count();
        let Some(rest) = code[digits..].strip_prefix('m') else { return text };
        text = rest;
    }
}

/// The text without the space or the colour code at its end.
pub(super) fn without_last_gap(text: &str) -> Option<&str> {
    text.strip_suffix([' ', '\t', '\u{a0}']).or_else(|| {
        let code = text.strip_suffix('m')?;
        let digits = code.bytes().rev().take(LONGEST_CODE).take_while(is_in_code).count();
        code[..code.len() - digits].strip_suffix("\u{1b}[")
    })
}

fn is_in_code(byte: &u8) -> bool {
    byte.is_ascii_digit() || *byte == b';'
}

pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{a0}')
}

pub(super) fn is_space_or_line_break(c: char) -> bool {
    is_space(c) || matches!(c, '\r' | '\n')
}

/// The text without the letter before its quotation mark, as in `b"…"`.
pub(super) fn without_string_prefix(text: &str) -> &str {
    let rest = text.strip_prefix(['b', 'f', 'r', 'u']).filter(|rest| rest.starts_with(['"', '\'']));
    rest.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_gaps_are_read() {
        assert_eq!(decoded("a%2fb%C3%A9\\u00e9%zz\\%"), "a/béé%zz\\%");
        assert_eq!(trim_gap("\u{1b}[1;32m \u{a0}\u{1b}[0mab", is_space), "ab");
        assert_eq!(trim_gap("\u{1b}[1", is_space), "\u{1b}[1");
        assert_eq!(without_last_gap("item"), None);
        assert_eq!(without_last_gap("a\u{1b}[0m"), Some("a"));
        assert_eq!(without_string_prefix("b'x'"), "'x'");
        assert_eq!(without_string_prefix("blue"), "blue");
    }
}
