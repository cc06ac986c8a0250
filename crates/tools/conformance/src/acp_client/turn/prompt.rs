//! Prompts, their cancellation, and plans.

use serde_json::{Value, json};

use crate::acp_client::AcpClient;
use crate::acp_client::run::{PromptTurn, QUIET, audited, permission};
use crate::check::{ANY, Check, audit, check};
use crate::requirements::revision::Revision;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_client) const CHECKS: &[Check<AcpClient>] = &[
    audit!(prompts_come_after_sessions, ANY),
    check!(sends_advertised_content, ANY),
    check!(cancels_permissions_with_the_prompt, ANY),
    check!(accepts_updates_after_cancelling, ANY),
    check!(answers_cancelled_requests, ANY),
    check!(ignores_stray_cancellations, ANY),
    check!(replaces_the_plan, ANY),
];

fn prompts_come_after_sessions(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    let (mut asked, mut is_open) = (Vec::new(), false);
    for (from, message) in trace.exchanged() {
        let method = message["method"].as_str().unwrap_or_default();
        if from == Sender::Suite {
            is_open |= asked.contains(&message["id"]) && message.get("result").is_some();
        } else if matches!(method, "session/new" | "session/load" | "session/resume" | "session/fork") {
            asked.push(message["id"].clone());
        } else if method == "session/prompt" {
            ensure!(is_open, "an open session before a prompt", "`{message}`");
        }
    }
    Ok(())
}

async fn sends_advertised_content(client: AcpClient) -> Outcome {
    let script = client.script().change("initialize", |greeting| {
        for pointer in ["/agentCapabilities/promptCapabilities", "/capabilities/session/prompt"] {
            if let Some(prompt) = greeting.pointer_mut(pointer) {
                *prompt = json!({});
            }
        }
    });
    let mut turn = client.prompted(script).await?;
    turn.end("end_turn").await.map_err(Stop::while_preparing)?;
    if turn.run.played.driver.takes_steps() {
        for block in [
            json!({"type": "image", "data": "AA==", "mimeType": "image/png"}),
            json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}),
            json!({"type": "resource", "resource": {"uri": "file:///a", "text": "a"}}),
        ] {
            turn.run.played.driver.start("prompt", json!({"blocks": [block]})).await?;
        }
        turn.run.agent.serve(QUIET).await?;
    }
    let prompts = turn.run.agent.queued().filter(|message| message["method"] == "session/prompt");
    for prompt in std::iter::once(&turn.prompt).chain(prompts) {
        for block in prompt["params"]["prompt"].as_array().into_iter().flatten() {
            let is_allowed = block["type"] == "text" || block["type"] == "resource_link";
            ensure!(
                is_allowed,
                "text and resource links alone, because the agent advertised no more",
                "`{block}`"
            );
        }
    }
    Ok(())
}

/// A turn in which the user leaves questions open. The check does not apply to clients that cannot do so.
pub(in crate::acp_client) async fn held(client: &AcpClient) -> Outcome<PromptTurn> {
    if !client.has_step("hold") {
        return Err(Stop::not_applicable("the client has no step `hold`"));
    }
    let mut turn = client.prompted(client.script()).await?;
    turn.run.attempt("hold", json!({})).await?;
    Ok(turn)
}

async fn cancels_permissions_with_the_prompt(client: AcpClient) -> Outcome {
    let mut turn = held(&client).await?;
    let revision = client.revision();
    let ids = [
        turn.start("session/request_permission", permission(revision, "call-1")).await?,
        turn.start("session/request_permission", permission(revision, "call-2")).await?,
    ];
    turn.run.agent.serve(QUIET).await?;
    is_open(&turn, &ids)?;
    turn.run.played.driver.start("cancel", json!({})).await?;
    turn.run.agent.call("session/cancel").await.map_err(Stop::while_preparing)?;
    for id in ids {
        let response = turn.run.agent.response(&id).await?;
        ensure!(
            response["result"]["outcome"]["outcome"] == "cancelled",
            "the outcome `cancelled` for a permission request of a prompt that the client cancels",
            "`{response}`"
        );
    }
    Ok(())
}

/// Fails with "inconclusive" if the client has answered one of its requests, which it was to hold.
fn is_open(turn: &PromptTurn, ids: &[Value]) -> Outcome {
    let is_answer = |message: &&Value| message.get("method").is_none() && ids.contains(&message["id"]);
    match turn.run.agent.queued().find(is_answer) {
        Some(answer) => Err(Stop::inconclusive(format!("the client did not hold its answer: `{answer}`"))),
        None => Ok(()),
    }
}

async fn accepts_updates_after_cancelling(client: AcpClient) -> Outcome {
    if !client.has_step("cancel") {
        return Err(Stop::not_applicable("the client has no step `cancel`"));
    }
    let mut turn = client.prompted(client.script()).await?;
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "call-1", "title": "Run"});
    if client.revision() == Revision::Acp1 {
        turn.update(call).await?;
    }
    turn.run.played.driver.start("cancel", json!({})).await?;
    turn.run.agent.call("session/cancel").await.map_err(Stop::while_preparing)?;
    // A client may end when its prompt is cancelled.
    turn.run.is_alive().await.map_err(Stop::while_preparing)?;
    turn.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": "failed"}))
        .await?;
    turn.run.is_alive().await
}

async fn answers_cancelled_requests(client: AcpClient) -> Outcome {
    let mut turn = held(&client).await?;
    let id = turn.start("session/request_permission", permission(client.revision(), "call-1")).await?;
    turn.run.agent.serve(QUIET).await?;
    is_open(&turn, std::slice::from_ref(&id))?;
    turn.run.agent.notify("$/cancel_request", json!({"requestId": id})).await?;
    let response = turn.run.agent.response(&id).await.map_err(|_| {
        Stop::not_applicable("the client does not support `$/cancel_request`, which is optional")
    })?;
    let is_right = response.get("result").is_some() || response["error"]["code"] == -32800;
    ensure!(
        is_right,
        "a result or an error with the code -32800 for a request that was cancelled",
        "`{response}`"
    );
    Ok(())
}

async fn ignores_stray_cancellations(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    let answered = turn.start("_conformance/answered", json!({})).await?;
    let agent = &mut turn.run.agent;
    agent.response(&answered).await.map_err(Stop::while_preparing)?;
    for id in [answered, json!("never-used"), json!(-7)] {
        agent.notify("$/cancel_request", json!({"requestId": id})).await?;
    }
    agent.notify("$/conformance", json!({})).await?;
    agent.silence(QUIET, "no response to a notification", |message| message.get("method").is_some()).await?;
    turn.run.is_alive().await
}

/// An update with a whole plan.
fn plan(revision: Revision, entries: &[&str]) -> Value {
    let entries: Vec<Value> = entries
        .iter()
        .map(|content| json!({"content": content, "priority": "medium", "status": "pending"}))
        .collect();
    if revision == Revision::Acp2 {
        return json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "plan-1", "entries": entries}});
    }
    json!({"sessionUpdate": "plan", "entries": entries})
}

async fn replaces_the_plan(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    turn.update(plan(client.revision(), &["first entry", "second entry"])).await?;
    turn.update(plan(client.revision(), &["third entry"])).await?;
    let state = turn.state().await.map_err(Stop::while_preparing)?;
    let text = state["plan"].to_string();
    let is_right =
        text.contains("third entry") && !text.contains("first entry") && !text.contains("second entry");
    ensure!(is_right, "the entries of the latest plan alone", "`{text}`");
    Ok(())
}
