//! Replaces strings, names and numbers within JSON text, and leaves everything else unchanged.

use std::borrow::Cow;

use agentwire_jsonrpc::read;

/// A step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The member whose name begins with these characters: 512 at most.
    Member(String),
    /// The element at this index.
    Index(usize),
}

/// The most characters of a name in a path. Each may be read again for every value below it.
const NAME_LENGTH: usize = 512;

/// The way to a token of a JSON text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path<'a> {
    pub(crate) steps: &'a [Step],
    /// The object or array at which each step starts, by its number in the text.
    pub(crate) containers: &'a [usize],
}

/// A part of JSON text that can be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// The name of a member, decoded.
    Name(&'a str),
    /// A string, decoded.
    Text(&'a str),
    /// A number, `true`, `false` or `null`, as written.
    Plain(&'a str),
}

/// The replacement of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Replacement {
    /// A string, which is encoded.
    Text(String),
    /// JSON text.
    Raw(String),
}

/// Calls `change` with each token and the path to it, and returns the text with the replacements. White space between tokens is
/// left out. Text that is not JSON gives some text, and never a panic.
pub(crate) fn rewrite(
    json: &str,
    change: &mut dyn FnMut(Path<'_>, Token<'_>) -> Option<Replacement>,
) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut path, mut containers): (Vec<Step>, Vec<usize>) = Default::default();
    let mut count = 0;
    let mut expects_name = false;
    let mut rest = json;
    while let Some(first) = rest.bytes().next() {
        let length = match first {
            b'"' => string_length(rest),
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            b' ' | b'\t' | b'\n' | b'\r' => {
                rest = &rest[1..];
                continue;
            }
            _ => rest.find([',', '}', ']', ' ', '\t', '\n', '\r', ':', '"', '{', '[']).unwrap_or(rest.len()),
        };
        let (raw, after) = rest.split_at(length);
        rest = after;
        match first {
            b'{' | b'[' => {
                expects_name = first == b'{';
                path.push(if expects_name { Step::Member(String::new()) } else { Step::Index(0) });
                containers.push(count);
                count += 1;
            }
            b'}' | b']' => {
                path.pop();
                containers.pop();
            }
            b',' => match path.last_mut() {
                Some(Step::Index(index)) => *index += 1,
                _ => expects_name = true,
            },
            b':' => {}
            b'"' => {
                let text = decoded(raw);
                let is_name = expects_name && matches!(path.last(), Some(Step::Member(_)));
                if is_name && let Some(Step::Member(name)) = path.last_mut() {
                    *name = text.chars().take(NAME_LENGTH).collect();
                    expects_name = false;
                }
                let token = if is_name { Token::Name(&text) } else { Token::Text(&text) };
                push(&mut out, raw, change(Path { steps: &path, containers: &containers }, token));
                continue;
            }
            _ => {
                let path = Path { steps: &path, containers: &containers };
                push(&mut out, raw, change(path, Token::Plain(raw)));
                continue;
            }
        }
        out.push_str(raw);
    }
    out
}

fn push(out: &mut String, raw: &str, replacement: Option<Replacement>) {
    match replacement {
        None => out.push_str(raw),
        Some(Replacement::Raw(json)) => out.push_str(&json),
        Some(Replacement::Text(text)) => out.push_str(&encoded(&text)),
    }
}

/// A string as JSON.
pub(crate) fn encoded(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The length of the string literal at the start of a text, with its quotation marks.
fn string_length(text: &str) -> usize {
    let mut is_escaped = true;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !is_escaped => return at + 1,
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

fn decoded(raw: &str) -> Cow<'_, str> {
    if raw.contains('\\') {
        // The text was checked before. A string that still cannot be decoded stays unchanged.
        return read(raw).map_or(Cow::Borrowed(raw), Cow::Owned);
    }
    Cow::Borrowed(raw.trim_matches('"'))
}

/// The JSON Pointer of a path.
pub(crate) fn pointer(path: &[Step]) -> String {
    let mut pointer = String::new();
    for step in path {
        pointer.push('/');
        match step {
            Step::Member(name) => pointer.push_str(&name.replace('~', "~0").replace('/', "~1")),
            Step::Index(index) => pointer.push_str(&index.to_string()),
        }
    }
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_paths_and_other_text_is_unchanged() {
        let json = r#" {"a":[1.50e2, "x\n\"", {"b/c":null}], "d":{}, "e":"" , "a":true} "#;
        let mut seen = Vec::new();
        let same = rewrite(json, &mut |path, token| {
            seen.push((pointer(path.steps), format!("{token:?}")));
            None
        });
        assert_eq!(same, r#"{"a":[1.50e2,"x\n\"",{"b/c":null}],"d":{},"e":"","a":true}"#);
        let pointers: Vec<_> = seen.iter().map(|(pointer, _)| &**pointer).collect();
        assert_eq!(pointers, ["/a", "/a/0", "/a/1", "/a/2/b~1c", "/a/2/b~1c", "/d", "/e", "/e", "/a", "/a"]);
        assert_eq!(seen[2].1, r#"Text("x\n\"")"#);
        let changed = rewrite(json, &mut |_, token| match token {
            Token::Plain("null") => Some(Replacement::Raw("[]".into())),
            Token::Text("x\n\"") => Some(Replacement::Text("\u{1b}«".into())),
            Token::Name("d") => Some(Replacement::Text("D".into())),
            _ => None,
        });
        assert_eq!(changed, r#"{"a":[1.50e2,"\u001b«",{"b/c":[]}],"D":{},"e":"","a":true}"#);
    }

    #[test]
    fn malformed_json_does_not_panic() {
        for text in ["", "\"", "{", "]]]", "{\"a", "\\", "tru", "{\"é\":é}", "[\"\\ud83d\"]", ",:,", "\"\\"]
        {
            let _text = rewrite(text, &mut |_, _| Some(Replacement::Text("x".into())));
        }
        assert_eq!(rewrite(r#"["\ud83d"]"#, &mut |_, _| None), r#"["\ud83d"]"#);
    }
}
