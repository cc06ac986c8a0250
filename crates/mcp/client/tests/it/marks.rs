//! Tools whose arguments are to be repeated in HTTP headers.

use std::sync::{Arc, Mutex};

use agentwire_mcp_client::{Client, RemoteServer, Warning};
use serde_json::{Value, json};

use crate::mock::{Mock, with_modern, with_server};

/// A property with a mark.
fn marked(kind: &str, mark: impl Into<Value>) -> Value {
    json!({ "type": kind, "x-mcp-header": mark.into() })
}

fn object(properties: Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

fn with(keyword: &str, value: Value) -> Value {
    let mut schema = object(json!({ "right": marked("string", "Right") }));
    schema[keyword] = value;
    schema
}

fn right() -> Vec<Value> {
    vec![
        json!({ "type": "object" }),
        object(json!({
            "a": marked("string", "Region"), "b": marked("integer", "B!#$%&'*+-.^_`|~9"), "c": marked("boolean", "c"),
            "d": { "type": "number" }, "e": { "type": "array", "items": { "type": "string" } }, "f": true,
        })),
        object(json!({ "a": object(json!({ "b": marked("string", "Deep") })) })),
        // A property that has the name of the mark, and marks in what is not a schema.
        object(json!({ "x-mcp-header": { "type": "object" } })),
        with("default", json!({ "x-mcp-header": "" })),
        with("examples", json!([{ "x-mcp-header": "" }])),
        with("$defs", json!({ "x-mcp-header": { "type": "string" } })),
    ]
}

fn wrong() -> Vec<Value> {
    let mark = || marked("string", "Region");
    let mut wrong: Vec<_> = [
        marked("string", ""),
        marked("string", "a b"),
        marked("string", "a:b"),
        marked("string", "é"),
        marked("string", "a\r\nb"),
        marked("string", Value::Null),
        marked("string", 1),
        marked("string", json!({})),
        marked("string", json!(["a"])),
        marked("number", "N"),
        marked("object", "O"),
        marked("array", "A"),
        marked("null", "Z"),
        json!({ "x-mcp-header": "NoType" }),
        // The same name as another's, in other case.
        marked("string", "RIGHT"),
        object(json!({ "deep": marked("string", "right") })),
        // Where `properties` alone do not lead.
        json!({ "type": "array", "items": mark() }),
        json!({ "type": "array", "items": object(json!({ "a": mark() })) }),
        json!({ "oneOf": [mark()] }),
        json!({ "anyOf": [object(json!({ "a": mark() }))] }),
        json!({ "allOf": [mark()] }),
        json!({ "not": mark() }),
        json!({ "if": mark() }),
        json!({ "additionalProperties": mark() }),
        json!({ "patternProperties": { "^a": mark() } }),
    ]
    .map(|wrong| object(json!({ "right": marked("string", "Right"), "wrong": wrong })))
    .into();
    wrong.push(with("x-mcp-header", json!("Root")));
    wrong.push(with("$defs", json!({ "a": mark() })));
    wrong.push(with("then", object(json!({ "a": mark() }))));
    wrong
}

#[tokio::test(start_paused = true)]
async fn st_21_and_22_a_tool_with_a_wrong_mark_is_left_out_and_the_others_stay() {
    let (right, wrong) = (right(), wrong());
    let names =
        |kind: &str, count: usize| (0..count).map(|index| format!("{kind} {index}")).collect::<Vec<_>>();
    let (right_names, wrong_names) = (names("right", right.len()), names("wrong", wrong.len()));
    let tools: Vec<_> = wrong_names
        .iter()
        .zip(&wrong)
        .chain(right_names.iter().zip(&right))
        .map(|(name, schema)| json!({ "name": name, "inputSchema": schema }))
        .collect();

    let warnings = Arc::new(Mutex::new(Vec::new()));
    let heard = warnings.clone();
    let client = Client::default().on_warning(move |warning| heard.lock().unwrap().push(warning));
    let page = json!({ "resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private" });
    let script = async |mut mock: Mock| {
        let request = mock.expect("tools/list").await;
        mock.answer(&request, page.clone()).await;
        mock.expect_end().await;
    };
    let list = async |server: RemoteServer| {
        let tools = server.tools().collect().await?;
        Ok(tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>())
    };
    let (result, ()) = with_modern(client.clone(), script, list).await;
    assert_eq!(result.unwrap(), right_names);
    let mut left_out = Vec::new();
    for warning in warnings.lock().unwrap().drain(..) {
        let text = warning.to_string();
        let Warning::ToolLeftOut { tool, why, .. } = warning else { panic!("{text}") };
        assert!(text.contains(&tool) && why.contains("x-mcp-header` at "), "{text}");
        left_out.push(tool);
    }
    assert_eq!(left_out, wrong_names);

    // In a session a mark is a word like any other.
    let (result, ()) = with_server(client, script, list).await;
    assert_eq!(result.unwrap().len(), right.len() + wrong.len());
    assert!(warnings.lock().unwrap().is_empty());
}

/// A list is as good as its items, one by one.
#[tokio::test(start_paused = true)]
async fn an_item_that_cannot_be_read_is_left_out_of_its_list_and_named() {
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let heard = warnings.clone();
    let client = Client::default().on_warning(move |warning| heard.lock().unwrap().push(warning.to_string()));
    let script = async |mut mock: Mock| {
        let good = json!({ "name": "good", "inputSchema": { "type": "object" } });
        let wrong = json!({ "name": "wrong", "inputSchema": 7 });
        let request = mock.expect("tools/list").await;
        let tools = json!([wrong, good, { "name": 5, "inputSchema": {} }, null]);
        mock.answer(&request, json!({ "resultType": "complete", "tools": tools })).await;
        let request = mock.expect("resources/list").await;
        let resources = json!([{ "uri": "memo:///a" }, { "uri": "memo:///b", "name": "b" }]);
        mock.answer(&request, json!({ "resultType": "complete", "resources": resources })).await;
        mock.expect_end().await;
    };
    let main = async |server: RemoteServer| {
        let tools = server.tools().collect().await?;
        let resources = server.resources().collect().await?;
        Ok((tools, resources))
    };
    let (result, ()) = with_modern(client, script, main).await;
    let (tools, resources) = result.unwrap();
    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["good"]);
    assert_eq!(resources.iter().map(|resource| &*resource.name).collect::<Vec<_>>(), ["", "b"]);
    let warnings = warnings.lock().unwrap();
    let beginnings = [
        "tools/list: the item \"wrong\" is left out: ",
        "tools/list: the item \"\" is left out: ",
        "tools/list: the item \"\" is left out: ",
        r#"resources/list: left out: resources["memo:///a"].name: missing field"#,
    ];
    assert_eq!(warnings.len(), beginnings.len(), "{warnings:?}");
    assert!(
        warnings.iter().zip(beginnings).all(|(warning, start)| warning.starts_with(start)),
        "{warnings:?}"
    );
}

/// A panic in a hook fails only the hook, at each place where hooks are called.
#[tokio::test(start_paused = true)]
async fn a_hook_that_panics_ends_nothing_else() {
    let client = Client::default().on_warning(|_| panic!("a hook of the test's"));
    let script = async |mut mock: Mock| {
        let request = mock.expect("tools/list").await;
        let tools =
            json!([{ "name": "wrong", "inputSchema": wrong()[0] }, { "name": "right", "inputSchema": {} }]);
        mock.answer(&request, json!({ "resultType": "complete", "tools": tools })).await;
        mock.expect_end().await;
    };
    let main = async |server: RemoteServer| Ok(server.tools().collect().await?);
    let (tools, ()) = with_modern(client, script, main).await;
    assert_eq!(tools.unwrap().iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["right"]);
}
