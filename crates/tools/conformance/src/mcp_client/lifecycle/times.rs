//! How long a client waits.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::check::{ANY, Check, STDIO, check};
use crate::mcp_client::McpClient;
use crate::mcp_client::opened::Opened;
use crate::subject::driver::StepId;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!(a_late_response_is_given_up, ANY),
    // Over HTTP the client closes the stream of the request.
    check!(a_late_response_is_cancelled, STDIO),
    check!(progress_does_not_extend_a_call_for_ever, ANY),
];

/// How long a call with progress may go on at least whose maximum is 1 s.
const LEAST_TIME: Duration = Duration::from_secs(4);

/// A call with a time limit that the server leaves unanswered.
async fn waiting(client: &McpClient, params: Value) -> Outcome<(Opened, StepId, Value)> {
    let mut opened = client.connected(client.script().leaves("tools/call")).await?;
    let (step, request) = call(&mut opened, params).await?;
    Ok((opened, step, request))
}

async fn call(opened: &mut Opened, params: Value) -> Outcome<(StepId, Value)> {
    let mut step = json!({"tool": "echo", "arguments": {"text": "one"}});
    for (name, value) in params.as_object().into_iter().flatten() {
        step[name] = value.clone();
    }
    let step = opened.then("call_tool", step).await?;
    let request = opened.server.call("tools/call").await.map_err(Stop::while_preparing)?;
    Ok((step, request))
}

async fn a_late_response_is_given_up(client: McpClient) -> Outcome {
    let (mut opened, step, request) = waiting(&client, json!({"timeout_ms": 300})).await?;
    let outcome = opened.outcome(step).await?;
    let what = format!("an error of the call whose request {} stays unanswered", request["id"]);
    ensure!(outcome.get("error").is_some(), what, "`{outcome}`");
    Ok(())
}

async fn a_late_response_is_cancelled(client: McpClient) -> Outcome {
    let (mut opened, step, request) = waiting(&client, json!({"timeout_ms": 300})).await?;
    // A client that waits for ever breaks another requirement.
    opened.error_of(step).await.map_err(Stop::while_preparing)?;
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
    let (mut opened, plain, _) = waiting(&client, json!({"timeout_ms": 300})).await?;
    opened.error_of(plain).await.map_err(Stop::while_preparing)?;
    let (step, request) = call(&mut opened, limits).await?;
    let token = request["params"]["_meta"]["progressToken"].clone();
    if token.is_null() {
        return Err(Stop::not_applicable("the client asks for no progress"));
    }
    let begun = Instant::now();
    let time = client.setting.wait.max(LEAST_TIME);
    for progress in 1.. {
        let outcome = opened.played.driver.outcome(step, Duration::from_millis(150)).await;
        if opened.played.driver.has_ended() {
            return Err(Stop::inconclusive("the client ended during the call"));
        }
        if let Ok(outcome) = outcome {
            if outcome.get("error").is_none() {
                return Err(Stop::inconclusive(format!("the call ended without a response as `{outcome}`")));
            }
            return Ok(());
        }
        if begun.elapsed() > time {
            break;
        }
        let report = json!({"progressToken": token, "progress": progress});
        opened.server.notify("notifications/progress", report).await.map_err(Stop::while_preparing)?;
    }
    let expected = "an end of the call after 1 s, the maximum that the step sets, regardless of progress";
    Err(Stop::failed(expected, format!("it goes on after {} ms of progress", begun.elapsed().as_millis())))
}
