//! JSON-RPC as servers have to speak it.

use serde_json::{Value, json};

use super::Server;
use crate::check::{ANY, Check, audit, check};
use crate::faults;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, ensure};

pub(super) const CHECKS: &[Check<Server>] = &[
    audit!("RPC-01", version_on_every_message, ANY, [
        "leaves the version out of responses" => faults::each_response(|m| { m.as_object_mut().map(|m| m.remove("jsonrpc")); }),
    ]),
    check!("RPC-06", ids_keep_their_type, ANY, [
        "turns ids into strings" => faults::each_response(|m| if m["id"].is_number() { m["id"] = json!(m["id"].to_string()) }),
    ]),
];

fn version_on_every_message(_: &Server, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        let version = &message["jsonrpc"];
        ensure!(version == "2.0", "`\"jsonrpc\":\"2.0\"` on every message", "`{message}`");
    }
    Ok(())
}

async fn ids_keep_their_type(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    for id in [json!(0), json!(-1), json!("7"), json!(7), json!(""), json!(9_007_199_254_740_991_i64)] {
        conversation.start_as(id.clone(), "tools/list", json!({})).await?;
        let response = conversation.wanted("a response", |message| message.get("method").is_none()).await?;
        let seen: &Value = &response["id"];
        ensure!(*seen == id, format!("the id {id}"), "the id {seen}");
    }
    Ok(())
}
