//! Parses and writes W3C Baggage, which is a member of `_meta`.

use std::fmt::Write;

use opentelemetry::baggage::{Baggage, BaggageMetadata};

pub(crate) const BAGGAGE: &str = "baggage";

/// The maximum length of a baggage that is read, in bytes: W3C requires that a baggage up to this length is propagated.
const LIMIT: usize = 8192;

/// Parses a baggage by <https://www.w3.org/TR/baggage/>. `None` if it is too long or has no valid member. `Baggage` keeps at most 64
/// members.
pub(crate) fn parse(text: &str) -> Option<Baggage> {
    if text.len() > LIMIT {
        return None;
    }
    let mut baggage = Baggage::new();
    for member in text.split(',') {
        let mut parts = member.splitn(2, ';');
        let Some((key, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { continue };
        let metadata = BaggageMetadata::from(parts.next().unwrap_or_default().trim());
        if let Some(value) = decoded(value.trim()) {
            baggage.insert_with_metadata(key.trim().to_owned(), value, metadata);
        }
    }
    (!baggage.is_empty()).then_some(baggage)
}

/// The text of a baggage. `None` if it is empty.
pub(crate) fn format(baggage: &Baggage) -> Option<String> {
    let mut text = String::new();
    for (key, (value, metadata)) in baggage.iter() {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(key.as_str());
        text.push('=');
        encode(value.as_str(), &mut text);
        let metadata = metadata.as_str();
        // A comma would start another member.
        if !metadata.is_empty() && metadata.bytes().all(|byte| byte != b',' && (b' '..=b'~').contains(&byte))
        {
            text.push(';');
            text.push_str(metadata);
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Decodes percent-encoding. `None` if the bytes are not UTF-8.
fn decoded(value: &str) -> Option<String> {
    let bytes = value.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = value.get(at + 1..at + 3).filter(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match hex.filter(|_| byte == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).ok()
}

/// Percent-encodes the percent sign and each byte that is not a `baggage-octet`.
fn encode(value: &str, text: &mut String) {
    for byte in value.bytes() {
        match byte {
            b'%' | b'"' | b',' | b';' | b'\\' | ..=b' ' | 0x7f.. => {
                let _ = write!(text, "%{byte:02X}");
            }
            _ => text.push(char::from(byte)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baggage_survives_a_round_trip() {
        for text in ["user=a%20b%2C%25%C3%A9", "user=a;secret;level=1"] {
            assert_eq!(format(&parse(text).unwrap()).as_deref(), Some(text));
        }
        let two = parse(" a = 1 , b=2; x ").unwrap();
        assert_eq!(two.get("a").unwrap().as_str(), "1");
        assert_eq!(two.get_with_metadata("b").unwrap().1.as_str(), "x");
    }

    #[test]
    fn malformed_baggage_is_dropped() {
        assert!(parse("").is_none());
        assert!(parse("a").is_none());
        assert!(parse("a=%FF").is_none());
        assert!(parse(&format!("a={}", "1".repeat(LIMIT))).is_none());
        assert_eq!(parse("a=%").unwrap().get("a").unwrap().as_str(), "%");
        assert_eq!(parse("a=%+1").unwrap().get("a").unwrap().as_str(), "%+1");
    }

    #[test]
    fn empty_baggage_has_no_text() {
        assert_eq!(format(&Baggage::new()), None);
    }
}
