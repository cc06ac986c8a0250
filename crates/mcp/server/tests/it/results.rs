//! The results of tools, resources and prompts, in each revision's terms.

use serde_json::json;

use agentwire_mcp_server::{BoxError, Server, ServerTool, Structured, schema};

use crate::raw::{NEWEST, alone, code_of, with_raw, with_session};
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

/// A type may be written in another form than it is read in.
#[tokio::test(start_paused = true)]
async fn the_schema_of_a_result_is_that_of_what_is_written() {
    #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    struct Note {
        #[serde(skip_deserializing)]
        id: u64,
        #[serde(rename(serialize = "written", deserialize = "read"))]
        text: String,
    }
    let keep = async |note: Note| Structured(Note { id: 1, ..note });
    let keep = ServerTool::new("keep", "Keep a note", keep).destructive();
    let server = Server::new("notes", "1").title("Notes").with_tool(keep);
    with_session(&server, NEWEST, async |raw| {
        let tools = raw.result_of("tools/list", json!({})).await;
        let names = |schema: &str| -> Vec<String> {
            tools["tools"][0][schema]["properties"].as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(
            (names("inputSchema"), names("outputSchema")),
            (vec!["read".into()], vec!["id".into(), "written".into()])
        );
        assert_eq!(tools["tools"][0]["annotations"], json!({ "destructiveHint": true }));
        let result = raw.call("keep", json!({ "read": "milk" })).await;
        assert_eq!(result["structuredContent"], json!({ "id": 1, "written": "milk" }));
    })
    .await;
    with_raw(&server, async |raw| {
        let found = raw.result_of("server/discover", alone(json!({}))).await;
        let name = &found["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(name["title"], "Notes");
    })
    .await;
}

/// The resource of a template may be missing, which each revision reports with a code of its own.
#[tokio::test(start_paused = true)]
async fn a_function_that_finds_nothing_answers_as_for_a_uri_that_is_not_known() {
    #[derive(serde::Deserialize)]
    struct Id {
        id: u8,
    }
    let option = async |Id { id }: Id| (id == 1).then(|| "one".to_owned());
    let fails = async |Id { .. }: Id| -> Result<String, BoxError> {
        Err(schema::code::resource_not_found("memo:///elsewhere"))?
    };
    let server = Server::new("notes", "1")
        .resource_template("memo:///{id}", "memo", option)
        .resource_template("memo:///f/{id}", "failing", fails);
    let read = |uri: &str| json!({ "uri": uri });
    with_session(&server, NEWEST, async |raw| {
        assert_eq!(raw.result_of("resources/read", read("memo:///1")).await["contents"][0]["text"], "one");
        let missing = raw.ask("resources/read", read("memo:///2")).await;
        assert_eq!((code_of(&missing), &missing["error"]["data"]["uri"]), (-32002, &json!("memo:///2")));
        assert_eq!(raw.refusal_of("resources/read", read("memo:///f/2")).await, -32002);
    })
    .await;
    with_raw(&server, async |raw| {
        for uri in ["memo:///2", "memo:///f/2", "memo:///none/none"] {
            assert_eq!(raw.refusal_of("resources/read", alone(read(uri))).await, -32602, "{uri}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn lif_12_older_client_gets_only_members_of_its_revision() {
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
