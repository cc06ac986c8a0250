//! Input that is not a message, and unknown members.

use serde_json::{Value, json};

use crate::check::{ANY, Check, STDIO, check};
use crate::mcp_client::McpClient;
use crate::mcp_client::opened::QUIET;
use crate::mcp_messages::is_answer;
use crate::requirements::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!(no_id_is_invented, STDIO),
    check!(errors_without_an_id, STDIO),
    check!(unknown_members_are_ignored, ANY),
    check!(text_outside_ascii_survives, ANY),
];

async fn no_id_is_invented(client: McpClient) -> Outcome {
    client.needs_sessions()?;
    let (mut opened, request) = client.held().await?;
    let sent = json!({"jsonrpc": "2.0", "id": {}, "method": "ping"});
    opened.server.send(&sent).await?;
    opened.release(&request).await.map_err(Stop::while_preparing)?;
    let arrived = opened.server.listen(QUIET).await?.into_iter().map(|arrived| arrived.message);
    let answers: Vec<Value> = arrived.filter(is_answer).collect();
    if answers.is_empty() {
        return Err(Stop::inconclusive("the client does not answer a request whose id it cannot read"));
    }
    for answer in answers {
        // An id of the wrong type that comes back is not invented.
        let id = &answer["id"];
        ensure!(
            id.is_null() || *id == sent["id"],
            format!("a null id, or none, in the error about `{sent}`"),
            "`{answer}`"
        );
    }
    Ok(())
}

async fn errors_without_an_id(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    let error = json!({"code": -32700, "message": "a line could not be read"});
    opened.server.send(&json!({"jsonrpc": "2.0", "error": error})).await?;
    opened.server.send(&json!({"jsonrpc": "2.0", "id": null, "error": error})).await?;
    opened.release(&request).await.map(drop)
}

async fn unknown_members_are_ignored(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    let mut result = client.script().result("tools/list");
    result["x"] = json!({"y": [1]});
    result["_meta"]["example.com/x"] = json!("y");
    if client.revision() >= Revision::Mcp20250618 {
        result["tools"][0]["_meta"] = json!({"example.com/x": null});
    }
    if client.revision().is_legacy() {
        opened.server.ok("ping", json!({"x": 1, "_meta": {"example.com/x": 1}})).await?;
    }
    opened.server.reply(&request, result).await?;
    opened.ok().await.map(drop)
}

async fn text_outside_ascii_survives(client: McpClient) -> Outcome {
    let text = "Grüße 🦀";
    let script = client.script().leaves("tools/call");
    let step = json!({"tool": "echo", "arguments": {"text": text}, "text": text});
    let mut opened = client.open("call_tool", step, script).await?;
    let request = opened.server.call("tools/call").await.map_err(Stop::while_preparing)?;
    let seen = &request["params"]["arguments"]["text"];
    ensure!(*seen == text, format!("the text `{text}`"), "`{seen}`");
    let result = json!({"content": [{"type": "text", "text": text}]});
    opened.server.reply(&request, client.script().complete("tools/call", result)).await?;
    let outcome = opened.ok().await.map_err(Stop::while_preparing)?;
    if opened.takes_steps().is_ok() {
        let seen = &outcome["content"][0]["text"];
        ensure!(*seen == text, format!("the text `{text}` in the client's outcome"), "`{outcome}`");
    }
    Ok(())
}
