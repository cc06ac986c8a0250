//! How a session ends.

use std::time::Duration;

use serde_json::json;

use crate::check::{Check, STDIO, WEB, check};
use crate::mcp_client::McpClient;
use crate::mcp_client::opened::{Opened, QUIET};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] =
    &[check!(standard_input_is_closed, STDIO), check!(no_message_announces_the_end, WEB)];

/// How long a client may take to end its connection. No page limits it, and the machine may be busy.
const END_TIME: Duration = Duration::from_secs(30);

/// The methods that clients send in sessions.
const METHODS: &[&str] = &[
    "ping",
    "initialize",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "tasks/get",
    "tasks/result",
    "tasks/list",
    "tasks/cancel",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
    "notifications/tasks/status",
];

/// Waits until the client has closed the standard input of its server.
pub(super) async fn ends(client: &McpClient, opened: &mut Opened) -> Outcome {
    let time =
        if client.setting.faults.is_none() { END_TIME.max(client.setting.wait) } else { client.setting.wait };
    let seen = format!("it is open {} s later", time.as_secs());
    opened.server.end(time).await.map_err(|_| Stop::failed("the end of the server's standard input", seen))
}

/// Only the server's process sees the steps after the end of standard input: a time to wait, and signals.
async fn standard_input_is_closed(client: McpClient) -> Outcome {
    let mut opened = client.open("list_tools", json!({}), client.script()).await?;
    opened.ok().await.map_err(Stop::while_preparing)?;
    if opened.takes_steps().is_ok() {
        opened.then("close", json!({})).await.map_err(Stop::while_preparing)?;
    }
    ends(&client, &mut opened).await
}

async fn no_message_announces_the_end(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    opened.release(&request).await.map_err(Stop::while_preparing)?;
    if opened.takes_steps().is_ok() {
        opened.then("close", json!({})).await.map_err(Stop::while_preparing)?;
    }
    let what = "no message but those that MCP defines at the end of a session";
    opened
        .server
        .silence(QUIET, what, |message| {
            message["method"].as_str().is_none_or(|method| METHODS.contains(&method))
        })
        .await?;
    // Requests have been answered, and wait no longer.
    for request in &opened.server.asked {
        let is_known = request["method"].as_str().is_none_or(|method| METHODS.contains(&method));
        ensure!(is_known, what, "`{request}`");
    }
    Ok(())
}
