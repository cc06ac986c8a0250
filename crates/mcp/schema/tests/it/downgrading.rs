//! Values downgraded to each older revision, and parts that have no older form.

use agentwire_mcp_schema::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{A, B, C, D, E, read, write};

/// A full value, and what of it each revision gets, oldest first.
fn check<T: DeserializeOwned + Serialize + Downgrade>(full: Value, expected: [Value; 3]) {
    for (revision, expected) in [A, B, C, D].into_iter().zip(expected.into_iter().chain([full.clone()])) {
        let mut value: T = read(&full);
        value.downgrade(revision);
        assert_eq!(write(&value), expected, "{revision}");
    }
}

#[test]
fn a_tool() {
    let schema = json!({ "type": "object" });
    check::<ListToolsResult>(
        json!({ "tools": [{
            "name": "add", "title": "Add", "description": "d", "inputSchema": schema, "outputSchema": schema,
            "annotations": { "readOnlyHint": true }, "execution": { "taskSupport": "optional" },
            "icons": [{ "src": "data:," }], "_meta": { "k": 1 },
        }] }),
        [
            json!({ "tools": [{ "name": "add", "description": "d", "inputSchema": schema }] }),
            json!({ "tools": [{
                "name": "add", "description": "d", "inputSchema": schema,
                "annotations": { "readOnlyHint": true, "title": "Add" },
            }] }),
            json!({ "tools": [{
                "name": "add", "title": "Add", "description": "d", "inputSchema": schema, "outputSchema": schema,
                "annotations": { "readOnlyHint": true }, "_meta": { "k": 1 },
            }] }),
        ],
    );
}

#[test]
fn the_result_of_a_tool() {
    let link = json!({
        "type": "resource_link", "uri": "file:///a", "name": "a", "icons": [{ "src": "data:," }],
        "annotations": { "priority": 1, "lastModified": "2025" },
    });
    let link_without_icons = json!({
        "type": "resource_link", "uri": "file:///a", "name": "a",
        "annotations": { "priority": 1, "lastModified": "2025" },
    });
    let link_as_text = json!({ "type": "text", "text": "a: file:///a", "annotations": { "priority": 1 } });
    let audio = json!({ "type": "audio", "data": "AA==", "mimeType": "audio/wav" });
    let audio_as_text =
        json!({ "type": "text", "text": "[a sound of type audio/wav, which this peer cannot take]" });
    let text = json!({ "type": "text", "text": "t", "_meta": { "k": 1 } });
    let text_without_meta = json!({ "type": "text", "text": "t" });
    let resource =
        json!({ "type": "resource", "resource": { "uri": "x:", "text": "t", "_meta": { "k": 1 } } });
    let resource_without_meta = json!({ "type": "resource", "resource": { "uri": "x:", "text": "t" } });
    let unknown = json!({ "type": "hologram", "x": 1 });
    check::<CallToolResult>(
        json!({
            "content": [text, audio, link, resource, unknown], "structuredContent": { "a": 1 }, "isError": true,
            "_meta": { "k": 1 },
        }),
        [
            json!({
                "content": [text_without_meta, audio_as_text, link_as_text, resource_without_meta, unknown],
                "isError": true, "_meta": { "k": 1 },
            }),
            json!({
                "content": [text_without_meta, audio, link_as_text, resource_without_meta, unknown],
                "isError": true, "_meta": { "k": 1 },
            }),
            json!({
                "content": [text, audio, link_without_icons, resource, unknown],
                "structuredContent": { "a": 1 }, "isError": true, "_meta": { "k": 1 },
            }),
        ],
    );
}

#[test]
fn a_result_that_is_only_structured_becomes_text() {
    let as_text = json!({ "content": [{ "type": "text", "text": "{\"a\":1}" }] });
    let full = json!({ "content": [], "structuredContent": { "a": 1 } });
    check::<CallToolResult>(full.clone(), [as_text.clone(), as_text, full]);
}

#[test]
fn names_and_versions_are_downgraded() {
    let plain = json!({ "name": "n", "version": "1" });
    check::<Implementation>(
        json!({
            "name": "n", "title": "N", "version": "1", "description": "d", "websiteUrl": "https://example.com",
            "icons": [{ "src": "data:," }],
        }),
        [plain.clone(), plain, json!({ "name": "n", "title": "N", "version": "1" })],
    );
}

#[test]
fn capabilities() {
    let without = json!({ "tools": { "listChanged": true }, "logging": {} });
    let full = json!({ "tools": { "listChanged": true }, "logging": {}, "completions": {} });
    check::<ServerCapabilities>(full.clone(), [without, full.clone(), full]);

    let early = json!({ "roots": {}, "sampling": {} });
    check::<ClientCapabilities>(
        json!({ "roots": {}, "sampling": { "tools": {} }, "elicitation": { "form": {}, "url": {} } }),
        [early.clone(), early, json!({ "roots": {}, "sampling": {}, "elicitation": {} })],
    );
    check::<ClientCapabilities>(json!({ "elicitation": { "url": {} } }), [json!({}), json!({}), json!({})]);
}

#[test]
fn progress() {
    let full = json!({ "progressToken": 1, "progress": 2, "message": "m" });
    check::<ProgressNotification>(
        full.clone(),
        [json!({ "progressToken": 1, "progress": 2 }), full.clone(), full],
    );
}

#[test]
fn prompts_and_resources() {
    let plain = json!({ "name": "p", "arguments": [{ "name": "a", "required": true }] });
    check::<Prompt>(
        json!({
            "name": "p", "title": "P", "arguments": [{ "name": "a", "title": "A", "required": true }],
            "icons": [{ "src": "data:," }], "_meta": { "k": 1 },
        }),
        [
            plain.clone(),
            plain,
            json!({
                "name": "p", "title": "P", "arguments": [{ "name": "a", "title": "A", "required": true }],
                "_meta": { "k": 1 },
            }),
        ],
    );
    let plain = json!({ "uri": "x:", "name": "r", "annotations": { "priority": 0 } });
    check::<Resource>(
        json!({
            "uri": "x:", "name": "r", "title": "R", "icons": [{ "src": "data:," }], "_meta": { "k": 1 },
            "annotations": { "priority": 0, "lastModified": "2025" },
        }),
        [
            plain.clone(),
            plain,
            json!({
                "uri": "x:", "name": "r", "title": "R", "_meta": { "k": 1 },
                "annotations": { "priority": 0, "lastModified": "2025" },
            }),
        ],
    );
}

#[test]
fn a_form_spells_titles_as_the_peer_reads_them() {
    let form = |size: Value| json!({ "message": "m", "requestedSchema": { "type": "object", "properties": { "size": size } } });
    let old = form(json!({ "type": "string", "enum": ["s"], "enumNames": ["Small"] }));
    let new = form(json!({ "type": "string", "oneOf": [{ "const": "s", "title": "Small" }] }));
    check::<ElicitRequest>(new, [old.clone(), old.clone(), old]);
}

#[test]
fn several_blocks_become_what_an_older_peer_reads() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let several = json!({ "role": "user", "content": [text("a"), text("b")] });
    let one = |block: Value| json!({ "role": "user", "content": block });
    let asked: CreateMessageRequest =
        serde_json::from_value(json!({ "messages": [several, one(text("c"))], "maxTokens": 1 })).unwrap();
    let mut older = asked.clone();
    older.downgrade(Revision::V2025_06_18);
    let each: Vec<Value> = ["a", "b", "c"].into_iter().map(|block| one(text(block))).collect();
    assert_eq!(serde_json::to_value(&older).unwrap(), json!({ "messages": each, "maxTokens": 1 }));
    let mut newer = asked.clone();
    newer.downgrade(Revision::V2025_11_25);
    assert_eq!(newer, asked);

    let answer = |content: Value| json!({ "role": "assistant", "content": content, "model": "m" });
    let downgraded = |content: Value| {
        let mut answer: CreateMessageResult = serde_json::from_value(answer(content)).unwrap();
        answer.downgrade(Revision::V2025_06_18);
        serde_json::to_value(answer).unwrap()
    };
    assert_eq!(downgraded(json!([text("a"), text("b")])), answer(text("ab")));
    let image = json!({ "type": "image", "data": "", "mimeType": "image/png" });
    assert_eq!(downgraded(json!([image, text("b")])), answer(image));
}

/// The newest revision of those with sessions that a value does not fit into when downgraded to it, and why.
fn last_misfit<T: Clone + Downgrade>(value: &T) -> Option<(Revision, String)> {
    let unsupported = |revision: Revision| {
        let mut value = value.clone();
        value.downgrade(revision);
        value.fits(revision).err().map(|unsupported| (revision, unsupported.to_string()))
    };
    [D, C, B, A].into_iter().find_map(unsupported)
}

#[test]
fn parts_without_an_older_form_do_not_fit() {
    #[track_caller]
    fn check<T: Clone + Downgrade>(value: &T, revision: Revision, what: &str) {
        let (last, why) = last_misfit(value).expect("it has no older form");
        assert!(last == revision && why.contains(what), "{why}");
    }

    let page = ElicitUrlRequest::new("m", "https://example.com").elicitation_id("1");
    check(&ElicitRequest::Url(page), C, "`ElicitUrlRequest`");
    let several = ElicitSchema::new().required("sizes", MultiSelectSchema::new(["s", "m"]));
    check(&ElicitRequest::form("m", several), C, "`MultiSelectSchema`");
    let chosen = json!({ "sizes": ["s"] }).as_object().cloned().unwrap();
    check(&ElicitResult::accept(chosen), C, "several choices");

    let used = ToolUseContent::new("1", "add", JsonObject::new());
    check(&CreateMessageResult::new("model", used.clone()), C, "`ToolUseContent`");
    let result = ToolResultContent::new("1", Vec::new());
    let conversation = vec![SamplingMessage::assistant(used), SamplingMessage::user(result)];
    check(&CreateMessageRequest::new(conversation, 1), C, "`ToolUseContent`");

    check(&InputRequiredResult::retry("s1"), D, "`InputRequiredResult`");
    let links = vec![ContentBlock::resource_link("x:", "x"), ContentBlock::audio("", "audio/wav")];
    assert_eq!(last_misfit(&CallToolResult::new(links)), None);
}

#[test]
fn missing_parts_that_only_the_sender_knows_are_found() {
    let (revision, why) = last_misfit(&ElicitRequest::url("m", "https://example.com")).unwrap();
    assert!(revision == D && why.contains("`elicitation_id` of `ElicitUrlRequest`"), "{why}");
    assert_eq!(ElicitRequest::url("m", "https://example.com").fits(E), Ok(()));

    let nobody: CancelledNotification = read(&json!({}));
    assert_eq!(nobody.fits(D), Ok(()));
    assert!(nobody.fits(C).unwrap_err().to_string().contains("`request_id`"));
    let nothing: SubscriptionsListenResult = read(&json!({}));
    assert!(nothing.fits(E).unwrap_err().to_string().contains("`meta`"));
}

#[test]
fn a_request_asks_for_what_is_in_it() {
    fn check(request: &impl Downgrade, capabilities: Value, expected: Option<&str>) {
        let capabilities: ClientCapabilities = read(&capabilities);
        assert_eq!(request.lacks(&|capability| capabilities.has(capability)), expected);
    }

    let form = ElicitRequest::form("m", ElicitSchema::new());
    check(&form, json!({ "elicitation": {} }), None);
    check(&form, json!({ "elicitation": { "url": {} } }), Some("elicitation.form"));
    let page = ElicitRequest::url("m", "https://example.com");
    check(&page, json!({ "elicitation": {} }), Some("elicitation.url"));
    check(&page, json!({ "elicitation": { "form": {} } }), Some("elicitation.url"));
    check(&page, json!({ "elicitation": { "url": {} } }), None);

    let plain = CreateMessageRequest::new(vec![SamplingMessage::user("hi")], 1);
    check(&plain, json!({ "sampling": {} }), None);
    let offers = plain.tools(vec![Tool::new("add", JsonSchema::any_object())]);
    check(&offers, json!({ "sampling": {} }), Some("sampling.tools"));
    check(&offers, json!({ "sampling": { "tools": {} } }), None);
    let used = SamplingMessage::user(ToolResultContent::new("1", Vec::new()));
    check(&CreateMessageRequest::new(vec![used], 1), json!({ "sampling": {} }), Some("sampling.tools"));
}
