//! Arguments that are repeated in headers, for whoever routes by them. What was routed by has to be what is worked on.

use std::borrow::Cow;

use agentwire_jsonrpc::{ErrorObject, Members, read};
use agentwire_mcp_schema::{HeaderMark, code};
use agentwire_transport::MessageSource;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// What every request has that came over a transport which repeats arguments.
pub(crate) const PROTOCOL_VERSION: &str = "mcp-protocol-version";

/// The largest number whose neighbours every reader of JSON tells apart: 2^53 - 1.
const MOST_EXACT: f64 = ((1_u64 << 53) - 1) as f64;

/// Holds the marked arguments of a call against the headers that came with it, if any did.
pub(super) fn check(
    marks: &[HeaderMark],
    arguments: &str,
    source: Option<&dyn MessageSource>,
) -> Result<(), ErrorObject> {
    let Some(source) = source.filter(|_| !marks.is_empty()) else {
        return Ok(());
    };
    if source.header(PROTOCOL_VERSION).is_none() {
        return Ok(());
    }
    for mark in marks {
        let argument = find(arguments, mark.path());
        if let Err(why) = compare(argument, source.header(mark.header()).as_deref()) {
            let (header, path) = (mark.header(), mark.path().join("."));
            let message = format!("the header {header} {why} (the argument `{path}`)");
            return Err(ErrorObject::new(code::HEADER_MISMATCH, message));
        }
    }
    Ok(())
}

/// The text of an argument. None also for null, which counts as absent.
fn find<'a>(arguments: &'a str, path: &[String]) -> Option<&'a str> {
    let member = |text, name: &String| {
        // What is no object has no members. Of several of one name the last counts, as it does wherever arguments are read.
        Members::of(text).filter(|(other, _)| other == name).last().map(|(_, value)| value)
    };
    let (first, rest) = path.split_first()?;
    let text = rest.iter().try_fold(member(arguments, first)?, member)?;
    (text != "null").then_some(text)
}

fn compare(argument: Option<&str>, header: Option<&[u8]>) -> Result<(), &'static str> {
    let (argument, header) = match (argument, header) {
        (None, None) => return Ok(()),
        (Some(_), None) => return Err("is missing"),
        (None, Some(_)) => return Err("repeats what is not there"),
        (Some(argument), Some(header)) => (argument, header),
    };
    let header = decode(header).ok_or("is not encoded as it must be")?;
    if says(&header, argument) { Ok(()) } else { Err("does not say what the body says") }
}

/// Whether a header repeats an argument, which is given as JSON. An object or an array cannot be repeated.
fn says(header: &str, argument: &str) -> bool {
    match argument.as_bytes().first() {
        Some(b'"') => read::<String>(argument).is_ok_and(|argument| argument == header),
        Some(b't' | b'f') => header == argument,
        Some(b'-' | b'0'..=b'9') => {
            let (Ok(header), Ok(argument)) = (read(header), read(argument)) else {
                return false;
            };
            let (header, argument): (f64, f64) = (header, argument);
            header == argument && argument.abs() <= MOST_EXACT
        }
        _ => false,
    }
}

/// Reads the value of such a header: plain ASCII, or `=?base64?…?=` around other text.
fn decode(value: &[u8]) -> Option<Cow<'_, str>> {
    let text = str::from_utf8(value).ok().filter(|text| text.is_ascii())?.trim_matches([' ', '\t']);
    match text.strip_prefix("=?base64?").and_then(|text| text.strip_suffix("?=")) {
        None => Some(Cow::Borrowed(text)),
        Some(coded) => String::from_utf8(STANDARD.decode(coded).ok()?).ok().map(Cow::Owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn st_20_numbers_are_compared_as_numbers() {
        for (header, argument) in [("42", "42"), ("42.0", "42"), ("42", "42.0"), ("4.2e1", "42"), ("-0", "0")]
        {
            assert!(says(header, argument), "{header} {argument}");
        }
        assert!(says("-9007199254740991", "-9007199254740991"));
        for (header, argument) in [
            ("43", "42"),
            ("", "42"),
            ("+42", "42"),
            ("0x2a", "42"),
            ("\"42\"", "42"),
            ("42 0", "42"),
            // Alike as far as an `f64` goes, which is why they are not safe to compare.
            ("9007199254740993", "9007199254740992"),
            ("1e999", "1e999"),
        ] {
            assert!(!says(header, argument), "{header} {argument}");
        }
    }

    #[test]
    fn other_values_are_compared_as_text() {
        for (header, argument) in [
            ("eu", r#""eu""#),
            ("e\n", r#""\u0065\n""#),
            ("", r#""""#),
            ("true", "true"),
            ("42.0", r#""42.0""#),
        ] {
            assert!(says(header, argument), "{header} {argument}");
        }
        for (header, argument) in [
            ("EU", r#""eu""#),
            ("42", r#""42.0""#),
            ("True", "true"),
            ("false", "true"),
            ("[]", "[]"),
            ("{}", "{}"),
        ] {
            assert!(!says(header, argument), "{header} {argument}");
        }
    }
}
