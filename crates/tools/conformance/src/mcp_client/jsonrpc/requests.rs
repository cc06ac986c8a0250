//! Ids of requests and of responses, and messages that have no answer.

use serde_json::{Value, json};

use crate::check::{ANY, Check, check};
use crate::mcp_client::McpClient;
use crate::mcp_client::opened::QUIET;
use crate::mcp_messages::{ids_occur_once, is_answer, unusual_ids};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!(ids_are_used_once, ANY),
    check!(ids_differ_while_requests_wait, ANY),
    check!(ids_keep_their_type, ANY),
    check!(any_id_is_answered, ANY),
    check!(notifications_get_no_answer, ANY),
    check!(unknown_methods_are_refused, ANY),
];

/// The client follows three pages, so that it makes several requests on one connection.
async fn ids_are_used_once(client: McpClient) -> Outcome {
    let script = client.script();
    let mut opened = client.open("list_tools", json!({}), client.script().leaves("tools/list")).await?;
    for page in 1..=3 {
        let request = opened.server.call("tools/list").await;
        ids_occur_once(&opened.server.asked)?;
        let request = request.map_err(Stop::while_preparing)?;
        let mut result = script.result("tools/list");
        if page < 3 {
            result["nextCursor"] = json!(format!("page {page}"));
        }
        opened.server.reply(&request, result).await?;
    }
    opened.ok().await.map(drop).map_err(Stop::while_preparing)
}

async fn ids_differ_while_requests_wait(client: McpClient) -> Outcome {
    let mut opened = client.connected(client.script().leaves("tools/call")).await?;
    let mut seen: Vec<Value> = Vec::new();
    for number in 0..5 {
        opened.then("call_tool", json!({"tool": "echo", "arguments": {"text": number.to_string()}})).await?;
        let request = opened.server.call("tools/call").await.map_err(Stop::while_preparing)?;
        let id = request["id"].clone();
        ensure!(!seen.contains(&id), format!("an id that is none of the unanswered {seen:?}"), "`{request}`");
        seen.push(id);
    }
    Ok(())
}

async fn ids_keep_their_type(client: McpClient) -> Outcome {
    client.needs_sessions()?;
    let (mut opened, _request) = client.held().await?;
    for id in unusual_ids() {
        opened.server.start_as(id.clone(), "ping", json!({})).await?;
        // A request without a response is the subject of RPC-06b.
        let response = opened.server.wanted("a response", is_answer).await.map_err(Stop::while_preparing)?;
        let seen: &Value = &response["id"];
        ensure!(*seen == id, format!("the id {id}"), "the id {seen}");
    }
    Ok(())
}

async fn any_id_is_answered(client: McpClient) -> Outcome {
    client.needs_sessions()?;
    let (mut opened, _request) = client.held().await?;
    opened.server.ok("ping", json!({})).await.map_err(Stop::while_preparing)?;
    for id in unusual_ids() {
        opened.server.start_as(id.clone(), "ping", json!({})).await?;
        let what = format!("a response to a request with the id {id}");
        opened.server.wanted(&what, is_answer).await?;
    }
    Ok(())
}

async fn notifications_get_no_answer(client: McpClient) -> Outcome {
    if !client.revision().is_legacy() {
        // Each of them breaks another requirement.
        return Err(Stop::not_applicable("a client sends no responses in this revision"));
    }
    let (mut opened, request) = client.held().await?;
    let progress = json!({"progressToken": {"not": "a token"}, "progress": "half"});
    opened.server.notify("notifications/unknown", json!({"a": 1})).await?;
    opened.server.notify("notifications/progress", progress).await?;
    opened.server.send(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": []})).await?;
    // The client has read the notifications before it reads the ping. A client that ends instead breaks something else.
    let id = opened.server.start("ping", json!({})).await?;
    opened.server.response(&id).await.map_err(Stop::while_preparing)?;
    opened.release(&request).await.map_err(Stop::while_preparing)?;
    let what = "no response to a notification";
    opened.server.silence(QUIET, what, |message| !is_answer(message)).await
}

async fn unknown_methods_are_refused(client: McpClient) -> Outcome {
    client.needs_sessions()?;
    let (mut opened, _request) = client.held().await?;
    let error = opened.server.error("conformance/unknown", json!({})).await?;
    ensure!(error["code"] == -32601, "error -32601 for an unknown method", "`{error}`");
    Ok(())
}
