//! Content blocks and tool results: tags, structured content and text.

use agentwire_jsonrpc::RawJson;
use agentwire_mcp_schema::{
    Annotations, CallToolResult, ClientCapabilities, CompletionReference, ContentBlock, ResourceContents,
    Role, SamplingContent, SamplingMessage, SubscriptionFilter, TextContent,
};
use serde_json::{Value, json};

use crate::{read, write};

fn blocks() -> Vec<Value> {
    vec![
        json!({ "type": "text", "text": "a \"b\"\u{1F600}", "annotations": { "audience": ["user"] } }),
        json!({ "type": "image", "data": "AA==", "mimeType": "image/png", "_meta": { "k": 1 } }),
        json!({ "type": "audio", "data": "AA==", "mimeType": "audio/wav" }),
        json!({
            "type": "resource_link", "uri": "file:///a", "name": "a", "title": "A", "description": "d",
            "mimeType": "text/plain", "size": 3, "icons": [{ "src": "data:," }],
        }),
        json!({ "type": "resource", "resource": { "uri": "file:///a", "text": "t", "_meta": {} } }),
        json!({ "type": "resource", "resource": { "uri": "file:///a", "mimeType": "x/y", "blob": "AA==" } }),
        json!({ "type": "hologram", "aaa": { "deep": [1, null] }, "zzz": 2 }),
    ]
}

/// serde_json sorts the members of a tree, so a member named `_` comes before `type`.
#[test]
fn a_block_reads_the_same_wherever_its_tag_is() {
    for block in blocks() {
        let members = block.as_object().unwrap().iter().filter(|(name, _)| *name != "type");
        let rest: String = members.map(|(name, value)| format!(",{}:{value}", json!(name))).collect();
        let first = format!("{{\"type\":{}{rest}}}", block["type"]);
        let last = format!("{{\"x\":0{rest},\"type\":{}}}", block["type"]);

        let expected: ContentBlock = serde_json::from_str(&first).unwrap();
        let mut read: ContentBlock = serde_json::from_str(&last).unwrap();
        if let ContentBlock::Unknown(members) = &mut read {
            assert_eq!(members.remove("x"), Some(json!(0).into()), "an unknown block keeps all it came with");
        }
        assert_eq!(write(&read), block);
        assert_eq!(write(&expected), block);
        assert_eq!(write(&serde_json::from_value::<ContentBlock>(block.clone()).unwrap()), block);
        if !matches!(read, ContentBlock::Unknown(_)) {
            assert_eq!(read, expected);
        }
    }
}

#[test]
fn resource_with_text_and_blob_is_text() {
    let both = json!({ "uri": "file:///a", "blob": "AA==", "text": "t" });
    assert_eq!(read::<ResourceContents>(&both), ResourceContents::text("file:///a", "t"));
}

#[test]
fn a_block_that_is_known_is_written_with_its_tag_first() {
    for block in blocks() {
        let read = read::<ContentBlock>(&block);
        let text = serde_json::to_string(&read).unwrap();
        if matches!(read, ContentBlock::Unknown(_)) {
            continue;
        }
        assert!(text.starts_with(&format!("{{\"type\":{}", block["type"])), "{text}");
    }
}

#[test]
fn a_block_without_a_usable_tag_or_body_is_refused() {
    for bad in [
        r#"{}"#,
        r#"{"text":"a"}"#,
        r#"{"type":1,"text":"a"}"#,
        r#"{"text":"a","type":null}"#,
        r#"{"type":"text"}"#,
        r#"{"type":"text","text":5}"#,
        r#"{"type":"resource","resource":{"uri":"file:///a"}}"#,
        r#""text""#,
    ] {
        assert!(serde_json::from_str::<ContentBlock>(bad).is_err(), "{bad}");
    }
}

/// Readers differ in which of two they believe.
#[test]
fn repeated_tag_is_refused() {
    fn refused<T: serde::de::DeserializeOwned + std::fmt::Debug>(text: &str) {
        let read: Result<T, _> = serde_json::from_str(text);
        assert!(read.as_ref().is_err_and(|error| error.to_string().contains("duplicate field")), "{read:?}");
    }
    refused::<ContentBlock>(r#"{"type":"text","text":"t","type":"image"}"#);
    refused::<ContentBlock>(r#"{"text":"t","type":"text","type":"image"}"#);
    refused::<ContentBlock>(r#"{"type":"odd","type":"text","text":"t"}"#);
    refused::<SamplingContent>(r#"{"type":"text","text":"t","type":"text"}"#);
    refused::<CompletionReference>(r#"{"name":"n","type":"ref/prompt","type":"ref/resource"}"#);
}

#[test]
fn array_is_not_read_as_an_object() {
    assert!(serde_json::from_str::<ClientCapabilities>("[{}]").is_err());
    assert!(serde_json::from_str::<ContentBlock>(r#"["text","t"]"#).is_err());
    assert!(serde_json::from_str::<Annotations>("[null]").is_err());
}

#[test]
fn tool_result_has_text_a_value_or_an_error() {
    assert_eq!(CallToolResult::from_text("5").text(), "5");
    assert_eq!(
        write(&CallToolResult::from_error("no")),
        json!({ "content": [{ "type": "text", "text": "no" }], "isError": true })
    );

    let sum = CallToolResult::from_structured(&json!({ "sum": 5 })).unwrap();
    assert_eq!(
        write(&sum),
        json!({ "content": [{ "type": "text", "text": "{\"sum\":5}" }], "structuredContent": { "sum": 5 } })
    );
    assert!(CallToolResult::from_structured(&5).is_err(), "structured content is an object");
}

#[test]
fn text_joins_the_text_blocks() {
    let picture = ContentBlock::image("AA==", "image/png");
    assert_eq!(CallToolResult::new(vec![picture.clone()]).text(), "");
    assert_eq!(CallToolResult::new(vec!["a".into(), picture, "b".into(), "".into()]).text(), "a\nb\n");
}

/// A tool's text is not rewritten on its way: numbers and the order of members stay.
#[test]
fn structured_content_stays_as_it_was_written() {
    let text = r#"{"content":[],"structuredContent":{"z":1.0,"a":10000000000000000000000}}"#;
    let result: CallToolResult = serde_json::from_str(text).unwrap();
    assert_eq!(
        result.structured_content.as_ref().map(RawJson::as_str),
        Some(r#"{"z":1.0,"a":10000000000000000000000}"#)
    );
    assert_eq!(serde_json::to_string(&result).unwrap(), text);
}

#[test]
fn one_sampling_block_is_bare_and_reads_either_way() {
    let bare = json!({ "role": "user", "content": { "type": "text", "text": "a" } });
    let listed = json!({ "role": "user", "content": [{ "type": "text", "text": "a" }] });
    assert_eq!(read::<SamplingMessage>(&bare), read::<SamplingMessage>(&listed));
    assert_eq!(write(&read::<SamplingMessage>(&listed)), bare);
}

#[test]
fn contents_are_recognized_by_text_or_blob() {
    let text = ResourceContents::text("file:///a", "t");
    assert_eq!((text.uri(), text.as_text()), ("file:///a", Some("t")));
    assert_eq!(ResourceContents::blob("file:///a", "AA==").as_text(), None);
    assert_eq!(ContentBlock::from(TextContent::new("t")).as_text(), Some("t"));
}

#[test]
fn structured_content_is_read_as_a_type() {
    let result = CallToolResult::from_structured(&json!({ "sum": 42 })).unwrap();
    let sum: serde_json::Map<String, Value> = result.structured().unwrap();
    assert_eq!(sum["sum"], 42);
    for (result, why) in [
        (CallToolResult::from_text("42"), "no structured content"),
        (CallToolResult::from_error("no \u{1b}[2J"), "the tool failed: no ^[[2J"),
    ] {
        assert!(result.structured::<Value>().unwrap_err().to_string().contains(why));
    }
    assert!(result.structured::<Vec<u8>>().is_err());
}

#[test]
fn structured_content_is_compared_by_value() {
    let read = |text: &str| agentwire_jsonrpc::read::<CallToolResult>(text).unwrap();
    let spaced = read(r#"{"content":[],"structuredContent":{"b": 2.0, "a": 1}}"#);
    assert_eq!(spaced, read(r#"{"content":[],"structuredContent":{"a":1,"b":2}}"#));
}

#[test]
fn list_setters_take_arrays_and_new_takes_nothing() {
    let filter = SubscriptionFilter::new().resource_subscriptions(["file:///a"]);
    assert_eq!(filter.resource_subscriptions, ["file:///a"]);
    let annotations = Annotations::new().audience([Role::User]);
    assert_eq!(annotations.audience, [Role::User]);
}
