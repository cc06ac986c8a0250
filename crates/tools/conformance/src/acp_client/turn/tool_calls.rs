//! Tool calls and permissions.

use serde_json::{Value, json};

use crate::acp_client::AcpClient;
use crate::acp_client::run::permission;
use crate::check::{ANY, Check, check};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_client) const CHECKS: &[Check<AcpClient>] = &[
    check!(merges_tool_calls, ANY),
    check!(selects_an_offered_option, ANY),
    check!(accepts_unknown_kinds, ANY),
];

async fn merges_tool_calls(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    turn.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "call-1", "title": "Run a test", "status": "pending",
        "locations": [{"path": "/old"}]}),
    )
    .await?;
    turn.update(
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "locations": [{"path": "/new"}]}),
    )
    .await?;
    turn.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": "completed"}))
        .await?;
    let state = turn.state().await.map_err(Stop::while_preparing)?;
    let call = tool_call(&state, "call-1");
    ensure!(call["title"] == "Run a test", "a title that no update has changed", "`{call}`");
    ensure!(call["status"] == "completed", "the status of the latest update that has one", "`{call}`");
    let locations: Vec<&Value> =
        call["locations"].as_array().into_iter().flatten().map(|at| &at["path"]).collect();
    ensure!(locations == ["/new"], "the locations of the latest update that has them", "`{call}`");
    Ok(())
}

/// A tool call that the client knows.
pub(in crate::acp_client) fn tool_call(state: &Value, id: &str) -> Value {
    let calls = state["tool_calls"].as_array().into_iter().flatten();
    calls.into_iter().find(|call| call["toolCallId"] == id).cloned().unwrap_or_default()
}

async fn selects_an_offered_option(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    let asked = turn.ok("session/request_permission", permission(client.revision(), "call-1")).await;
    let outcome = &asked.map_err(Stop::while_preparing)?["outcome"];
    if outcome["outcome"] != "selected" {
        return Err(Stop::not_applicable(format!("the client selected no option: `{outcome}`")));
    }
    let is_offered = outcome["optionId"] == "option-no" || outcome["optionId"] == "option-yes";
    ensure!(is_offered, "one of the offered options", "`{outcome}`");
    Ok(())
}

async fn accepts_unknown_kinds(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    let asks = |call: &str, kind: &str| {
        let mut request = permission(client.revision(), call);
        request["subject"]["toolCall"]["kind"] = json!(kind);
        request
    };
    let plain = turn.ok("session/request_permission", asks("call-0", "other")).await;
    plain.map_err(Stop::while_preparing)?;
    turn.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "title": "Teleport",
        "kind": "teleport"}))
        .await?;
    turn.ok("session/request_permission", asks("call-1", "teleport")).await.map(drop)
}
