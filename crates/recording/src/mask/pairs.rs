//! Finds the values of secret names in text: `NAME=value`, `name: value`, `"name":"value"`, also with escapes around them.

use std::ops::Range;

use super::rules::{Certainty, PAIR_MEMBERS, SCHEMES, is_secret_in_query, is_secret_text_name};

/// A value that stands behind the name of a secret.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) range: Range<usize>,
    pub(super) certainty: Certainty,
}

/// The longest name that is looked for before a `=` or `:`, in bytes. With the gap, it bounds how often a byte is looked at.
const LONGEST_NAME: usize = 80;

/// The most white space, and the most escapes, between a name and its `=` or `:`.
const LONGEST_GAP: usize = 8;

/// The values of secret names in a text, in order.
pub(super) fn secret_values(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(['=', ':']) {
        let at = from + at;
        from = at + 1;
        if let Some(value) = value_of(text, at) {
            from = value.range.end.max(from);
            values.push(value);
        }
    }
    values
}

/// The value behind the `=` or `:` at a place, if the name before it is that of a secret.
fn value_of(text: &str, at: usize) -> Option<Value> {
    let (name, is_quoted_name) = name_before(text, at);
    let before = &text[..name.start];
    let name = decoded(&text[name]);
    let is_secret = is_secret_text_name(&name);
    let is_assigned = text[at..].starts_with('=');
    let is_in_query = !is_secret && is_secret_in_query(&name) && {
        let begins_form =
            is_assigned && before.chars().next_back().is_none_or(|c| c.is_whitespace() || "\"'=".contains(c));
        before.ends_with(['?', '&']) || begins_form && is_form(&text[at + 1..])
    };
    let is_in_pair = !is_secret
        && is_quoted_name
        && PAIR_MEMBERS.1.contains(&&*name)
        && is_in_secret_pair(before, &text[at + 1..]);
    if !is_in_query && !is_secret && !is_in_pair {
        return None;
    }
    let behind = &text[at + 1..];
    let mut value = behind.trim_start_matches([' ', '\t', '\r', '\n']);
    if is_quoted_name {
        // The first element of a list.
        value = value.strip_prefix('[').unwrap_or(value).trim_start();
    }
    let quoted = quoted(value);
    let length = match &quoted {
        Some(inner) => inner.len(),
        None => {
            // An empty value may stand before white space.
            value = if is_assigned { behind } else { value };
            unquoted_length(value, &name)
        }
    };
    let start = text.len() - value.len() + quoted.as_ref().map_or(0, |inner| inner.start);
    let range = start..start + length;
    let is_literal = quoted.is_none() && matches!(&text[range.clone()], "true" | "false" | "null");
    let is_sure = (is_assigned || is_quoted_name || quoted.is_some()) && !is_in_query;
    let certainty = if is_sure { Certainty::Sure } else { Certainty::Perhaps };
    (length > 0 && !is_literal).then_some(Value { range, certainty })
}

/// The shortest value that makes a form without a second field.
const SHORTEST_LONE_VALUE: usize = 16;

/// Whether a text is the value of a form's first field: another field follows, or it is long and random.
fn is_form(text: &str) -> bool {
    let is_in_value = |byte: &u8| byte.is_ascii_alphanumeric() || b"%+-._~*/".contains(byte);
    let length = text.bytes().take_while(|byte| is_in_value(byte)).count();
    let is_random = length >= SHORTEST_LONE_VALUE && text[..length].bytes().any(|byte| byte.is_ascii_digit());
    length > 0 && (text[length..].starts_with('&') || is_random)
}

/// The most bytes before the value of a pair, and the most bytes of a name, in which its name is looked for.
const PAIR_WINDOW: usize = 120;

/// Whether the name of a pair, which stands before or behind its value, is secret.
fn is_in_secret_pair(before: &str, behind: &str) -> bool {
    let is_mark = |c: char| c.is_whitespace() || "\"'\\:=,".contains(c);
    let is_in_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let is_pair = |member: &str, name: &str| {
        PAIR_MEMBERS.0.contains(&&*member.to_ascii_lowercase()) && is_secret_text_name(name)
    };
    let before = &before[before.floor_char_boundary(before.len().saturating_sub(PAIR_WINDOW))..];
    let end = before.trim_end_matches(is_mark);
    let start = end.trim_end_matches(is_in_name);
    let member = start.trim_end_matches(is_mark);
    let member = &member[member.trim_end_matches(is_in_name).len()..];
    if is_pair(member, &end[start.len()..]) {
        return true;
    }
    // Behind the value and its quotation mark.
    let value =
        quoted(behind.trim_start()).map_or(0, |range| range.end + behind.len() - behind.trim_start().len());
    let rest = behind[value..].trim_start_matches(is_mark);
    let member = &rest[..rest.find(|c| !is_in_name(c)).unwrap_or(rest.len()).min(PAIR_WINDOW)];
    let rest = rest[member.len()..].trim_start_matches(is_mark);
    let name = &rest[..rest.find(|c| !is_in_name(c)).unwrap_or(rest.len()).min(PAIR_WINDOW)];
    is_pair(member, name)
}

/// The name before a place, and whether it is in quotation marks.
fn name_before(text: &str, at: usize) -> (Range<usize>, bool) {
    let trimmed = |end: usize, limit: usize, is_wanted: fn(u8) -> bool| {
        let bytes = text.as_bytes()[..end].iter().rev().take(limit);
        end - bytes.take_while(|byte| is_wanted(**byte)).count()
    };
    let end = trimmed(at, LONGEST_GAP, |byte| byte == b' ' || byte == b'\t');
    let before_quote = trimmed(end, 1, |byte| byte == b'"' || byte == b'\'');
    let end = trimmed(before_quote, LONGEST_GAP, |byte| byte == b'\\');
    let is_in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.%\\".contains(&byte);
    (
        trimmed(end, LONGEST_NAME, is_in_name)..end,
        before_quote < at && text[before_quote..].starts_with(['"', '\'']),
    )
}

/// The inside of the quotation marks that a text begins with, which may be escaped. Without an end, all of it is inside.
fn quoted(text: &str) -> Option<Range<usize>> {
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
fn unquoted_length(text: &str, name: &str) -> usize {
    if name.to_ascii_lowercase().ends_with("cookie") {
        return text.find(['\r', '\n', '"', '\'']).unwrap_or(text.len());
    }
    let (scheme, value) = split_scheme(text);
    let mut length = 0;
    for (at, c) in value.char_indices() {
        match c {
            '"' | '\'' => {}
            '\\' if !value[at + 1..].starts_with(['n', 'r', 't']) => {}
            '\\' | '&' | ',' | ';' | '<' | '>' | '{' | '}' | '[' | ']' => break,
            c if c.is_whitespace() => break,
            c => length = at + c.len_utf8(),
        }
    }
    if length == 0 { 0 } else { scheme.len() + length }
}

/// Credentials behind the name of their scheme, which has the white space that follows it. The scheme is empty where there is none.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_to_their_ends() {
        for (text, expected) in [
            ("DB_PASSWORD=\"two words\" x", "two words"),
            (r#"{"password":"ab'c\"d","n":1}"#, r#"ab'c\"d"#),
            (r#"{\"password\":\"ab\\\"c\",\"n\":1}"#, r#"ab\\\"c"#),
            (r#"{"p\u0061ssword":987}"#, "987"),
            (r#"x?acc%65ss_tok%65n=ab&b=c"#, "ab"),
            ("?sid=ab&b=c", "ab"),
            ("password: ab\"cd, x", "ab\"cd"),
            ("say \"password: ab\", x", "ab"),
            ("data: {\"password\": [ \"ab\"]}", "ab"),
            ("Authorization: ApiKey ab cd", "ApiKey ab"),
            ("-H 'Cookie: a=b; c=d' x", "a=b; c=d"),
            ("password = 'ab' x", "ab"),
            ("{\"password\":\"cut", "cut"),
            ("token=abc\\nnext", "abc"),
            ("code=ab&grant_type=x", "ab"),
            ("-d 'code=ab&x=y'", "ab"),
            ("code=SplxlOBeZQQYbYS6", "SplxlOBeZQQYbYS6"),
            (r#"env {"name":"GITHUB_TOKEN","value":"ab"}, x"#, "ab"),
            (r#"env {"value": "ab", "name": "GITHUB_TOKEN"}, x"#, "ab"),
            (r#"{\"name\":\"X-Api-Key\",\"value\":\"ab\"}"#, "ab"),
        ] {
            let values: Vec<_> = secret_values(text).into_iter().map(|value| &text[value.range]).collect();
            assert_eq!(values, [expected], "{text}");
        }
        for text in [
            "token:",
            "exit code=1",
            "key=value",
            "\"name\":\"MODE\",\"value\":\"x\"",
            "token= x",
            "\"token\":null",
            "\"token\": {",
            "sid=ab",
            "maxTokens=7",
            "=:",
            "\"=",
        ] {
            assert_eq!(secret_values(text), [], "{text}");
        }
        assert_eq!(decoded("a%2fb%C3%A9\\u00e9%zz\\%"), "a/béé%zz\\%");
    }
}
