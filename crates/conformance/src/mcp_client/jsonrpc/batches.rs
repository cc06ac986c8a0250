//! Arrays of messages, which only one revision has.

use serde_json::{Value, json};

use crate::check::{ANY, Check, STDIO, audit, check};
use crate::faults;
use crate::mcp_client::McpClient;
use crate::mcp_client::opened::QUIET;
use crate::trace::{Sender, Trace, message_of};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!("RPC-22", arrays_are_taken_apart, ANY, [
        "ignores the requests of an array" => faults::each_response(|m| *m = Value::Null),
        "ignores the responses of an array" => faults::steps_hang(),
    ]),
    audit!("RPC-25", initialize_travels_alone, ANY, [
        "sends initialize in an array" => faults::each_call("initialize", |m| *m = json!([m.take()])),
    ]),
    check!("RPC-26", arrays_are_refused, STDIO, [
        "answers the elements of an array" => faults::each_response(|m| {
            *m = json!({"jsonrpc": "2.0", "id": 901, "result": {}});
        }),
        "says nothing of an array" => faults::each_response(|m| *m = Value::Null),
        "gives up at an array" => faults::steps_fail(),
    ]),
    audit!("RPC-27", no_arrays_are_sent, ANY, [
        "sends arrays" => faults::each_call("tools/list", |m| *m = json!([m.take()])),
    ]),
];

async fn arrays_are_taken_apart(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    let result = client.script().result("tools/list");
    let array = json!([
        {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "one"}},
        {"jsonrpc": "2.0", "id": 901, "method": "ping"},
        {"jsonrpc": "2.0", "id": request["id"], "result": result},
    ]);
    opened.server.send(&array).await?;
    let pong = opened.server.response(&json!(901)).await?;
    ensure!(pong.get("result").is_some(), "a response to the ping of the array", "`{pong}`");
    opened.ok().await.map(drop)
}

/// The arrays that the client sent.
fn arrays(trace: &Trace) -> Vec<Value> {
    let events = trace.events();
    let messages = events.iter().filter(|event| event.from == Sender::Subject).filter_map(message_of);
    messages.filter(Value::is_array).collect()
}

fn initialize_travels_alone(_: &McpClient, trace: &Trace) -> Outcome {
    for array in arrays(trace) {
        let methods = array.as_array().into_iter().flatten().map(|message| &message["method"]);
        ensure!(
            !methods.into_iter().any(|method| method == "initialize"),
            "initialize in no array",
            "`{array}`"
        );
    }
    Ok(())
}

fn no_arrays_are_sent(_: &McpClient, trace: &Trace) -> Outcome {
    match arrays(trace).first() {
        Some(array) => Err(Stop::failed("no array of messages in this revision", format!("`{array}`"))),
        None => Ok(()),
    }
}

async fn arrays_are_refused(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    let ping = |id: i64| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    opened.server.send(&json!([ping(901), ping(902)])).await?;
    let what = "nothing that runs an element of an array";
    if client.revision().has_sessions() {
        let is_response = |message: &Value| message.get("method").is_none();
        let response = opened.server.wanted("an error -32600 about an array", is_response).await?;
        ensure!(response.get("result").is_none(), what, "`{response}` arrived");
        ensure!(response["error"]["code"] == -32600, "the code -32600", "`{response}`");
    }
    opened.server.silence(QUIET, what, |message| message.get("result").is_none()).await?;
    opened.release(&request).await.map(drop)
}
