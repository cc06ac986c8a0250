//! How long a client waits.

use std::time::Duration;

use serde_json::{Value, json};

use crate::check::{ANY, Check, check};
use crate::driver::StepId;
use crate::faults;
use crate::mcp_client::McpClient;
use crate::mcp_client::opened::Opened;
use crate::subject::Transport;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!("LIF-16", a_late_response_is_cancelled, ANY, [
        "waits for ever" => faults::later_steps_hang(),
        "tells the server nothing" => faults::loses_call("notifications/cancelled"),
        "cancels another request" => faults::each_call("notifications/cancelled", |m| m["params"]["requestId"] = json!("x")),
    ]),
    check!("LIF-17", a_late_response_is_given_up, ANY, [
        "waits for ever" => faults::later_steps_hang(),
        "takes silence for a result" => faults::steps_succeed(),
    ]),
    check!("CAN-12", a_late_response_is_cancelled, ANY, [
        "waits for ever" => faults::later_steps_hang(),
        "tells the server nothing" => faults::loses_call("notifications/cancelled"),
    ]),
    check!("LIF-19", progress_does_not_extend_a_call_for_ever, ANY, [
        "waits as long as there is progress" => faults::later_steps_hang(),
    ]),
];

/// A call with a time limit that the server leaves unanswered.
async fn waiting(client: &McpClient, params: Value) -> Outcome<(Opened, StepId, Value)> {
    let mut opened = client.connected(client.script().leaves("tools/call")).await?;
    let mut step = json!({"tool": "echo", "arguments": {"text": "one"}});
    for (name, value) in params.as_object().into_iter().flatten() {
        step[name] = value.clone();
    }
    let step = opened.then("call_tool", step).await?;
    let request = opened.server.call("tools/call").await.map_err(Stop::while_preparing)?;
    Ok((opened, step, request))
}

async fn a_late_response_is_given_up(client: McpClient) -> Outcome {
    let (mut opened, step, _) = waiting(&client, json!({"timeout_ms": 300})).await?;
    opened.error_of(step).await.map(drop)
}

async fn a_late_response_is_cancelled(client: McpClient) -> Outcome {
    let (mut opened, step, request) = waiting(&client, json!({"timeout_ms": 300})).await?;
    opened.error_of(step).await?;
    if !client.revision().has_sessions() && client.setting.transport != Transport::Stdio {
        // There the client closes the stream of the request.
        return Ok(());
    }
    let cancelled = opened.server.call("notifications/cancelled").await?;
    let named = &cancelled["params"]["requestId"];
    ensure!(
        *named == request["id"],
        format!("the id {} in notifications/cancelled", request["id"]),
        "`{cancelled}`"
    );
    Ok(())
}

async fn progress_does_not_extend_a_call_for_ever(client: McpClient) -> Outcome {
    let limits = json!({"timeout_ms": 400, "progress_maximum_ms": 1000, "progress": true});
    let (mut opened, step, request) = waiting(&client, limits).await?;
    let token = request["params"]["_meta"]["progressToken"].clone();
    if token.is_null() {
        return Err(Stop::not_applicable("the client asks for no progress"));
    }
    for progress in 1..=30 {
        let report = json!({"progressToken": token, "progress": progress});
        opened.server.notify("notifications/progress", report).await?;
        if opened.played.driver.outcome(step, Duration::from_millis(150)).await.is_ok() {
            return Ok(());
        }
    }
    Err(Stop::failed("an end of the call after 1 s", "it goes on after 4.5 s of progress"))
}
