//! Structured results checked against output schemas.

use std::sync::{Arc, Mutex};

use agentwire_mcp_client::{CallError, Client, RemoteServer, Tasks, Warning};
use serde_json::{Value, json};

use crate::mock::{Mock, with_modern, with_server};

/// Plays a server with one tool, which gives these results.
async fn play(mut mock: Mock, schema: &Value, results: &[Value]) {
    let list = mock.expect("tools/list").await;
    let tool = json!({ "name": "x", "inputSchema": { "type": "object" }, "outputSchema": schema });
    let page = json!({ "resultType": "complete", "tools": [tool], "ttlMs": 0, "cacheScope": "private" });
    mock.answer(&list, page).await;
    for result in results {
        let call = mock.expect("tools/call").await;
        mock.answer(&call, result.clone()).await;
    }
    mock.expect_end().await;
}

async fn call(server: RemoteServer, times: usize) -> Vec<Result<(), CallError>> {
    server.tools().collect().await.unwrap();
    let mut outcomes = Vec::new();
    for _ in 0..times {
        outcomes.push(server.call_tool("x", ()).await.map(drop));
    }
    outcomes
}

fn structured(content: Value) -> Value {
    json!({ "resultType": "complete", "content": [], "structuredContent": content })
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_not_as_promised_fails_the_call_in_either_era() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "$ref": "#/$defs/count" }, "next": { "$ref": "#" } },
        "required": ["a"],
        "$defs": { "count": { "type": "integer", "minimum": 0 } },
    });
    let results = [
        structured(json!({ "a": 1, "next": { "a": 2 } })),
        structured(json!({ "a": "hunter2" })),
        structured(json!({ "a": 1, "next": { "a": -1 } })),
        json!({ "resultType": "complete", "content": [] }),
        json!({ "resultType": "complete", "content": [], "isError": true }),
    ];
    let expected = [None, Some("`/a`"), Some("`/next/a`"), Some("nothing structured"), None];
    for checks in [true, false] {
        let client = Client::default().validate_output(checks);
        let main = async |server| Ok(call(server, results.len()).await);
        let script = async |mock: Mock| play(mock, &schema, &results).await;
        let outcomes = [
            with_server(client.clone(), script, main).await.0.unwrap(),
            with_modern(client, script, main).await.0.unwrap(),
        ];
        for (outcome, expected) in outcomes.iter().flat_map(|outcomes| outcomes.iter().zip(expected)) {
            match (outcome, expected.filter(|_| checks)) {
                (Ok(()), None) => {}
                (Err(error @ CallError::Unusable { .. }), Some(part)) => {
                    let text = error.to_string();
                    assert!(text.contains(part) && !text.contains("hunter2"), "{text}");
                }
                (outcome, expected) => panic!("{outcome:?} instead of {expected:?}"),
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_result_of_a_task_is_checked_too() {
    let schema = json!({ "type": "object", "required": ["a"] });
    let client = Client::default().tasks(Tasks::new()).validate_output(true);
    let task = |status: &str, members: Value| {
        let mut task = json!({
            "taskId": "t", "status": status, "createdAt": "", "lastUpdatedAt": "", "ttlMs": null,
        });
        task.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        task
    };
    let script = async |mut mock: Mock| {
        let list = mock.expect("tools/list").await;
        let tool = json!({ "name": "x", "inputSchema": { "type": "object" }, "outputSchema": schema });
        let page = json!({ "resultType": "complete", "tools": [tool], "ttlMs": 0, "cacheScope": "private" });
        mock.answer(&list, page).await;
        for content in [json!({ "a": 1 }), json!({})] {
            for _ in 0..2 {
                let call = mock.expect("tools/call").await;
                mock.answer(&call, task("working", json!({ "resultType": "task" }))).await;
                let get = mock.expect("tasks/get").await;
                let result = json!({ "content": [], "structuredContent": content });
                mock.answer(&get, task("completed", json!({ "resultType": "complete", "result": result })))
                    .await;
            }
        }
        mock.expect_end().await;
    };
    let (outcomes, ()) = with_modern(client, script, async |server: RemoteServer| {
        server.tools().collect().await?;
        let mut fit = Vec::new();
        for _ in 0..2 {
            fit.push(server.call_tool("x", ()).await.is_ok());
            fit.push(server.call_tool("x", ()).start().await?.result().await.is_ok());
        }
        Ok(fit)
    })
    .await;
    assert_eq!(outcomes.unwrap(), [true, true, false, false]);
}

#[tokio::test(start_paused = true)]
async fn unusable_output_schema_is_warned_of_once() {
    let schemas = [
        json!({ "$ref": "http://127.0.0.1:9/schema.json" }),
        json!({ "$ref": "file:///etc/hostname" }),
        json!({ "type": "object", "properties": { "a": { "pattern": "(" } } }),
        json!({ "$schema": "https://example.com/dialect", "type": "object" }),
        json!({ "type": 5 }),
    ];
    for schema in schemas {
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let heard = warnings.clone();
        let client = Client::default()
            .validate_output(true)
            .on_warning(move |warning| heard.lock().unwrap().push(warning));
        let results = [structured(json!({ "a": "x" })), structured(json!({ "a": "x" }))];
        let script = async |mock: Mock| play(mock, &schema, &results).await;
        let (outcomes, ()) = with_modern(client, script, async |server| Ok(call(server, 2).await)).await;
        assert!(outcomes.unwrap().iter().all(Result::is_ok), "{schema}");
        let warnings = warnings.lock().unwrap();
        assert!(
            matches!(&warnings[..], [Warning::OutputNotChecked { tool, .. }] if tool == "x"),
            "{schema}: {warnings:?}"
        );
    }
}

/// A hostile schema must neither end the process nor block it.
#[tokio::test(start_paused = true)]
async fn a_schema_that_goes_in_a_circle_ends() {
    let circles = [
        json!({ "$ref": "#" }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
        json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }] }),
        json!({ "$dynamicAnchor": "x", "anyOf": [{ "$dynamicRef": "#x" }] }),
        json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": "^(a+)+$" } } }),
    ];
    for schema in circles {
        let text = format!("{}!", "a".repeat(50_000));
        let results = [structured(json!({ "a": text }))];
        let script = async |mock: Mock| play(mock, &schema, &results).await;
        let client = Client::default().validate_output(true);
        let (outcomes, ()) = with_modern(client, script, async |server| Ok(call(server, 1).await)).await;
        assert_eq!(outcomes.unwrap().len(), 1, "{schema}");
    }
}
