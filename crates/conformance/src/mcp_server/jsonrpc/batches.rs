//! Checks of servers: arrays of messages, which one revision has.

use serde_json::{Value, json};

use super::super::Server;
use super::super::raw::{self, Reaction, still_works};
use crate::check::{ANY, Check, check};
use crate::fault::Fault;
use crate::faults;
use crate::verdict::{Outcome, ensure};

pub(in super::super) const CHECKS: &[Check<Server>] = &[
    check!("RPC-21", batch_of_requests, ANY, [
        "answers all but one" => faults::loses_response_to("conformance/unknown"),
        "gives all responses one id" => faults::each_response(|m| if m["id"].is_string() { m["id"] = json!("first"); }),
    ]),
    check!("RPC-23", batch_without_requests, ANY, [
        "calls an empty array a parse error" => recodes(-32600, -32700),
        "calls an empty array its own fault" => recodes(-32600, -32603),
    ]),
    check!("RPC-24", batch_with_an_invalid_element, ANY, [
        "drops what is invalid" => faults::each_response(|m| if m["error"]["code"] == -32600 { *m = Value::Null; }),
        "answers nothing but the invalid element" => faults::loses_response_to("ping"),
    ]),
    check!("RPC-26", no_batches, ANY, [
        "calls an array a parse error" => recodes(-32600, -32700),
        "runs the elements" => faults::each_response(|m| if m["error"]["code"] == -32600 {
            *m = json!({"jsonrpc": "2.0", "id": "first", "result": {}});
        }),
    ]),
];

fn recodes(right: i64, wrong: i64) -> Box<dyn Fault> {
    faults::each_response(move |message| {
        if message["error"]["code"] == right {
            message["error"]["code"] = json!(wrong);
        }
    })
}

fn request(id: &str, method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method})
}

/// Fails unless there is exactly one response with each id.
fn has_each(reaction: &Reaction, ids: &[&str]) -> Outcome {
    for id in ids {
        let count = reaction.messages.iter().filter(|message| message["id"] == *id).count();
        ensure!(count == 1, format!("one response with the id {id:?}"), "{reaction}");
    }
    Ok(())
}

async fn batch_of_requests(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let batch =
        json!([request("first", "ping"), request("second", "conformance/unknown"), request("third", "ping")]);
    let reaction = raw::react_to(&mut conversation, &batch, 3).await?;
    has_each(&reaction, &["first", "second", "third"])?;
    ensure!(reaction.messages.len() == 3, "three responses to three requests", "{reaction}");
    Ok(())
}

async fn batch_without_requests(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    if raw::is_web(&server) {
        let batch = json!([
            {"jsonrpc": "2.0", "method": "notifications/conformance/unknown"},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "conformance"}},
        ]);
        let reaction = raw::react_to(&mut conversation, &batch, 0).await?;
        let is_accepted = reaction.status == Some(202) && reaction.messages.is_empty();
        ensure!(
            is_accepted && reaction.body.is_empty(),
            "the status 202 without a body for an array of notifications",
            "{reaction}"
        );
    }
    let reaction = raw::react_to(&mut conversation, &json!([]), 1).await?;
    reaction.has_error(-32600, "an empty array")?;
    still_works(&server, &mut conversation).await
}

async fn batch_with_an_invalid_element(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let batch = json!([request("first", "ping"), 1, {"conformance": true}, request("second", "ping")]);
    let reaction = raw::react_to(&mut conversation, &batch, 4).await?;
    has_each(&reaction, &["first", "second"])?;
    ensure!(
        reaction.codes() == [-32600, -32600],
        "error -32600 for each of the two elements that are no message",
        "{reaction}"
    );
    Ok(())
}

async fn no_batches(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let key = raw::unique()?;
    let mut batch = vec![raw::quick_message(&server, &json!("first"))];
    if let Ok(tool) = raw::tool_with_key(&server, "mark", &key) {
        batch.push(raw::message(&server, &json!("second"), "tools/call", tool));
    }
    let reaction = raw::react_to(&mut conversation, &Value::Array(batch), 1).await?;
    reaction.has_error(-32600, "an array")?;
    raw::no_effect(&server, &mut conversation, &key).await?;
    still_works(&server, &mut conversation).await
}
