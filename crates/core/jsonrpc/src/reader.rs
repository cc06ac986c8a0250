//! Decodes the values of a peer's JSON into types. `frame` reads envelopes with `serde_json`, and `wire::read_as` applies the rules of
//! this file to each attempt at a member.
//!
//! `serde_json` treats a peer's text in ways that are unsafe or too strict:
//!
//! - Its `Value` gives members with certain names a meaning of their own. With the feature `raw_value`, the object
//!   `{"$serde_json::private::RawValue":"[1]"}` is read as the array `[1]`; with `arbitrary_precision`, which any crate of a
//!   program may switch on, `$serde_json::private::Number` does the same. Every other reader sees an object with one
//!   member, so a check and a later use could see different values, and the text inside the string has its own limit of depth.
//!   A member whose name begins with `$serde_json::private::` is therefore refused, also if the name is escaped. It cannot be kept,
//!   because a `Value` with such an object turns into the other value when it is decoded once more.
//! - It refuses strings with half a surrogate pair (`"\ud83d"`), which is JSON by its grammar, and what JavaScript writes
//!   for text that was cut inside a character. Here each half becomes U+FFFD.
//! - It refuses `2.0` and `1e3` for an integer. JSON Schema counts them as integers, and so do languages with one type of
//!   number.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::de::{DeserializeOwned, Error};

/// The beginning of the member names that `serde_json` gives a meaning of its own.
const RESERVED: &str = "$serde_json::private::";

/// The name by which a `Deserialize` requests a value's text from `serde_json`.
pub(crate) const RAW_VALUE: &str = "$serde_json::private::RawValue";

static RESERVED_NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(RESERVED));

/// An escape of a character below U+0100.
static SHORT_ESCAPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(r"\u00"));

static ESCAPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(r"\u"));

/// Decodes JSON text that a peer, a file or a person wrote.
///
/// Differs from `serde_json::from_str` in four points. A byte order mark at the start is skipped. A member whose name
/// begins with `$serde_json::private::` is an error, because `serde_json::Value` reads it as something else than an object.
/// Half a surrogate pair in a string is read as U+FFFD; a [`RawJson`](crate::RawJson) that is part of the value then contains the
/// escape `\ufffd` in its place. A whole number such as `2.0` is accepted as an integer.
///
/// Nesting deeper than 128 levels is an error, except inside a [`RawJson`](crate::RawJson).
///
/// ```
/// use agentwire_jsonrpc::read;
///
/// assert_eq!(read::<String>(r#""half \ud83d""#).unwrap(), "half \u{fffd}");
/// assert!(read::<serde_json::Value>(r#"{"$serde_json::private::RawValue":"[1]"}"#).is_err());
/// ```
///
/// # Errors
///
/// When the text is not JSON, is not what `T` wants, or names a reserved member. The error names the place.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    refuse_reserved(text)?;
    decode(text)
}

/// [`read`] from bytes that may not be UTF-8.
///
/// # Errors
///
/// As [`read`], and when the bytes are not UTF-8.
pub fn read_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, serde_json::Error> {
    read(str::from_utf8(bytes).map_err(Error::custom)?)
}

/// Returns a text from which a plain `serde_json::Deserializer` accepts the values that [`read`] accepts: each half of a surrogate pair
/// is replaced by `\ufffd`, and each whole number is written as an integer. Unlike [`read`], which first tries the text as it is, this
/// always turns `2.0` into `2`. A byte order mark is kept.
///
/// # Errors
///
/// When it names a reserved member.
pub fn readable(text: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    refuse_reserved(text)?;
    Ok(respelled(text))
}

/// Returns another text of the same value. `None` if it does not differ.
pub(crate) type Spelling = fn(&str) -> Option<Cow<'_, str>>;

/// The texts that are tried if a value cannot be decoded as written: first without halves of surrogate pairs, then also with whole
/// numbers as integers.
pub(crate) const OTHER_SPELLINGS: [Spelling; 2] = [
    |text| Some(whole_pairs(text)).filter(|text| matches!(text, Cow::Owned(_))),
    |text| whole_numbers(&whole_pairs(text)).map(Cow::Owned),
];

/// Decodes text that holds no reserved name.
#[inline]
pub(crate) fn decode<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    decode_as_written(text).or_else(|why| decode_other_spelling(text).ok_or(why))
}

#[cold]
fn decode_other_spelling<T: DeserializeOwned>(text: &str) -> Option<T> {
    OTHER_SPELLINGS.iter().find_map(|spelling| decode_as_written(&spelling(text)?).ok())
}

/// Not inlined: it is the larger part of both callers, which are compiled for hundreds of types.
#[inline(never)]
fn decode_as_written<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text)
}

/// Fails where a member has a name that `serde_json` gives a meaning.
pub(crate) fn refuse_reserved(text: &str) -> Result<(), serde_json::Error> {
    if has_reserved_name(text) { Err(Error::custom(Reserved)) } else { Ok(()) }
}

/// The reason to refuse a reserved name.
pub(crate) struct Reserved;

impl std::fmt::Display for Reserved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "member names that begin with `{RESERVED}` are reserved")
    }
}

/// Whether a member of some object in the text has a name that `serde_json` gives a meaning.
#[inline]
pub(crate) fn has_reserved_name(text: &str) -> bool {
    // Most texts have neither of the bytes that such a name begins with. One pass finds that out.
    memchr::memchr2(b'$', b'\\', text.as_bytes()).is_some_and(|at| may_have_reserved_name(text, at))
}

/// Looks closer at text whose first `$` or `\` is at `from`.
fn may_have_reserved_name(text: &str, from: usize) -> bool {
    let rest = &text.as_bytes()[from..];
    let is_suspicious = RESERVED_NAME.find(rest).is_some()
        || SHORT_ESCAPE.find_iter(rest).any(|at| {
            let digits = rest.get(at + 4..at + 6).and_then(|digits| str::from_utf8(digits).ok());
            digits
                .and_then(|digits| u8::from_str_radix(digits, 16).ok())
                .is_some_and(|byte| RESERVED.as_bytes().contains(&byte))
        });
    is_suspicious && names(text).any(begins_reserved)
}

/// The names of the members of all objects in a JSON text, as they are written, without quotes.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let open = at + memchr::memchr(b'"', bytes.get(at..)?)?;
            at = crate::text::scan::string_end(bytes, open)?.at;
            if bytes.get(crate::text::scan::skip_space(bytes, at)) == Some(&b':') {
                return text.get(open + 1..at - 1);
            }
        }
    })
}

/// Whether a member's name, decoded, is one that `serde_json` gives a meaning.
pub(crate) fn is_reserved(name: &str) -> bool {
    name.starts_with(RESERVED)
}

fn begins_reserved(name: &str) -> bool {
    if !name.contains('\\') {
        return name.starts_with(RESERVED);
    }
    // A name can be as long as a message; only its beginning counts.
    let mut rest = name;
    RESERVED.chars().all(|expected| next_character(&mut rest) == Some(expected))
}

/// The next character of a string's text, if it is one that is escaped as `\uXXXX` or not at all: others are in no reserved
/// name.
fn next_character(rest: &mut &str) -> Option<char> {
    let mut characters = rest.chars();
    let first = characters.next()?;
    if first != '\\' {
        *rest = characters.as_str();
        return Some(first);
    }
    let digits = rest.strip_prefix("\\u")?.get(..4)?;
    *rest = rest.get(6..)?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

/// The text with [whole pairs](whole_pairs) and [whole numbers](whole_numbers).
#[cold]
fn respelled(text: &str) -> Cow<'_, str> {
    let text = whole_pairs(text);
    match whole_numbers(&text) {
        Some(numbers) => Cow::Owned(numbers),
        None => text,
    }
}

/// The text with each number outside of strings that has a fraction or an exponent, and is whole, as an integer. `None` if
/// there is none. Spaces take the place of what falls away, so that places in the text stay the same.
fn whole_numbers(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut found, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = crate::text::scan::string_end(bytes, at).map_or(bytes.len(), |end| end.at),
            b'-' | b'0'..=b'9' => {
                let is_digit = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                let length = bytes[at..].iter().take_while(is_digit).count();
                if let Some(number) = whole_number(&text[at..at + length]) {
                    found.push_str(&text[copied..at]);
                    let _written = write!(found, "{number:<length$}");
                    copied = at + length;
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    (copied > 0).then(|| found + &text[copied..])
}

/// A number that is written with a fraction or an exponent but has none.
fn whole_number(text: &str) -> Option<i64> {
    /// From here on, not every integer has an `f64`.
    const EXACT: f64 = 9_007_199_254_740_992.0;

    let digits = text.strip_prefix('-').unwrap_or(text);
    let (integer, rest) = digits.split_at(digits.find(['.', 'e', 'E'])?);
    // Rust takes `01.0` and `1.`, which are not JSON.
    let is_json = (integer == "0" || !integer.starts_with('0'))
        && rest.strip_prefix('.').is_none_or(|fraction| fraction.starts_with(|c: char| c.is_ascii_digit()));
    let number: f64 = text.parse().ok().filter(|_| is_json && !integer.is_empty())?;
    (number.fract() == 0.0 && number.abs() < EXACT).then_some(number as i64)
}

/// The text with `\ufffd` in the place of each escape that is half a surrogate pair. Places in it stay the same.
pub(crate) fn whole_pairs(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut found = Cow::Borrowed(text);
    let mut behind = 0;
    for at in ESCAPE.find_iter(bytes) {
        if at < behind || is_escaped(bytes, at) {
            continue;
        }
        match unit_at(bytes, at) {
            Some(0xd800..=0xdbff) if matches!(unit_at(bytes, at + 6), Some(0xdc00..=0xdfff)) => {
                behind = at + 12
            }
            Some(0xd800..=0xdfff) => found.to_mut().replace_range(at..at + 6, r"\ufffd"),
            _ => {}
        }
    }
    found
}

/// Whether the backslash at `at` stands for itself, because another one escapes it.
fn is_escaped(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
    before % 2 == 1
}

/// The UTF-16 code unit that the escape at `at` stands for, if there is one.
fn unit_at(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::{has_reserved_name, read, whole_numbers, whole_pairs};

    #[test]
    fn reserved_names_are_found_however_they_are_written() {
        for text in [
            r#"{"$serde_json::private::RawValue":"1"}"#,
            r#"{"$serde_json::private::Number":"1"}"#,
            r#"[{"a":[{"b":1,"$serde_json::private::RawValue" : "1"}]}]"#,
            r#"{"\u0024serde_json::private::RawValue":"1"}"#,
            r#"{"$serde_json\u003a:private::RawValue":"1"}"#,
            r#"{"$serde_json\u003A\u003a\u0070rivate::RawValue":"1"}"#,
            r#"{"$serde\u005fjson::private::Raw\u0056alue":"1"}"#,
            r#"{"\\":"\"","$serde_json::private::RawValue":"1"}"#,
            "{\"$serde_json::private::RawValue\"\t\r\n :1}",
        ] {
            assert!(has_reserved_name(text), "{text}");
        }
        for text in [
            "",
            "\"",
            r#""$serde_json::private::RawValue""#,
            r#"["$serde_json::private::RawValue",1]"#,
            r#"{"a":"{\"$serde_json::private::RawValue\":1}"}"#,
            r#"{"a":"\u0024serde_json::private::RawValue"}"#,
            r#"{"\\u0024serde_json::private::RawValue":1}"#,
            r#"{"$Serde_json::private::RawValue":1,"$ref":"\u001b[0m"}"#,
            r#"{"$serde_json::private":1,"\u0024":"\u00"}"#,
            r#"{"$serde_json::private::RawValue"}"#,
            r#"{"\ud800$serde_json::private::RawValue":1}"#,
        ] {
            assert!(!has_reserved_name(text), "{text}");
        }
    }

    #[test]
    fn half_pairs_are_replaced_and_nothing_else() {
        let table = [
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\uDE00x""#, r#""\ufffdx""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00\ude00""#, r#""\ufffd\ud83d\ude00\ufffd""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\ud83d\\ude00""#, r#""\ufffd\\ude00""#),
            (r#"{"\udbff":1}"#, r#"{"\ufffd":1}"#),
            (r#""\u00e9\n\ud7ff\ue000""#, r#""\u00e9\n\ud7ff\ue000""#),
            (r#""\ud8"#, r#""\ud8"#),
            (r#""\ud83d\u"#, r#""\ufffd\u"#),
            (r"\u", r"\u"),
        ];
        for (text, expected) in table {
            assert_eq!(whole_pairs(text), expected, "{text}");
            assert_eq!(whole_pairs(&whole_pairs(text)), expected, "{text}");
        }
    }

    #[test]
    fn whole_number_is_an_integer() {
        #[derive(Debug, PartialEq, serde::Deserialize)]
        struct Item {
            n: u32,
            x: f64,
            t: String,
        }

        let text = r#"[{ "n": 2.0, "x": 0.5, "t": "\"1.0" }, {"n":1e3,"x":2.0,"t":"\ud83d"}]"#;
        let expected = [(2, 0.5, "\"1.0"), (1000, 2.0, "\u{fffd}")];
        let expected = expected.map(|(n, x, t)| Item { n, x, t: t.into() });
        assert_eq!(read::<Vec<Item>>(text).unwrap(), expected);
        assert_eq!(read::<u32>("2.0").unwrap(), 2);
        assert_eq!(read::<i64>("-9007199254740991.0").unwrap(), -9_007_199_254_740_991);
        for text in
            ["2.5", "-1.0", "1e10", "9007199254740992.0", "01.0", "1.", "1.e0", "1e", "1.0.0", "\"1.0\""]
        {
            assert!(read::<u32>(text).is_err(), "{text}");
        }
        // A fraction stays where it is wanted, also beside half a pair.
        assert_eq!(read::<serde_json::Value>("2.0").unwrap().to_string(), "2.0");
        let value = read::<serde_json::Value>(r#"[2.0,"\ud83d"]"#).unwrap();
        assert_eq!(value.to_string(), "[2.0,\"\u{fffd}\"]");
    }

    #[test]
    fn whole_numbers_keep_their_places() {
        let table = [
            ("[2.0,-0.0, 1.50]", Some("[2  ,0   , 1.50]")),
            (r#"{"1.0":"2.0","\\\"3.0":4.0}"#, Some(r#"{"1.0":"2.0","\\\"3.0":4  }"#)),
            ("[1e2]", Some("[100]")),
            ("é2.0é", Some("é2  é")),
            ("[1,2]", None),
            ("\"1.0", None),
            ("[1.0.0, -, 1e, 00.0, -.0, 1e999]", None),
        ];
        for (text, expected) in table {
            assert_eq!(whole_numbers(text).as_deref(), expected, "{text}");
        }
    }
}
