//! What tools, resources and prompts give, in each revision's terms.

use serde_json::json;

use crate::raw::{NEWEST, code_of, with_session};
use crate::subject::subject;

#[tokio::test(start_paused = true)]
async fn a_structured_result_has_text_beside_it_and_a_schema() {
    with_session(&subject(), NEWEST, async |raw| {
        let result = raw.call("add", json!({ "a": 2, "b": 3 })).await;
        assert_eq!(
            result,
            json!({ "content": [{ "type": "text", "text": "{\"sum\":5}" }], "structuredContent": { "sum": 5 } })
        );
        let tools = raw.result_of("tools/list", json!({})).await;
        assert_eq!(
            tools["tools"][0],
            json!({
                "name": "add", "title": "Addition", "description": "Add two numbers",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "a": { "type": "integer", "format": "int64", "description": "The first number." },
                        "b": { "type": "integer", "format": "int64" },
                    },
                    "required": ["a", "b"],
                },
                "outputSchema": {
                    "type": "object",
                    "properties": { "sum": { "type": "integer", "format": "int64" } },
                    "required": ["sum"],
                },
                "annotations": { "readOnlyHint": true },
            })
        );
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn lif_12_an_older_client_hears_only_what_its_revision_has() {
    with_session(&subject(), "2025-03-26", async |raw| {
        let result = raw.call("add", json!({ "a": 2, "b": 3 })).await;
        assert_eq!(result, json!({ "content": [{ "type": "text", "text": "{\"sum\":5}" }] }));
        let tools = raw.result_of("tools/list", json!({})).await;
        assert!(tools["tools"][0].get("outputSchema").is_none());
        assert_eq!(tools["tools"][0]["annotations"]["title"], "Addition");
    })
    .await;
    with_session(&subject(), "2024-11-05", async |raw| {
        let tools = raw.result_of("tools/list", json!({})).await;
        let members: Vec<_> = tools["tools"][0].as_object().unwrap().keys().collect();
        assert_eq!(members, ["description", "inputSchema", "name"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_without_arguments_takes_none_or_an_empty_object() {
    with_session(&subject(), NEWEST, async |raw| {
        let text = "invalid digit found in string";
        for params in [json!({ "name": "fail" }), json!({ "name": "fail", "arguments": {} })] {
            assert_eq!(raw.result_of("tools/call", params).await["content"][0]["text"], text);
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_resource_is_read() {
    with_session(&subject(), NEWEST, async |raw| {
        let read = raw.result_of("resources/read", json!({ "uri": "memo:///motto" })).await;
        let contents =
            json!({ "uri": "memo:///motto", "mimeType": "text/plain", "text": "read memo:///motto" });
        assert_eq!(read, json!({ "contents": [contents] }));
        assert_eq!(raw.refusal_of("resources/read", json!({ "uri": "memo:///gone" })).await, -32603);
        let unknown = raw.ask("resources/read", json!({ "uri": "memo:///none" })).await;
        assert_eq!((code_of(&unknown), &unknown["error"]["data"]["uri"]), (-32002, &json!("memo:///none")));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_filled_in() {
    with_session(&subject(), NEWEST, async |raw| {
        let filled = json!({ "name": "greet", "arguments": { "name": "Ada", "tone": "loudly" } });
        let result = raw.result_of("prompts/get", filled).await;
        let content = json!({ "type": "text", "text": "Say hello to Ada, loudly." });
        assert_eq!(result, json!({ "messages": [{ "role": "user", "content": content }] }));
        let short =
            raw.result_of("prompts/get", json!({ "name": "greet", "arguments": { "name": "Ada" } })).await;
        assert_eq!(short["messages"][0]["content"]["text"], "Say hello to Ada, kindly.");
    })
    .await;
}
