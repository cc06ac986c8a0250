use std::borrow::Cow;

/// The members of a JSON object, in the order in which they stand: the name of each, and its value as text.
///
/// For whoever looks for a few of them in text that has been read once already, as a [`RawJson`](crate::RawJson)
/// has. To find where a value ends takes only a part of the time that it takes to see that it is JSON.
///
/// ```
/// use agentwire_jsonrpc::{Members, RawJson};
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let params = RawJson::parse(r#"{"name": "echo", "arguments": {"text": "}"}}"#.into())?;
/// let members: Vec<_> = Members::of(params.as_str()).collect();
/// assert_eq!(members, [("name".into(), r#""echo""#), ("arguments".into(), r#"{"text": "}"}"#)]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Members<'a> {
    text: &'a str,
    /// Where the brace or comma is that the next member follows.
    at: usize,
}

impl<'a> Members<'a> {
    /// The members of the object that the text is; none where it is something else. The text begins with its first
    /// token. What is found in text that is not JSON means nothing.
    pub fn of(text: &'a str) -> Self {
        let at = if text.starts_with('{') { 0 } else { text.len() };
        Self { text, at }
    }

    fn find_next(&mut self) -> Option<(Cow<'a, str>, &'a str)> {
        let bytes = self.text.as_bytes();
        let name = skip_space(bytes, self.at + 1);
        if bytes.get(name) != Some(&b'"') {
            return None;
        }
        let name_end = string_end(bytes, name)?;
        let colon = skip_space(bytes, name_end.at);
        if bytes.get(colon) != Some(&b':') {
            return None;
        }
        let value = skip_space(bytes, colon + 1);
        let value_end = value_end(bytes, value)?;
        let comma = skip_space(bytes, value_end);
        self.at = if bytes.get(comma) == Some(&b',') { comma } else { bytes.len() };
        let plain = self.text.get(name + 1..name_end.at - 1)?;
        // What is escaped wrongly is no name that anybody looks for.
        let decoded = if name_end.escapes {
            serde_json::from_str(self.text.get(name..name_end.at)?).ok()
        } else {
            None
        };
        let name = decoded.map_or(Cow::Borrowed(plain), Cow::Owned);
        Some((name, self.text.get(value..value_end)?))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.find_next();
        if found.is_none() {
            self.at = self.text.len();
        }
        found
    }
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

struct StringEnd {
    /// Behind the last quote.
    at: usize,
    /// Whether there are escapes in the string.
    escapes: bool,
}

/// Where the string ends whose first quote is at `open`.
fn string_end(bytes: &[u8], open: usize) -> Option<StringEnd> {
    let mut at = open + 1;
    let mut escapes = false;
    loop {
        at = quote_or_backslash(bytes, at)?;
        if bytes[at] == b'"' {
            return Some(StringEnd { at: at + 1, escapes });
        }
        // What follows a backslash is no end.
        escapes = true;
        at += 2;
    }
}

/// Where the next of these is. Eight bytes are looked at together, as one number: most strings are short, and over
/// before a vectorised search has begun.
fn quote_or_backslash(bytes: &[u8], mut at: usize) -> Option<usize> {
    const ONES: u64 = u64::MAX / 0xff;
    // Sets the highest bit of the lowest byte that is zero, and none below it.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*eight);
        let found = zero(word ^ (ONES * u64::from(b'"'))) | zero(word ^ (ONES * u64::from(b'\\')));
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let found = bytes.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'));
    found.map(|more| at + more)
}

/// Where the value ends that begins at `start`.
fn value_end(bytes: &[u8], start: usize) -> Option<usize> {
    match bytes.get(start)? {
        b'"' => string_end(bytes, start).map(|end| end.at),
        b'{' | b'[' => nested_end(bytes, start),
        _ => {
            let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
            let length = bytes[start..].iter().position(ends);
            Some(length.map_or(bytes.len(), |length| start + length))
        }
    }
}

/// Where the object or array ends that begins at `start`.
fn nested_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at)?.at;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::Members;

    /// What the members say, put together again, is what the text says.
    fn check(text: &str) {
        let read: Map<String, Value> = serde_json::from_str(text).expect("the text is an object");
        let found: Map<String, Value> = Members::of(text)
            .map(|(name, value)| (name.into_owned(), serde_json::from_str(value).expect("a value")))
            .collect();
        assert_eq!(found, read, "{text}");
    }

    #[test]
    fn members_are_told_apart() {
        check("{}");
        check("{ }");
        check(r#"{"a":1,"b":-2.5e3,"c":true,"d":null,"e":"x"}"#);
        check("{ \"a\" : 1 ,\t\"b\" : [ ] , \"c\":{ } }\n");
        check(r#"{"nested":{"a":[{"b":"]}"},[[]],{}]},"after":"}"}"#);
        check(r#"{"a":"12345678","b":"1234567\"","éééééééé":"\\\\\\\\\\\\\\\"","c":"12345678901234567"}"#);
        check(r#"{"quote\"d":"a \\\" b\\","\u005fmeta":{"\\":"\\"}}"#);
    }

    #[test]
    fn other_text_has_none_and_broken_text_ends() {
        let texts =
            r#"[1] 1 "{" { {" {"a {"a" {"a": {"a":} {"a":"\ {] {"a":[} {"a"é1 {"a":é {"\é":1} {"a":1é é"#;
        for text in texts.split(' ').chain([""]) {
            assert!(Members::of(text).count() <= 1, "{text}");
        }
    }
}
