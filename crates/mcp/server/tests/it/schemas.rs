//! The schemas of a tool, and their guarantees.

use agentwire_mcp_server::schema::{CallToolResult, Icon, JsonSchema, Tool};
use agentwire_mcp_server::{NoArguments, RawJson, Server, ServerPrompt, ServerResource, ServerTool};
use serde_json::{Value, json};

use crate::raw::{MODERN, NEWEST, alone, code_of, with_raw, with_session};

/// Every keyword of 2020-12 that a type rarely has, an unknown one, and members in no order.
fn verbatim() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://example.com/order", "$anchor": "order", "$dynamicAnchor": "node", "$comment": "by hand",
        "$defs": { "item": { "type": "object", "properties": { "code": { "pattern": "^[A-Z]{3}$" } } } },
        "type": "object",
        "properties": {
            "zone": { "enum": ["north", null, 1.5] },
            "items": {
                "prefixItems": [{ "$ref": "#/$defs/item" }], "contains": true, "minContains": 0,
                "unevaluatedItems": false, "uniqueItems": true,
            },
            "count": { "type": "integer", "exclusiveMinimum": 0, "multipleOf": 2, "default": 2 },
        },
        "patternProperties": { "^x-": {} }, "propertyNames": { "maxLength": 9 }, "minProperties": 1,
        "dependentRequired": { "items": ["count"] }, "dependentSchemas": { "zone": { "required": ["count"] } },
        "if": { "required": ["zone"] }, "then": {}, "else": { "not": { "required": ["nothing"] } },
        "oneOf": [true], "unevaluatedProperties": false, "examples": [{}], "deprecated": false,
        "example.com/unheard-of": [1, { "b": 1, "a": 2 }],
    })
}

fn schema(value: Value) -> JsonSchema {
    JsonSchema::try_from(value).expect("an object")
}

fn echo() -> ServerTool {
    ServerTool::from_definition(
        Tool::new("order", JsonSchema::any_object()),
        |arguments: RawJson| async move { arguments.as_str().to_owned() },
    )
}

#[tokio::test(start_paused = true)]
async fn every_keyword_of_a_schema_reaches_the_client() {
    let tool = echo().input_schema(schema(verbatim())).output_schema(schema(verbatim()));
    let server = Server::new("orders", "1").with_tool(tool);
    let tools = with_session(&server, NEWEST, async |raw| raw.result_of("tools/list", json!({})).await).await;
    assert_eq!(tools["tools"][0]["inputSchema"], verbatim());
    assert_eq!(tools["tools"][0]["outputSchema"], verbatim());
    let tools = with_raw(&server, async |raw| raw.result_of("tools/list", alone(json!({}))).await).await;
    assert_eq!(tools["tools"][0]["inputSchema"], verbatim(), "in {MODERN}");
}

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Entry {
    title: String,
    project: Option<String>,
    due: Option<Date>,
    assignees: Vec<Person>,
}

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Date {
    year: u16,
    month: u8,
    day: u8,
}

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Person {
    name: String,
    first_name: Option<String>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Folder {
    folders: Vec<Folder>,
    filter: Filter,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Filter {
    zone: String,
    area: Option<u8>,
}

#[test]
fn properties_stand_in_the_order_of_the_type() {
    let tool = ServerTool::new("add", "", async |entry: Entry, _| agentwire_mcp_server::Structured(entry));
    let definition = tool.definition();
    let input = definition.input_schema.text().expect("it was written");
    let output = definition.output_schema.as_ref().and_then(JsonSchema::text).expect("it was written");
    let recursive = ServerTool::new("find", "", async |_: Folder, _| "");
    let recursive = recursive.definition().input_schema.text().expect("it was written");
    for (schema, names) in [
        (input, &["title", "project", "due", "assignees"][..]),
        (input, &["year", "month", "day"]),
        (input, &["name", "first_name"]),
        (output, &["year", "month", "day"]),
        (recursive, &["folders", "filter"]),
        (recursive, &["zone", "area"]),
    ] {
        let places: Vec<_> = names.iter().map(|name| schema.find(&format!("\"{name}\":{{"))).collect();
        assert!(places.is_sorted() && places[0].is_some(), "{names:?} in {schema}");
    }

    let prompt = ServerPrompt::new("p", "", async |_: Person, _| "");
    let names: Vec<_> = prompt.definition().arguments.iter().map(|argument| &*argument.name).collect();
    assert_eq!(names, ["name", "first_name"]);
}

#[tokio::test(start_paused = true)]
async fn pictures_are_shown_of_everything_since_2025_11_25() {
    let icons = || vec![Icon::new("https://example.com/icon.png")];
    let server = Server::new("pictures", "1")
        .with_tool(ServerTool::new("t", "", async |_: NoArguments, _| "").icons(icons()))
        .with_resource(ServerResource::new("memo:///r", "r", async || "").icons(icons()))
        .with_prompt(ServerPrompt::new("p", "", async |_: NoArguments, _| "").icons(icons()));
    for (revision, shown) in
        [(NEWEST, json!([{ "src": "https://example.com/icon.png" }])), ("2025-06-18", Value::Null)]
    {
        with_session(&server, revision, async |raw| {
            for (method, items) in
                [("tools/list", "tools"), ("resources/list", "resources"), ("prompts/list", "prompts")]
            {
                assert_eq!(raw.result_of(method, json!({})).await[items][0]["icons"], shown, "{method}");
            }
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_with_an_output_schema_gives_structured_content_or_an_error() {
    let silent =
        ServerTool::new("silent", "", async |fail: Fail, _| CallToolResult::default().is_error(fail.fail))
            .output_schema(JsonSchema::any_object());
    with_session(&Server::new("promises", "1").with_tool(silent), NEWEST, async |raw| {
        let call = |fail: bool| json!({ "name": "silent", "arguments": { "fail": fail } });
        assert_eq!(raw.result_of("tools/call", call(true)).await["isError"], true);
        let broken = raw.ask("tools/call", call(false)).await;
        assert_eq!(code_of(&broken), -32603);
        assert!(broken["error"]["message"].as_str().unwrap().contains("`silent`"), "{broken}");
    })
    .await;
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Fail {
    fail: bool,
}

#[cfg(feature = "validate")]
mod validate {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::raw::Raw;

    fn order() -> Value {
        json!({
            "type": "object",
            "properties": {
                "address": { "type": "object", "properties": { "code": { "pattern": "^[A-Z]{3}$" } } },
                "phone": { "type": "string" },
                "count": { "type": "integer", "minimum": 1 },
            },
            "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }],
        })
    }

    /// A tool that gives what it is given as structured content.
    fn structured(output: Value) -> ServerTool {
        ServerTool::from_definition(Tool::new("give", JsonSchema::any_object()), |arguments: RawJson| async move {
            CallToolResult::from_text("given").structured_content(arguments)
        })
        .output_schema(schema(output))
    }

    async fn call(raw: &mut Raw, arguments: Value) -> Value {
        raw.ask("tools/call", json!({ "name": "order", "arguments": arguments })).await
    }

    #[tokio::test(start_paused = true)]
    async fn value_that_the_schema_forbids_never_reaches_the_function_and_the_path_is_named() {
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = runs.clone();
        let tool = ServerTool::from_definition(Tool::new("order", schema(order())), move || {
            counted.fetch_add(1, Ordering::Relaxed);
            async { "ordered" }
        });
        let server = Server::new("orders", "1").validate(true).with_tool(tool);
        let wrong = json!({ "phone": "1", "count": 0, "address": { "code": "abc" } });
        with_session(&server, NEWEST, async |raw| {
            let result = call(raw, wrong.clone()).await["result"].take();
            assert_eq!(result["isError"], true);
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("`/address/code`: ") && text.contains("`/count`: "), "{text}");
            assert!(!text.contains("abc"), "the values stay out of it: {text}");
            let result = call(raw, json!({})).await["result"].take();
            assert!(result["content"][0]["text"].as_str().unwrap().contains("the whole: "), "{result}");
        })
        .await;
        with_session(&server, "2025-06-18", async |raw| {
            let answer = call(raw, wrong.clone()).await;
            assert_eq!(code_of(&answer), -32602);
            assert!(answer["error"]["message"].as_str().unwrap().contains("`/count`: "), "{answer}");
        })
        .await;
        with_raw(&server, async |raw| {
            let params = alone(json!({ "name": "order", "arguments": wrong }));
            assert_eq!(raw.result_of("tools/call", params).await["isError"], true);
            assert_eq!(runs.load(Ordering::Relaxed), 0);
            let params = alone(json!({ "name": "order", "arguments": { "phone": "1" } }));
            assert_eq!(raw.result_of("tools/call", params).await["content"][0]["text"], "ordered");
            assert_eq!(runs.load(Ordering::Relaxed), 1);
        })
        .await;
    }

    /// A reader that gives names of `serde_json`'s own a meaning would hold what stands in the string against the schema.
    #[tokio::test(start_paused = true)]
    async fn arguments_that_read_as_something_else_never_reach_the_function() {
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = runs.clone();
        let tool = ServerTool::from_definition(Tool::new("order", schema(order())), move || {
            counted.fetch_add(1, Ordering::Relaxed);
            async { "ordered" }
        });
        with_session(&Server::new("orders", "1").validate(true).with_tool(tool), NEWEST, async |raw| {
            let allowed = json!({ "phone": "1" }).to_string();
            let plain = json!({ "$serde_json::private::RawValue": allowed }).to_string();
            let number = json!({ "phone": "1", "count": { "$serde_json::private::Number": "1" } }).to_string();
            for arguments in [
                plain.replace('$', "\\u0024"),
                plain.replace("private", "pr\\u0069vate"),
                number,
                plain,
            ] {
                let call = format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"order","arguments":{arguments}}}}}"#
                );
                raw.send_text(&call).await;
                let answer = raw.next().await;
                assert_eq!((&answer["id"], code_of(&answer)), (&json!(1), -32600), "{arguments}");
            }
            assert_eq!(runs.load(Ordering::Relaxed), 0);
        })
        .await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_type_is_checked_by_its_schema_too() {
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        struct Few {
            #[schemars(range(max = 3))]
            count: u8,
        }
        let tool = ServerTool::new("order", "", async |Few { count }: Few, _| count.to_string());
        with_session(&Server::new("orders", "1").validate(true).with_tool(tool), NEWEST, async |raw| {
            assert_eq!(call(raw, json!({ "count": 3 })).await["result"]["content"][0]["text"], "3");
            assert_eq!(call(raw, json!({ "count": 4 })).await["result"]["isError"], true);
        })
        .await;
    }

    #[tokio::test(start_paused = true)]
    async fn structured_content_that_is_not_what_the_schema_says_is_not_sent() {
        let output =
            json!({ "type": "object", "properties": { "sum": { "type": "integer" } }, "required": ["sum"] });
        with_session(
            &Server::new("sums", "1").validate(true).with_tool(structured(output)),
            NEWEST,
            async |raw| {
                assert_eq!(
                    raw.call("give", json!({ "sum": 1 })).await["structuredContent"],
                    json!({ "sum": 1 })
                );
                let params = json!({ "name": "give", "arguments": { "sum": "one" } });
                let answer = raw.ask("tools/call", params).await;
                assert_eq!(code_of(&answer), -32603);
                assert!(answer["error"]["message"].as_str().unwrap().contains("`/sum`: "), "{answer}");
            },
        )
        .await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_schema_that_leads_out_of_itself_is_not_followed() {
        let elsewhere = schema(json!({ "type": "object", "$ref": "http://127.0.0.1:1/schema.json" }));
        let server = Server::new("orders", "1").validate(true).with_tool(echo().input_schema(elsewhere));
        with_session(&server, NEWEST, async |raw| {
            let answer = call(raw, json!({})).await;
            assert_eq!(code_of(&answer), -32603);
            assert!(answer["error"]["message"].as_str().unwrap().contains("input schema"), "{answer}");
        })
        .await;
    }
}
