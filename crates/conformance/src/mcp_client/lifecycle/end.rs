//! How a session ends.

use serde_json::json;

use crate::check::{Check, STDIO, WEB, check};
use crate::faults;
use crate::mcp_client::McpClient;
use crate::mcp_client::opened::QUIET;
use crate::verdict::Outcome;

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!("LIF-22", standard_input_is_closed, STDIO, [
        "leaves the server's standard input open" => faults::never_closes(),
    ]),
    check!("LIF-24", nothing_is_said_at_the_end, WEB, [
        "says that it shuts down" => faults::says_before_call("tools/list", |_| vec![
            json!({"jsonrpc": "2.0", "id": "end", "method": "shutdown"}),
        ]),
    ]),
];

/// What comes after the end of standard input, a time to wait and signals, is for the server's process alone to see.
async fn standard_input_is_closed(client: McpClient) -> Outcome {
    let mut opened = client.open("list_tools", json!({}), client.script()).await?;
    opened.ok().await?;
    if opened.takes_steps().is_ok() {
        opened.then("close", json!({})).await?;
    }
    opened.server.end(client.setting.wait).await
}

async fn nothing_is_said_at_the_end(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    opened.release(&request).await?;
    if opened.takes_steps().is_ok() {
        opened.then("close", json!({})).await?;
    }
    let known = ["notifications/initialized", "notifications/cancelled"];
    opened
        .server
        .silence(QUIET, "no message at the end of a session", |message| {
            message["method"].as_str().is_some_and(|method| known.contains(&method))
        })
        .await
}
