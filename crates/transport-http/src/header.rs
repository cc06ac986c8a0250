//! The headers of Streamable HTTP: their names, and values that are no plain text.
//!
//! A header can carry visible ASCII only, but a tool may be called "日本". Such values travel in a form of their
//! own, `=?base64?…?=` around the standard base64 of the text's UTF-8; see
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderName;

/// `Mcp-Session-Id`: the session that a request belongs to (2025-03-26 to 2025-11-25).
pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// `MCP-Protocol-Version`: the revision that a request speaks (since 2025-06-18).
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// `Last-Event-ID`: the last event of a stream that was read, on a request to go on with that stream.
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// `Mcp-Method`: the method in the body (since 2026-07-28).
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// `Mcp-Name`: the tool, prompt, resource or task that the body names (since 2026-07-28).
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// What the name of a header begins with that repeats an argument of a tool (since 2026-07-28).
pub const PARAM_PREFIX: &str = "mcp-param-";

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";

/// The member of `params` that [`NAME`] repeats, for the methods that have one: `name`, `uri` or `taskId`.
pub fn named_by(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// Writes a text as a header's value: as it is where it can travel so, else in the base64 form. So does a text
/// that looks like the base64 form itself, and one with spaces at an end, which would be lost.
pub fn encode(text: &str) -> Cow<'_, str> {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    let trimmed = text.trim_matches([' ', '\t']).len() == text.len();
    if plain && trimmed && sentinel(text).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{OPEN}{}{CLOSE}", STANDARD.encode(text)))
}

/// Reads a header's value that [`encode`] may have written. None where it is no text: bytes outside ASCII, or a
/// base64 form with a wrong alphabet, wrong padding or no UTF-8 inside.
pub fn decode(value: &[u8]) -> Option<Cow<'_, str>> {
    let text = std::str::from_utf8(value).ok().filter(|text| text.is_ascii())?.trim_matches([' ', '\t']);
    match sentinel(text) {
        None => Some(Cow::Borrowed(text)),
        Some(coded) => String::from_utf8(STANDARD.decode(coded).ok()?).ok().map(Cow::Owned),
    }
}

/// What stands between the marks of the base64 form.
fn sentinel(text: &str) -> Option<&str> {
    text.strip_prefix(OPEN)?.strip_suffix(CLOSE)
}

/// Whether a text may stand behind [`PARAM_PREFIX`]: a token of HTTP, so at least one letter, digit or one of
/// ``!#$%&'*+-.^_`|~``.
pub fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether a text may be a session id: visible ASCII only, and not empty.
pub fn is_session_id(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_travels_as_it_is() {
        for text in ["echo", "file:///a b", "SGVsbG8=", "=?base64?SGVsbG8=", "", "a\tb"] {
            assert_eq!(encode(text), text);
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(text));
        }
    }

    #[test]
    fn other_text_comes_back_through_base64() {
        for text in ["日本", " padded ", "line\nbreak", "=?base64?abc?=", "=?base64??=", "\u{7f}"] {
            let value = encode(text);
            assert!(value.starts_with(OPEN) && value.bytes().all(|byte| byte.is_ascii_graphic()), "{value}");
            assert_eq!(decode(value.as_bytes()).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for value in [&b"=?base64?SGVsbG8?="[..], b"=?base64?SGVs!!!bG8=?=", b"=?base64?/w==?=", b"\xe6\x97"]
        {
            assert_eq!(decode(value), None, "{}", value.escape_ascii());
        }
        assert_eq!(decode(b" \techo ").as_deref(), Some("echo"));
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
