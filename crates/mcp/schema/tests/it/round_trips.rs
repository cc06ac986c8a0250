//! Examples of every type: each must come back as it was, and downgrading to the revision that it is an
//! example of must change nothing.

use agentwire_mcp_schema::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{A, B, C, D, read, write};

fn check<T: DeserializeOwned + Serialize + Downgrade>(revision: Revision, json: Value) {
    let mut value: T = read(&json);
    assert_eq!(write(&value), json, "{revision}");
    value.downgrade(revision);
    assert_eq!(write(&value), json, "downgraded to {revision}");
}

#[test]
fn initialization() {
    check::<InitializeRequest>(
        A,
        json!({
            "protocolVersion": "2024-11-05",
            "capabilities": { "roots": { "listChanged": true }, "sampling": {}, "experimental": { "x": {} } },
            "clientInfo": { "name": "editor", "version": "1" },
        }),
    );
    check::<InitializeRequest>(
        D,
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {
                "roots": {},
                "sampling": { "context": {}, "tools": {} },
                "elicitation": { "form": {}, "url": {} },
                "tasks": { "list": {}, "requests": { "sampling": { "createMessage": {} } } },
            },
            "clientInfo": {
                "name": "editor", "title": "Editor", "version": "1", "description": "It edits",
                "websiteUrl": "https://example.com",
                "icons": [{ "src": "data:,", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark" }],
            },
            "_meta": { "progressToken": 1, "example.com/x": [null] },
        }),
    );
    check::<InitializeResult>(
        A,
        json!({
            "protocolVersion": "2024-11-05",
            "capabilities": {
                "logging": {}, "prompts": { "listChanged": true }, "tools": {},
                "resources": { "subscribe": true, "listChanged": true },
            },
            "serverInfo": { "name": "calculator", "version": "1" },
            "instructions": "Add.",
        }),
    );
    check::<InitializeResult>(
        B,
        json!({
            "protocolVersion": "2025-03-26",
            "capabilities": { "completions": {} },
            "serverInfo": { "name": "calculator", "version": "1" },
        }),
    );
    check::<InitializedNotification>(A, json!({}));
    check::<PingRequest>(A, json!({ "_meta": { "progressToken": "p" } }));
    check::<EmptyResult>(A, json!({ "_meta": { "a": 1 } }));
}

#[test]
fn tools() {
    let schema =
        json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "$defs": {}, "x": 1 });
    check::<ListToolsRequest>(A, json!({ "cursor": "" }));
    check::<ListToolsResult>(
        A,
        json!({ "tools": [{ "name": "add", "description": "Add", "inputSchema": schema }], "nextCursor": "2" }),
    );
    check::<Tool>(
        B,
        json!({
            "name": "add", "inputSchema": schema,
            "annotations": {
                "title": "Add", "readOnlyHint": true, "destructiveHint": false,
                "idempotentHint": true, "openWorldHint": false,
            },
        }),
    );
    check::<Tool>(
        C,
        json!({
            "name": "add", "title": "Add", "inputSchema": schema, "outputSchema": schema, "_meta": { "a": 1 },
        }),
    );
    check::<Tool>(
        D,
        json!({
            "name": "add", "title": "Add", "inputSchema": schema, "icons": [{ "src": "https://example.com/a" }],
            "execution": { "taskSupport": "optional" },
        }),
    );
    check::<CallToolRequest>(A, json!({ "name": "add", "arguments": { "b": 1, "a": [2.50, { "c": "é" }] } }));
    check::<CallToolRequest>(A, json!({ "name": "add", "_meta": { "progressToken": 7 } }));
    check::<CallToolResult>(A, json!({ "content": [{ "type": "text", "text": "5" }], "isError": true }));
    check::<CallToolResult>(C, json!({ "content": [], "structuredContent": { "sum": 5 }, "_meta": {} }));
    check::<ToolListChangedNotification>(A, json!({}));
}

#[test]
fn resources() {
    check::<ListResourcesResult>(
        A,
        json!({ "resources": [{
            "uri": "file:///a", "name": "a", "description": "A", "mimeType": "text/plain", "size": 3,
            "annotations": { "audience": ["user", "assistant"], "priority": 0.5 },
        }] }),
    );
    check::<Resource>(
        D,
        json!({
            "uri": "file:///a", "name": "a", "title": "A", "icons": [{ "src": "data:," }], "_meta": { "k": 1 },
            "annotations": { "priority": 1, "lastModified": "2025-01-12T15:00:58Z" },
        }),
    );
    check::<ListResourceTemplatesResult>(
        A,
        json!({ "resourceTemplates": [{ "uriTemplate": "file:///{path}", "name": "files" }], "nextCursor": "n" }),
    );
    check::<ReadResourceRequest>(A, json!({ "uri": "file:///a" }));
    check::<ReadResourceResult>(
        A,
        json!({ "contents": [
            { "uri": "file:///a", "mimeType": "text/plain", "text": "" },
            { "uri": "file:///b", "blob": "AAEC" },
        ] }),
    );
    check::<SubscribeRequest>(A, json!({ "uri": "file:///a" }));
    check::<UnsubscribeRequest>(A, json!({ "uri": "file:///a" }));
    check::<ResourceUpdatedNotification>(A, json!({ "uri": "file:///a" }));
    check::<ResourceListChangedNotification>(A, json!({}));
}

#[test]
fn prompts_and_completion() {
    check::<ListPromptsResult>(
        A,
        json!({ "prompts": [{
            "name": "review", "description": "Review", "arguments": [{ "name": "file", "required": true }],
        }] }),
    );
    check::<Prompt>(
        D,
        json!({
            "name": "review", "title": "Review", "arguments": [{ "name": "file", "title": "File" }],
            "icons": [{ "src": "data:," }], "_meta": { "k": 1 },
        }),
    );
    check::<GetPromptRequest>(A, json!({ "name": "review", "arguments": { "file": "a.rs" } }));
    check::<GetPromptResult>(
        A,
        json!({
            "description": "Review",
            "messages": [
                { "role": "user", "content": { "type": "text", "text": "Hello" } },
                { "role": "assistant", "content": { "type": "image", "data": "AA==", "mimeType": "image/png" } },
            ],
        }),
    );
    check::<PromptListChangedNotification>(A, json!({}));
    check::<CompleteRequest>(
        A,
        json!({ "ref": { "type": "ref/resource", "uri": "x://{y}" }, "argument": { "name": "y", "value": "" } }),
    );
    check::<CompleteRequest>(
        C,
        json!({
            "ref": { "type": "ref/prompt", "name": "review", "title": "Review" },
            "argument": { "name": "file", "value": "a" },
            "context": { "arguments": { "folder": "src" } },
        }),
    );
    check::<CompleteResult>(A, json!({ "completion": { "values": ["a"], "total": 2, "hasMore": true } }));
}

#[test]
fn utilities() {
    check::<ProgressNotification>(A, json!({ "progressToken": "t", "progress": 0.5, "total": 1 }));
    check::<ProgressNotification>(B, json!({ "progressToken": 7, "progress": 50, "message": "half" }));
    check::<CancelledNotification>(A, json!({ "requestId": "1", "reason": "late" }));
    check::<CancelledNotification>(D, json!({ "reason": "late" }));
    check::<SetLevelRequest>(A, json!({ "level": "warning" }));
    for data in [json!(null), json!("text"), json!({ "a": [1] })] {
        check::<LoggingMessageNotification>(A, json!({ "level": "info", "logger": "db", "data": data }));
    }
}

#[test]
fn questions_of_a_server() {
    check::<ListRootsRequest>(A, json!({}));
    check::<ListRootsResult>(A, json!({ "roots": [{ "uri": "file:///repo", "name": "repo" }] }));
    check::<ListRootsResult>(C, json!({ "roots": [{ "uri": "file:///repo", "_meta": { "k": 1 } }] }));
    check::<RootsListChangedNotification>(A, json!({}));
    check::<CreateMessageRequest>(
        A,
        json!({
            "messages": [{ "role": "user", "content": { "type": "text", "text": "Hi" } }],
            "maxTokens": 100, "systemPrompt": "Be brief", "includeContext": "thisServer", "temperature": 0.1,
            "stopSequences": ["\n"], "metadata": { "k": 1 },
            "modelPreferences": {
                "hints": [{ "name": "small" }, {}],
                "costPriority": 0.25, "speedPriority": 1, "intelligencePriority": 0,
            },
        }),
    );
    check::<CreateMessageRequest>(
        D,
        json!({
            "messages": [
                { "role": "assistant", "content": [
                    { "type": "tool_use", "id": "1", "name": "add", "input": { "a": 1 } },
                    { "type": "tool_use", "id": "2", "name": "add", "input": {} },
                ] },
                { "role": "user", "_meta": { "k": 1 }, "content": [
                    { "type": "tool_result", "toolUseId": "1", "content": [{ "type": "text", "text": "1" }],
                      "structuredContent": { "sum": 1 } },
                    { "type": "tool_result", "toolUseId": "2", "content": [], "isError": true },
                ] },
            ],
            "maxTokens": 100,
            "tools": [{ "name": "add", "inputSchema": { "type": "object" } }],
            "toolChoice": { "mode": "required" },
        }),
    );
    check::<CreateMessageResult>(
        B,
        json!({
            "role": "assistant", "model": "small-1", "stopReason": "endTurn",
            "content": { "type": "audio", "data": "AA==", "mimeType": "audio/wav" },
        }),
    );
    check::<CreateMessageResult>(
        D,
        json!({
            "role": "assistant", "model": "small-1", "stopReason": "toolUse",
            "content": { "type": "tool_use", "id": "1", "name": "add", "input": {} },
        }),
    );
}

#[test]
fn elicitation() {
    check::<ElicitRequest>(
        C,
        json!({
            "message": "Who?",
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "name": { "type": "string", "title": "Name", "minLength": 1, "maxLength": 9, "format": "email" },
                    "age": { "type": "integer", "minimum": 0, "maximum": 150 },
                    "weight": { "type": "number", "minimum": 0.5 },
                    "agree": { "type": "boolean", "default": false },
                    "size": { "type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"] },
                },
                "required": ["name"],
            },
        }),
    );
    check::<ElicitRequest>(
        D,
        json!({
            "message": "Which?",
            "requestedSchema": {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {
                    "plain": { "type": "string", "enum": ["s", "l"], "default": "s" },
                    "titled": { "type": "string", "oneOf": [{ "const": "s", "title": "Small" }] },
                    "some": { "type": "array", "items": { "type": "string", "enum": ["a"] }, "minItems": 1 },
                    "titledSome": {
                        "type": "array", "items": { "anyOf": [{ "const": "a", "title": "A" }] },
                        "maxItems": 2, "default": ["a"],
                    },
                    "text": { "type": "string", "default": "x" },
                    "number": { "type": "number", "default": 1 },
                    "later": { "type": "colour", "palette": [1] },
                },
            },
        }),
    );
    check::<ElicitRequest>(
        D,
        json!({ "mode": "url", "message": "Sign in", "url": "https://example.com", "elicitationId": "e1" }),
    );
    check::<ElicitResult>(
        C,
        json!({ "action": "accept", "content": { "name": "a", "age": 1, "agree": true } }),
    );
    check::<ElicitResult>(C, json!({ "action": "decline" }));
    check::<ElicitationCompleteNotification>(D, json!({ "elicitationId": "e1" }));
}

#[test]
fn a_form_keeps_the_order_of_its_fields() {
    let text = r#"{"message":"m","requestedSchema":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"boolean"}}}}"#;
    let request: ElicitRequest = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&request).unwrap(), text);
}

/// The word `mode` is optional if it is `form`.
#[test]
fn form_may_have_its_mode() {
    let said = json!({
        "mode": "form", "message": "m", "requestedSchema": { "type": "object", "properties": {} },
    });
    assert!(matches!(read(&said), ElicitRequest::Form(_)));
}
