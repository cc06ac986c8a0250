//! Arrays of messages, which only one revision has.

use serde_json::{Value, json};

use crate::check::{ANY, Check, STDIO, audit, check};
use crate::mcp_client::McpClient;
use crate::mcp_client::opened::QUIET;
use crate::trace::{Part, Sender, Trace, TraceEvent, message_of};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!(arrays_are_taken_apart, ANY),
    audit!(initialize_travels_alone, ANY),
    check!(arrays_are_not_run, STDIO),
    audit!(no_arrays_are_sent, STDIO),
];

fn ping(id: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

async fn arrays_are_taken_apart(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    opened.server.ok("ping", json!({})).await.map_err(Stop::while_preparing)?;
    let params = json!({"level": "info", "data": "one"});
    let message = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
    opened.server.send(&json!([message, ping(901), ping(902)])).await?;
    for id in [901, 902] {
        opened.server.response(&json!(id)).await?;
    }
    opened.release(&request).await.map(drop).map_err(Stop::while_preparing)
}

/// The arrays that the client sent.
fn arrays(trace: &Trace) -> Vec<Value> {
    let events = trace.events();
    let is_sent =
        |event: &&TraceEvent| event.from == Sender::Subject && matches!(event.what, Part::Line | Part::Body);
    events.iter().filter(is_sent).filter_map(message_of).filter(Value::is_array).collect()
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
        Some(array) => {
            Err(Stop::failed("each message on a line of its own, and no array", format!("`{array}`")))
        }
        None => Ok(()),
    }
}

async fn arrays_are_not_run(client: McpClient) -> Outcome {
    client.needs_sessions()?;
    let (mut opened, request) = client.held().await?;
    opened.server.send(&json!([ping(901), ping(902)])).await?;
    // The client reads the array before the list of tools.
    opened.release(&request).await.map_err(Stop::while_preparing)?;
    let what = "no result of an element of an array";
    opened.server.silence(QUIET, what, |message| message.get("result").is_none()).await
}
