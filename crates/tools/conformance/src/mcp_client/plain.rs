//! The conversation that every audit looks at: a list, a call, a cancelled call, and what a server may ask.

use serde_json::json;

use super::McpClient;
use super::opened::{Opened, QUIET};
use crate::subject::Transport;
use crate::verdict::Outcome;

pub(super) async fn converse(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    let message = json!({"level": "info", "data": "a message"});
    opened.server.notify("notifications/message", message).await?;
    if client.revision().is_legacy() {
        for method in ["ping", "roots/list", "conformance/unknown"] {
            opened.server.request(method, json!({})).await?;
        }
    }
    opened.release(&request).await?;
    if opened.takes_steps().is_ok() {
        call(&client, &mut opened).await?;
        if client.setting.transport != Transport::Stdio {
            // The end of a session over HTTP is a request as well.
            let step = opened.then("close", json!({})).await?;
            opened.outcome(step).await?;
        }
    }
    Ok(())
}

/// A call, and one that is cancelled.
async fn call(client: &McpClient, opened: &mut Opened) -> Outcome {
    let step = opened.then("call_tool", json!({"tool": "echo", "arguments": {"text": "one\ntwo"}})).await?;
    opened.ok_of(step).await?;
    opened.server.answer_with(client.script().leaves("tools/call").answers());
    let step = opened.then("call_tool", json!({"tool": "echo", "arguments": {"text": "three"}})).await?;
    opened.server.call("tools/call").await?;
    let cancelled = opened.played.driver.cancel(step).await?;
    opened.outcome(cancelled).await?;
    if client.setting.transport == Transport::Stdio {
        opened.server.call("notifications/cancelled").await?;
    } else {
        opened.server.listen(QUIET).await?;
    }
    Ok(())
}
