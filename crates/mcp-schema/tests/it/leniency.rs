use agentwire_mcp_schema::*;
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
fn what_a_message_cannot_do_without_is_demanded() {
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
fn a_list_is_no_object() {
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

/// What the crate says of its limits.
#[test]
fn what_is_kept_is_kept_as_text() {
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
