//! Input that is no message, and unknown members.

use serde_json::{Value, json};

use crate::check::{ANY, Check, STDIO, check};
use crate::faults;
use crate::mcp_client::McpClient;
use crate::mcp_client::opened::{Opened, QUIET};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!("RPC-13", text_is_refused, STDIO, [
        "gives up at a line that is no JSON" => faults::steps_fail(),
        "says nothing of a line that is no JSON" => faults::each_response(|m| *m = Value::Null),
        "answers with -32603" => faults::each_response(|m| m["error"]["code"] = json!(-32603)),
    ]),
    check!("RPC-14", other_values_are_refused, STDIO, [
        "gives up at a value that is no message" => faults::steps_fail(),
        "answers with -32603" => faults::each_response(|m| m["error"]["code"] = json!(-32603)),
    ]),
    check!("RPC-15", errors_without_an_id, STDIO, [
        "gives up at an error without an id" => faults::steps_fail(),
        "invents an id" => faults::each_response(|m| if m["id"].is_null() { m["id"] = json!(99) }),
    ]),
    check!("RPC-17", unknown_members_are_ignored, ANY, [
        "fails at unknown members" => faults::steps_fail(),
    ]),
    check!("RPC-20", text_outside_ascii_survives, ANY, [
        "sends question marks" => faults::each_call("tools/call", |m| m["params"]["arguments"]["text"] = json!("Gr??e ?")),
    ]),
    check!("STD-06", bad_lines_are_refused, STDIO, [
        "gives up at a bad line" => faults::steps_fail(),
        "answers with -32603" => faults::each_response(|m| m["error"]["code"] = json!(-32603)),
    ]),
];

/// Sends lines that are no messages; in a session, each gets an error with a code and without an id.
async fn refused(client: &McpClient, opened: &mut Opened, lines: &[&[u8]], code: i64) -> Outcome {
    for line in lines {
        opened.server.send_bytes(line).await?;
        if client.revision().has_sessions() {
            let what =
                format!("an error {code} about the line `{}`", String::from_utf8_lossy(line).trim_end());
            let response = opened.server.wanted(&what, |message| message.get("method").is_none()).await?;
            ensure!(response["error"]["code"] == code, what, "`{response}`");
            ensure!(response["id"].is_null(), "no id or a null id", "`{response}`");
        }
    }
    Ok(())
}

async fn text_is_refused(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    refused(&client, &mut opened, &[b"{\n", b"hello\n"], -32700).await?;
    opened.release(&request).await.map(drop)
}

async fn bad_lines_are_refused(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    refused(&client, &mut opened, &[b"this is no message\n", b"{\"jsonrpc\":\"2.0\",\n"], -32700).await?;
    opened.release(&request).await.map(drop)
}

async fn other_values_are_refused(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    refused(&client, &mut opened, &[b"1\n", b"\"x\"\n", b"{}\n"], -32600).await?;
    opened.release(&request).await.map(drop)
}

async fn errors_without_an_id(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    let error = json!({"code": -32700, "message": "a line could not be read"});
    opened.server.send(&json!({"jsonrpc": "2.0", "error": error})).await?;
    opened.server.send(&json!({"jsonrpc": "2.0", "id": null, "error": error})).await?;
    opened.server.send(&json!({"jsonrpc": "2.0", "id": {}, "method": "ping"})).await?;
    for arrived in opened.server.listen(QUIET).await? {
        let message = arrived.message;
        let is_response = message.get("method").is_none();
        ensure!(!is_response || message["id"].is_null(), "no id or a null id", "`{message}`");
    }
    opened.release(&request).await.map(drop)
}

async fn unknown_members_are_ignored(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    let mut result = client.script().result("tools/list");
    result["x"] = json!({"y": [1]});
    result["_meta"]["example.com/x"] = json!("y");
    result["tools"][0]["x"] = json!(1);
    result["tools"][0]["_meta"] = json!({"example.com/x": null});
    if client.revision().has_sessions() {
        opened.server.ok("ping", json!({"x": 1, "_meta": {"example.com/x": 1}})).await?;
    }
    let response = json!({"jsonrpc": "2.0", "id": request["id"], "result": result, "x": 1});
    opened.server.send(&response).await?;
    opened.ok().await.map(drop)
}

async fn text_outside_ascii_survives(client: McpClient) -> Outcome {
    let text = "Grüße 🦀\u{2028}\u{10FFFF}";
    let script = client.script().leaves("tools/call");
    let step = json!({"tool": "echo", "arguments": {"text": text}, "text": text});
    let mut opened = client.open("call_tool", step, script).await?;
    let request = opened.server.call("tools/call").await.map_err(Stop::while_preparing)?;
    let seen = &request["params"]["arguments"]["text"];
    ensure!(*seen == text, format!("the text `{text}`"), "`{seen}`");
    let result = json!({"content": [{"type": "text", "text": text}]});
    opened.server.reply(&request, client.script().complete("tools/call", result)).await?;
    let outcome = opened.ok().await?;
    if opened.takes_steps().is_ok() {
        let seen = &outcome["content"][0]["text"];
        ensure!(*seen == text, format!("the text `{text}` in the client's outcome"), "`{outcome}`");
    }
    Ok(())
}
