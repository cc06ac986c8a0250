//! The HTTP headers of MCP: their names, in lower case, and the coding of their values.
//!
//! A header can carry visible ASCII only, but a tool may be called "日本". Such a value travels in another form:
//! `=?base64?…?=` around the standard base64 of the text's UTF-8; see
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// `Mcp-Session-Id`: the session that a request belongs to (2025-03-26 to 2025-11-25).
pub const SESSION_ID: &str = "mcp-session-id";
/// `MCP-Protocol-Version`: the revision that a request speaks (since 2025-06-18).
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// `Mcp-Method`: the method in the body (since 2026-07-28).
pub const METHOD: &str = "mcp-method";
/// `Mcp-Name`: the tool, prompt, resource or task that the body names (since 2026-07-28).
pub const NAME: &str = "mcp-name";
/// The prefix of a header that repeats an argument of a tool (since 2026-07-28). The case of a header's name does not
/// matter.
pub const PARAM_PREFIX: &str = "Mcp-Param-";

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";

/// Writes a text as a header's value: as it is if a header can carry it, else in the base64 form. A text that looks like
/// the base64 form also gets that form, and so does one with spaces at an end, which HTTP would strip.
pub fn encode_value(text: &str) -> Cow<'_, str> {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    let trimmed = text.trim_matches([' ', '\t']).len() == text.len();
    if plain && trimmed && base64_content(text).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{OPEN}{}{CLOSE}", STANDARD.encode(text)))
}

/// Reads a header's value that [`encode_value`] may have written. None if it is not text: bytes outside ASCII, or a
/// base64 form with a wrong alphabet, wrong padding or no UTF-8 inside.
pub fn decode_value(value: &[u8]) -> Option<Cow<'_, str>> {
    let text = std::str::from_utf8(value).ok().filter(|text| text.is_ascii())?.trim_matches([' ', '\t']);
    match base64_content(text) {
        None => Some(Cow::Borrowed(text)),
        Some(coded) => String::from_utf8(STANDARD.decode(coded).ok()?).ok().map(Cow::Owned),
    }
}

/// The text between the marks of the base64 form.
fn base64_content(text: &str) -> Option<&str> {
    text.strip_prefix(OPEN)?.strip_suffix(CLOSE)
}

/// Whether a text can follow [`PARAM_PREFIX`]: a token of HTTP, so at least one letter, digit or one of
/// ``!#$%&'*+-.^_`|~``.
pub fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether a text can be a session id: visible ASCII only, and not empty.
pub fn is_session_id(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_travels_as_it_is() {
        for text in ["echo", "file:///a b", "SGVsbG8=", "=?base64?SGVsbG8=", "", "a\tb"] {
            assert_eq!(encode_value(text), text);
            assert_eq!(decode_value(text.as_bytes()).as_deref(), Some(text));
        }
    }

    #[test]
    fn other_text_comes_back_through_base64() {
        for text in ["日本", " padded ", "line\nbreak", "=?base64?abc?=", "=?base64??=", "\u{7f}"] {
            let value = encode_value(text);
            assert!(value.starts_with(OPEN) && value.bytes().all(|byte| byte.is_ascii_graphic()), "{value}");
            assert_eq!(decode_value(value.as_bytes()).as_deref(), Some(text));
        }
    }

    #[test]
    fn value_that_is_not_text_is_refused() {
        for value in [&b"=?base64?SGVsbG8?="[..], b"=?base64?SGVs!!!bG8=?=", b"=?base64?/w==?=", b"\xe6\x97"]
        {
            assert_eq!(decode_value(value), None, "{}", value.escape_ascii());
        }
        assert_eq!(decode_value(b" \techo ").as_deref(), Some("echo"));
    }

    #[test]
    fn tokens_and_session_ids() {
        assert!(
            is_token("Region-1") && !is_token("") && !is_token("a b") && !is_token("a:b") && !is_token("é")
        );
        assert!(
            is_session_id(b"!~") && !is_session_id(b"") && !is_session_id(b"a b") && !is_session_id(b"\x7f")
        );
    }
}
