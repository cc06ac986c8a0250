//! Unknown, malformed and repeated parts of messages.

use agentwire_jsonrpc::{RawJson, Skipped, collect_skipped};
use agentwire_mcp_schema::*;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::{read, write};

#[test]
fn unknown_words_are_kept() {
    let annotations = json!({ "audience": ["user", "auditor"] });
    assert_eq!(write(&read::<Annotations>(&annotations)), annotations);
    let execution = json!({ "taskSupport": "sometimes" });
    assert_eq!(write(&read::<ToolExecution>(&execution)), execution);
    let result = json!({ "action": "postpone" });
    assert_eq!(write(&read::<ElicitResult>(&result)), result);
}

#[test]
fn unknown_capabilities_are_kept_at_both_levels() {
    let server = json!({
        "tools": { "listChanged": true, "filters": {} },
        "teleport": { "range": 5 },
        "experimental": { "x": { "y": 1 } },
    });
    let capabilities: ServerCapabilities = read(&server);
    assert!(capabilities.has("tools.listChanged") && capabilities.has("teleport"));
    assert!(!capabilities.has("prompts") && !capabilities.has("resources.subscribe"));
    assert_eq!(write(&capabilities), server);

    let client = json!({ "elicitation": { "voice": {} }, "teleport": {} });
    assert_eq!(write(&read::<ClientCapabilities>(&client)), client);
}

#[test]
fn elicitation_without_modes_means_forms() {
    let has = |json, path| read::<ClientCapabilities>(&json).has(path);
    assert!(has(json!({ "elicitation": {} }), "elicitation.form"));
    assert!(!has(json!({ "elicitation": {} }), "elicitation.url"));
    assert!(has(json!({ "elicitation": { "form": {}, "url": {} } }), "elicitation.form"));
    assert!(!has(json!({ "elicitation": { "url": {} } }), "elicitation.form"));
    assert!(!has(json!({}), "elicitation"));
}

#[test]
fn unknown_members_are_ignored_and_null_means_absent() {
    let tool: Tool = read(&json!({
        "name": "add", "inputSchema": { "type": "object" }, "x": 1,
        "title": null, "description": null, "annotations": null, "icons": null, "_meta": null,
    }));
    assert_eq!(tool, Tool::new("add", JsonSchema::any_object()));

    let result: CallToolResult =
        read(&json!({ "content": null, "structuredContent": null, "isError": null }));
    assert_eq!(result, CallToolResult::default());
}

#[test]
fn required_members_are_demanded() {
    assert!(serde_json::from_value::<CallToolRequest>(json!({ "arguments": {} })).is_err());
    assert!(serde_json::from_value::<InitializeRequest>(json!({ "protocolVersion": "2025-11-25" })).is_err());
    assert!(serde_json::from_value::<Tool>(json!({ "name": "add", "inputSchema": true })).is_err());
    let unknown_reference =
        json!({ "ref": { "type": "ref/tool", "name": "a" }, "argument": { "name": "a", "value": "" } });
    assert!(serde_json::from_value::<CompleteRequest>(unknown_reference).is_err());
    let unknown_mode = json!({ "mode": "voice", "message": "m" });
    assert!(serde_json::from_value::<ElicitRequest>(unknown_mode).is_err());
}

#[test]
fn the_data_of_errors_is_typed() {
    let required = code::UrlElicitationRequired::new(vec![
        ElicitUrlRequest::new("m", "https://example.com").elicitation_id("e1"),
    ]);
    let error = agentwire_jsonrpc::ErrorObject::from(required);
    assert_eq!(
        write(&error),
        json!({
            "code": -32042, "message": "URL elicitation required",
            "data": { "elicitations": [
                { "mode": "url", "message": "m", "url": "https://example.com", "elicitationId": "e1" },
            ] },
        })
    );
    assert_eq!(
        write(&code::resource_not_found("file:///a")),
        json!({ "code": -32002, "message": "resource not found", "data": { "uri": "file:///a" } })
    );
    let refusal: code::UnsupportedVersion =
        read(&json!({ "supported": ["2024-11-05", "2099-01-01"], "requested": "1.0.0" }));
    assert_eq!(refusal.supported[0].revision(), Some(Revision::V2024_11_05));
    assert_eq!(refusal.supported[1].revision(), None);
}

/// Derived code would take an array for a struct whose members come by position.
#[test]
fn list_is_not_read_as_an_object() {
    fn refused<T: serde::de::DeserializeOwned + std::fmt::Debug>(text: &str) {
        let read: Result<T, _> = serde_json::from_str(text);
        assert!(read.is_err(), "{read:?}");
    }
    refused::<SetLevelRequest>(r#"["info", null]"#);
    refused::<ElicitResult>(r#"["accept", {}, null]"#);
    refused::<Root>(r#"["file:///", "n", null]"#);
    refused::<ListToolsRequest>("[null, null]");
    refused::<ListToolsResult>("[[], null, null]");
    refused::<TextContent>(r#"["t", null, null]"#);
    refused::<CompletionArgument>(r#"["a", "b"]"#);
    refused::<InitializeRequest>(r#"["2025-11-25", {}, ["name", "1"], null]"#);
}

/// The promise of the crate about its limits.
#[test]
fn kept_parts_are_kept_as_text() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    for value in ["1", "1.10", "123456789012345678901234567890", "1e400", r#""\ud800""#, &deep] {
        for member in ["_meta", "arguments"] {
            let text = format!(r#"{{"name":"n","{member}":{{ "k":{value} }}}}"#);
            let call: CallToolRequest = agentwire_jsonrpc::read(&text).unwrap();
            assert_eq!(serde_json::to_string(&call).unwrap(), text);
        }
        let text = format!(r#"{{"type":"foreign","a":{value},"b":[ {value} ]}}"#);
        let block: ContentBlock = agentwire_jsonrpc::read(&text).unwrap();
        assert_eq!(serde_json::to_string(&block).unwrap(), text);
    }

    let page = |ttl: &str| format!(r#"{{"tools":[],"ttlMs":{ttl}}}"#);
    assert!(serde_json::from_str::<ListToolsResult>(&page("1000")).is_ok());
    assert!(serde_json::from_str::<ListToolsResult>(&page("1000.0")).is_err());
}

/// PHP writes an empty map so.
#[test]
fn empty_array_reads_as_empty_object() {
    fn object<T: DeserializeOwned + PartialEq + std::fmt::Debug>(with: &str) {
        let read = |text: &str| {
            agentwire_jsonrpc::read::<T>(&with.replace('@', text))
                .unwrap_or_else(|why| panic!("{with}: {why}"))
        };
        assert_eq!(read("[]"), read("{}"), "{with}");
        assert_eq!(read("[ ]"), read("{}"), "{with}");
        assert!(agentwire_jsonrpc::read::<T>(&with.replace('@', "[[]]")).is_err(), "{with}");
    }
    object::<ClientCapabilities>("@");
    object::<ServerCapabilities>(r#"{"tools":@}"#);
    object::<ServerCapabilities>(r#"{"logging":@,"experimental":{}}"#);
    object::<ServerCapabilities>(r#"{"extensions":@}"#);
    object::<Tool>(r#"{"name":"n","inputSchema":@}"#);
    object::<Tool>(r#"{"name":"n","inputSchema":{},"annotations":@}"#);
    object::<Tool>(r#"{"name":"n","inputSchema":{},"_meta":@}"#);
    object::<CallToolRequest>(r#"{"name":"n","arguments":@}"#);
    object::<GetPromptRequest>(r#"{"name":"n","arguments":@}"#);
    object::<CompletionContext>(r#"{"arguments":@}"#);
    object::<InitializeRequest>(
        r#"{"protocolVersion":"2025-11-25","capabilities":@,"clientInfo":{"name":"n","version":"1"}}"#,
    );
    object::<ElicitFormRequest>(r#"{"message":"m","requestedSchema":{"type":"object","properties":@}}"#);
    object::<InputRequiredResult>(r#"{"resultType":"input_required","inputRequests":@}"#);
    object::<EmptyResult>("@");

    let call: CallToolParams<'_> = serde_json::from_str(r#"{"name":"n","arguments":[]}"#).unwrap();
    assert_eq!(call.arguments_json(), "{}");
}

/// Decodes leniently, and names what is left out.
fn leniently<T: DeserializeOwned>(text: &str) -> (Option<T>, Vec<String>) {
    let text = RawJson::parse(text.into()).expect("it is JSON");
    let (read, Skipped { parts, .. }) = collect_skipped(|| text.decode_leniently::<T>().ok());
    (read, parts.into_iter().map(|part| part.place).collect())
}

#[test]
fn bad_part_of_a_result_does_not_cost_the_rest() {
    let (result, left_out) = leniently::<CallToolResult>(
        r#"{"content":[{"type":"text","text":null},{"type":"text","text":"good","annotations":{"priority":"1"}},7,
            {"type":"resource_link","uri":"a:b","size":12.0,"icons":[{"url":"x"},{"src":"i","sizes":5}]}],
            "isError":false,"_meta":5}"#,
    );
    let link = ResourceLink::new("a:b", "").size(12_u64).icons(vec![Icon::new("i")]);
    let good = TextContent::new("good").annotations(Annotations::default());
    assert_eq!(result, Some(CallToolResult::new(vec![good.into(), ContentBlock::ResourceLink(link)])));
    let expected = [
        "content[0]",
        "content[1].annotations.priority",
        "content[2]",
        "content[3].icons[0]",
        "content[3].icons[1].sizes",
        "content[3].name",
        "_meta",
    ];
    assert_eq!(left_out, expected);

    let (result, left_out) = leniently::<InitializeResult>(
        r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":"yes"}},"serverInfo":{"name":"n"}}"#,
    );
    let result = result.expect("it is read without what is bad");
    assert!(result.capabilities.has("tools") && !result.capabilities.has("tools.listChanged"));
    assert_eq!(left_out, ["capabilities.tools.listChanged", "serverInfo.version"]);

    let (page, left_out) = leniently::<ListToolsResult>(
        r#"{"tools":[{"name":"a","inputSchema":{},"annotations":true},{"title":"b"},{"name":"c","inputSchema":[]}],"nextCursor":5}"#,
    );
    let names: Vec<_> = page.expect("the good tools").tools.into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(left_out, ["tools[0].annotations", "tools[1]", "nextCursor"]);
}

/// The presence of a capability alone offers it.
#[test]
fn capability_of_another_type_is_an_empty_object() {
    let of = |capabilities: &str| {
        let text = format!(
            r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"serverInfo":{{"name":"n","version":"1"}}}}"#
        );
        let (result, left_out) = leniently::<InitializeResult>(&text);
        (result.expect("it is read").capabilities, left_out)
    };
    for value in ["true", "5", r#""x""#, "[1]"] {
        let text = format!(
            r#"{{"tools":{value},"prompts":{value},"completions":{value},"tasks":{{"list":{value}}}}}"#
        );
        let (read, left_out) = of(&text);
        for path in ["tools", "prompts", "completions", "tasks.list"] {
            assert!(read.has(path), "{path}: {value}");
        }
        assert!(!read.has("tools.listChanged"));
        let expected = ["tools", "prompts", "completions", "tasks.list"];
        assert_eq!(left_out, expected.map(|path| format!("capabilities.{path}")), "{value}");
    }
    for value in ["null", "false"] {
        assert!(
            !of(&format!(r#"{{"tools":{value},"logging":{value},"odd":[true]}}"#)).0.has("tools"),
            "{value}"
        );
    }
}

#[test]
fn part_that_a_result_is_useless_without_is_an_error() {
    for text in [r#"{"content":{}}"#, r#"{"content":null}"#] {
        assert!(leniently::<CallToolResult>(text).0.is_some(), "{text}");
    }
    assert_eq!(leniently::<ListToolsResult>(r#"{"tools":7}"#).0, None);
    assert_eq!(leniently::<ElicitResult>(r#"{"action":7}"#).0, None);
    assert_eq!(leniently::<ReadResourceResult>("[1]").0, None);
    // A member that stands twice: readers differ in which of two they believe.
    assert_eq!(leniently::<CallToolResult>(r#"{"isError":7,"isError":true}"#).0, None);
    // Elsewhere the strict reading holds.
    assert!(agentwire_jsonrpc::read::<Annotations>(r#"{"priority":"1"}"#).is_err());
    assert!(agentwire_jsonrpc::read::<ResourceLink>(r#"{"uri":"a:b"}"#).is_err());
}
