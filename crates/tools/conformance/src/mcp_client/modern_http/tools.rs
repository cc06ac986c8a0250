//! Checks of clients: tools whose marks for headers are invalid, and calls that are refused because of headers.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::check::{Check, HTTP, check};
use crate::fault::ClientRequest;
use crate::link::played_http::text;
use crate::mcp_client::McpClient;
use crate::mcp_client::host::{start_call, words};
use crate::trace::{Part, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!(invalid_marks_hide_a_tool, HTTP),
    check!(hidden_tools_are_logged, HTTP),
    check!(header_mismatch_leads_to_a_retry, HTTP),
];

/// Tools whose marks are invalid, each in another way.
fn invalid_tools() -> Vec<Value> {
    let marked = |mark: Value, kind: &str| json!({"type": kind, "x-mcp-header": mark});
    let property = |schema: Value| json!({"type": "object", "properties": {"one": schema}});
    let region = || marked(json!("Region"), "string");
    let two = |second: &str| json!({"type": "object", "properties": {"one": region(), "two": marked(json!(second), "string")}});
    let schemas = [
        ("empty", property(marked(json!(""), "string"))),
        ("space", property(marked(json!("My Region"), "string"))),
        ("colon", property(marked(json!("Region:"), "string"))),
        ("letter", property(marked(json!("R\u{e9}gion"), "string"))),
        ("line", property(marked(json!("Region\r\nX: y"), "string"))),
        ("object", property(marked(json!("Region"), "object"))),
        ("array", property(marked(json!("Region"), "array"))),
        ("null", property(marked(json!("Region"), "null"))),
        ("number", property(marked(json!("Region"), "number"))),
        ("twice", two("Region")),
        ("twice-in-other-case", two("REGION")),
        ("items", property(json!({"type": "array", "items": region()}))),
        ("any", json!({"type": "object", "anyOf": [property(region())]})),
        ("all", json!({"type": "object", "allOf": [property(region())]})),
        ("one", property(json!({"oneOf": [region(), {"type": "integer"}]}))),
        ("not", property(json!({"not": region()}))),
        ("if", json!({"type": "object", "if": property(region()), "then": {}})),
        (
            "reference",
            json!({"type": "object", "properties": {"one": {"$ref": "#/$defs/one"}}, "$defs": {"one": region()}}),
        ),
    ];
    schemas
        .into_iter()
        .map(|(name, schema)| json!({"name": format!("bad-{name}"), "inputSchema": schema}))
        .collect()
}

async fn listed(client: &McpClient) -> Outcome<String> {
    let mut tools = invalid_tools();
    tools.insert(0, json!({"name": "fine", "inputSchema": {"type": "object"}}));
    let (mut driver, mut host) = client.host().await?;
    host.script(client.script().on("tools/list", json!({"tools": tools})));
    let step = driver.start("list_tools", json!({})).await?;
    Ok(words(&host.ok(&mut driver, step).await?))
}

async fn invalid_marks_hide_a_tool(client: McpClient) -> Outcome {
    let listed = listed(&client).await?;
    ensure!(listed.contains("fine"), "the tool `fine`, which has no mark", "the client lists `{listed}`");
    let shown = invalid_tools().into_iter().find(|tool| {
        // The quotation mark or the blank after the name distinguishes `bad-one` from `bad-one-more`.
        tool["name"].as_str().is_some_and(|name| listed.contains(name))
    });
    ensure!(
        shown.is_none(),
        "no tool whose mark x-mcp-header is invalid",
        "the client lists `{}`",
        shown.unwrap_or_default()
    );
    Ok(())
}

async fn hidden_tools_are_logged(client: McpClient) -> Outcome {
    if client.setting.text("warnings")? != "stderr" {
        return Err(Stop::not_applicable("the client logs elsewhere than on its standard error"));
    }
    let listed = listed(&client).await.map_err(Stop::while_preparing)?;
    if invalid_tools().iter().filter_map(|tool| tool["name"].as_str()).all(|name| listed.contains(name)) {
        return Err(Stop::not_applicable("the client lists every tool"));
    }
    // Standard error is read beside the conversation.
    let until = Instant::now() + Duration::from_secs(1);
    while !has_warning(&client.setting.trace) && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    ensure!(
        has_warning(&client.setting.trace),
        "a warning on standard error that names a hidden tool",
        "there is none"
    );
    Ok(())
}

/// Whether a line that is not the outcome of a step names a hidden tool.
fn has_warning(trace: &Trace) -> bool {
    trace.events().iter().filter(|event| event.what == Part::Stderr).any(|event| {
        let is_outcome = serde_json::from_slice::<Value>(&event.bytes).is_ok_and(|line| line.is_object());
        !is_outcome && String::from_utf8_lossy(&event.bytes).contains("bad-")
    })
}

async fn header_mismatch_leads_to_a_retry(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    let _step = start_call(&mut driver).await?;
    let mut call = host.call("tools/call").await.map_err(Stop::while_preparing)?;
    let text_property = json!({"type": "string", "x-mcp-header": "Text"});
    let schema = json!({"type": "object", "properties": {"text": text_property}});
    host.script(
        client.script().on("tools/list", json!({"tools": [{"name": "echo", "inputSchema": schema}]})),
    );
    let id = call.request.message().unwrap_or_default()["id"].clone();
    let error = json!({"code": -32020, "message": "the header Mcp-Param-Text is missing"});
    call.json(400, &[], &json!({"jsonrpc": "2.0", "id": id, "error": error})).await?;
    let expected = "tools/list and then tools/call again after error -32020";
    let wanted = |request: &ClientRequest| request.calls("tools/list") || request.calls("tools/call");
    let list = host.until(expected, wanted).await?;
    ensure!(list.request.calls("tools/list"), expected, "{}", text(&list.request));
    host.answer(list).await?;
    host.until(expected, |request| request.calls("tools/call")).await.map(drop)
}
