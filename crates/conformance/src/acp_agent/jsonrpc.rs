//! JSON-RPC as agents have to speak it.

use serde_json::json;

use super::Agent;
use crate::check::{Check, STDIO, check};
use crate::faults;
use crate::verdict::{Outcome, ensure};

pub(super) const CHECKS: &[Check<Agent>] = &[check!("RPC-04", unknown_methods_are_refused, STDIO, [
    "answers another code" => faults::each_response(|m| if m["error"]["code"] == -32601 { m["error"]["code"] = json!(-32603) }),
])];

async fn unknown_methods_are_refused(agent: Agent) -> Outcome {
    let (mut conversation, _) = agent.open().await?;
    for method in ["_conformance/unknown", "conformance/unknown"] {
        let error = conversation.error(method, json!({})).await?;
        ensure!(error["code"] == -32601, format!("the code -32601 for {method}"), "`{error}`");
    }
    Ok(())
}
