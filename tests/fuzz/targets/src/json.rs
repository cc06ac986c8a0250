//! Messages of JSON-RPC, and the members of objects.

use agentwire_jsonrpc::runtime::Members;
use agentwire_jsonrpc::{Frame, RawJson};
use bytes::Bytes;
use bytestring::ByteString;
use serde_json::Value;

pub(crate) const WORDS: &[&[u8]] = &[
    b"\"jsonrpc\":\"2.0\"",
    b"\"id\":",
    b"\"method\":\"m\"",
    b"\"params\":{}",
    b"\"result\":null",
    b"\"error\":{\"code\":-1,\"message\":\"\"}",
    b"\"$serde_json::private::RawValue\"",
    b"\"$serde_json::private::Number\"",
    b"\\ud83d",
    b"\\u0000",
    b"1e999",
    b"18446744073709551616",
    b"[[[[",
    b"\\\"",
    b"null",
    b",",
];

/// A frame is read without a panic, what is written is one line, and that reads back as the same where it was one line
/// before: line ends within it are written as spaces.
pub(crate) fn frame(bytes: &[u8]) {
    let frame = Frame::parse_bytes(Bytes::copy_from_slice(bytes));
    let mut line = Vec::new();
    frame.write(&mut line);
    assert!(!line.contains(&b'\n'), "a frame is written on one line");
    assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&line).is_ok(), "what is written is JSON");
    let was_one_line = !bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
    if matches!(frame, Frame::Single(_)) && was_one_line {
        let text = ByteString::try_from(line).expect("what is written is UTF-8");
        assert_eq!(Frame::parse(text), frame, "what is written reads back as the same");
    }
}

/// The members of an object are those that serde_json finds. Of text that is not JSON nothing is said, but it ends.
pub(crate) fn members(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let within = Members::of(text).within("_meta").count();
    assert!(within <= text.len());
    let Ok(raw) = RawJson::parse(ByteString::from(text)) else {
        Members::of(text).for_each(drop);
        return;
    };
    let read: Result<Value, _> = agentwire_jsonrpc::read(raw.as_str());
    let Ok(Value::Object(object)) = read else { return };
    let mut last = serde_json::Map::new();
    for (name, value) in Members::of(raw.as_str()) {
        let value = agentwire_jsonrpc::read(value).expect("a member of JSON is JSON");
        last.insert(name.into_owned(), value);
    }
    assert_eq!(last, object, "both find the same members");
}
