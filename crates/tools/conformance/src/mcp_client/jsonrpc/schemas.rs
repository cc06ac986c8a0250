//! The schemas of tools: their dialect, their size, and what they refer to.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::check::{ANY, Check, check};
use crate::mcp_client::McpClient;
use crate::mcp_client::opened::QUIET;
use crate::verdict::{Outcome, Stop};

/// How long a client may work on one schema. The page has no number.
const REASONABLE: Duration = Duration::from_secs(30);

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!(references_are_not_fetched, ANY),
    check!(schemas_are_of_2020_12, ANY),
    check!(deep_schemas_are_bounded, ANY),
];

async fn references_are_not_fetched(client: McpClient) -> Outcome {
    let no_port = |error: std::io::Error| Stop::inconclusive(format!("no port: {error}"));
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(no_port)?;
    let url = format!("http://{}/schema.json", listener.local_addr().map_err(no_port)?);
    let schema = json!({"type": "object", "properties": {"text": {"$ref": url}}});
    let tool = json!({"name": "echo", "inputSchema": schema, "outputSchema": schema});
    let called = json!({"content": [], "structuredContent": {"text": "one"}});
    let script = client.script().on("tools/list", json!({"tools": [tool]})).on("tools/call", called);
    let mut opened = client.open("list_tools", json!({}), script).await?;
    // Whether the client takes such a tool is up to it. A client that fetches the schema may wait for it for ever.
    let mut ended = opened.outcome(opened.step).await;
    if ended.is_ok() && opened.takes_steps().is_ok() {
        let step = opened.then("call_tool", json!({"tool": "echo", "arguments": {"text": "one"}})).await?;
        ended = opened.outcome(step).await;
    }
    match tokio::time::timeout(QUIET, listener.accept()).await {
        Ok(_) => {
            Err(Stop::failed("no request for what a schema refers to", format!("a connection to {url}")))
        }
        Err(_) => ended.map(drop).map_err(Stop::while_preparing),
    }
}

/// A result that is valid by 2020-12, and invalid by older dialects, where `items` holds for all items.
async fn schemas_are_of_2020_12(client: McpClient) -> Outcome {
    let pair = json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "number"}});
    let output = json!({"type": "object", "properties": {"pair": pair}, "required": ["pair"]});
    let tool = json!({"name": "echo", "inputSchema": {"type": "object"}, "outputSchema": output});
    let plain = json!({"name": "plain", "inputSchema": {"type": "object"}});
    let content = json!({"pair": ["one", 1]});
    let called =
        json!({"content": [{"type": "text", "text": content.to_string()}], "structuredContent": content});
    let script = client.script().on("tools/list", json!({"tools": [tool, plain]})).on("tools/call", called);
    let mut opened = client.connected(script).await?;
    let step = opened.then("call_tool", json!({"tool": "plain", "arguments": {}})).await?;
    opened.ok_of(step).await.map_err(Stop::while_preparing)?;
    let step = opened.then("call_tool", json!({"tool": "echo", "arguments": {}})).await?;
    opened.ok_of(step).await.map(drop)
}

async fn deep_schemas_are_bounded(client: McpClient) -> Outcome {
    let mut deep = json!({"type": "object"});
    for _ in 0..100 {
        deep = json!({"allOf": [deep]});
    }
    let wide: Vec<Value> = (0..5000).map(|_| json!({"type": "object"})).collect();
    let schema = json!({"type": "object", "allOf": [deep, {"allOf": wide}]});
    let tool = json!({"name": "echo", "inputSchema": {"type": "object"}, "outputSchema": schema});
    let called = json!({"content": [], "structuredContent": {}});
    let script = client.script().on("tools/list", json!({"tools": [tool]})).on("tools/call", called);
    let mut opened = client.open("list_tools", json!({}), script).await?;
    let within = if client.setting.faults.is_none() { REASONABLE } else { client.setting.wait };
    opened.server.during(opened.played.driver.outcome(opened.step, within)).await?;
    if opened.takes_steps().is_ok() {
        let step = opened.then("call_tool", json!({"tool": "echo", "arguments": {}})).await?;
        opened.server.during(opened.played.driver.outcome(step, within)).await?;
    }
    Ok(())
}
