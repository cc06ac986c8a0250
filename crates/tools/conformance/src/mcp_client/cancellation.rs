//! Checks of clients: cancellation.

use std::time::Duration;

use serde_json::{Value, json};

use super::McpClient;
use super::opened::{Opened, QUIET};
use crate::check::{ANY, Check, STDIO, audit, check};
use crate::subject::Transport;
use crate::subject::driver::StepId;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<McpClient>] = &[
    check!(only_open_requests, ANY),
    check!(the_open_request_is_cancelled, STDIO),
    check!(initialize_is_never_cancelled, ANY),
    check!(cancelled_questions_get_no_response, ANY),
    check!(meaningless_cancellations_are_ignored, ANY),
    audit!(cancellations_have_an_id, ANY),
    check!(late_responses_are_ignored, ANY),
    check!(crossing_messages_do_no_harm, ANY),
];

pub(crate) const CANCELLED: &str = "notifications/cancelled";

/// A call that the server leaves unanswered.
async fn calling(client: &McpClient) -> Outcome<(Opened, StepId, Value)> {
    let mut opened = client.connected(client.script().leaves("tools/call")).await?;
    let step = opened.then("call_tool", json!({"tool": "echo", "arguments": {"text": "one"}})).await?;
    let request = opened.server.call("tools/call").await.map_err(Stop::while_preparing)?;
    Ok((opened, step, request))
}

/// The client knows that the requests of its handshake and for its list of tools have been answered.
async fn only_open_requests(client: McpClient) -> Outcome {
    let (mut opened, step, _) = calling(&client).await?;
    opened.played.driver.cancel(step).await?;
    let cancelled = opened.server.call(CANCELLED).await.map_err(Stop::while_preparing)?;
    let is_named = |request: &Value| {
        request["id"] == cancelled["params"]["requestId"]
            && request["method"] != "initialize"
            && request["method"] != "tools/list"
    };
    ensure!(
        opened.server.asked.iter().any(is_named),
        format!("the id of an unanswered request of the client in {CANCELLED}"),
        "`{cancelled}`"
    );
    Ok(())
}

async fn the_open_request_is_cancelled(client: McpClient) -> Outcome {
    let (mut opened, step, request) = calling(&client).await?;
    opened.played.driver.cancel(step).await?;
    let cancelled = opened.server.call(CANCELLED).await?;
    let named = &cancelled["params"]["requestId"];
    ensure!(*named == request["id"], format!("the id {} in {CANCELLED}", request["id"]), "`{cancelled}`");
    Ok(())
}

async fn initialize_is_never_cancelled(client: McpClient) -> Outcome {
    let mut opened = client.open("list_tools", json!({}), client.script().leaves("initialize")).await?;
    let request = opened.server.call("initialize").await.map_err(Stop::while_preparing)?;
    if opened.takes_steps().is_ok() {
        opened.played.driver.cancel(opened.step).await?;
        opened.then("close", json!({})).await?;
    }
    opened.server.listen(QUIET).await?;
    for message in client.setting.trace.messages(Sender::Subject) {
        let is_of_it = message["method"] == CANCELLED && message["params"]["requestId"] == request["id"];
        ensure!(!is_of_it, "no cancellation of initialize", "`{message}`");
    }
    Ok(())
}

/// A question to a user takes a while; a client that answers at once has nothing to stop.
async fn cancelled_questions_get_no_response(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    let text = "Please wait.";
    let (method, params) = if opened.needs("elicitation").is_ok() {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        ("elicitation/create", json!({"message": text, "requestedSchema": schema}))
    } else {
        opened.needs("sampling")?;
        let message = json!({"role": "user", "content": {"type": "text", "text": text}});
        ("sampling/createMessage", json!({"messages": [message], "maxTokens": 10}))
    };
    let id = opened.server.start(method, params).await?;
    let is_response = |message: &Value| message.get("method").is_none() && message["id"] == id;
    // The client has seen the question when it has answered a ping after it.
    opened.server.ok("ping", json!({})).await.map_err(Stop::while_preparing)?;
    let early = opened.server.listen(Duration::from_secs(1)).await?;
    if early.iter().any(|arrived| is_response(&arrived.message)) {
        return Err(Stop::not_applicable("the client answers at once what a user is asked"));
    }
    opened.server.notify(CANCELLED, json!({"requestId": id, "reason": "no longer needed"})).await?;
    opened.server.ok("ping", json!({})).await.map_err(Stop::while_preparing)?;
    if opened.server.queued().any(|message| is_response(message) && message.get("result").is_some()) {
        return Err(Stop::inconclusive("the client answered when its request was cancelled"));
    }
    let what = "no response to a request that the server has cancelled";
    opened.server.silence(QUIET, what, |message| !is_response(message)).await?;
    opened.release(&request).await.map(drop).map_err(Stop::while_preparing)
}

async fn meaningless_cancellations_are_ignored(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    let mut all = vec![
        json!({"requestId": 99_999}),
        json!({"requestId": "nobody's"}),
        json!({"requestId": {"a": 1}}),
        json!({"reason": "no reason"}),
        json!([]),
    ];
    if client.revision().is_legacy() {
        let id = opened.server.start("ping", json!({})).await?;
        opened.server.response(&id).await.map_err(Stop::while_preparing)?;
        all.push(json!({"requestId": id}));
    }
    for params in all {
        opened.server.send(&json!({"jsonrpc": "2.0", "method": CANCELLED, "params": params})).await?;
    }
    opened.release(&request).await.map(drop)
}

fn cancellations_have_an_id(_: &McpClient, trace: &Trace) -> Outcome {
    let mut messages = trace.messages(Sender::Subject);
    messages.retain(|message| message["method"] == CANCELLED);
    if messages.is_empty() {
        return Err(Stop::not_applicable("the client cancelled nothing"));
    }
    for message in messages {
        let id = &message["params"]["requestId"];
        ensure!(id.is_string() || id.is_number(), format!("a requestId in {CANCELLED}"), "`{message}`");
    }
    Ok(())
}

/// Lists the tools once more, which shows that the client still works.
async fn list_again(opened: &mut Opened) -> Outcome {
    let step = opened.then("list_tools", json!({})).await?;
    opened.ok_of(step).await.map(drop)
}

async fn late_responses_are_ignored(client: McpClient) -> Outcome {
    let (mut opened, step, request) = calling(&client).await?;
    let cancel = opened.played.driver.cancel(step).await?;
    opened.outcome(cancel).await.map_err(Stop::while_preparing)?;
    if client.revision().is_legacy() || client.setting.transport == Transport::Stdio {
        opened.server.call(CANCELLED).await.map_err(Stop::while_preparing)?;
    }
    opened.server.reply(&request, client.script().result("tools/call")).await?;
    list_again(&mut opened).await
}

async fn crossing_messages_do_no_harm(client: McpClient) -> Outcome {
    let mut opened = client.connected(client.script().leaves("tools/call")).await?;
    for number in 0..20 {
        let step = opened
            .then("call_tool", json!({"tool": "echo", "arguments": {"text": number.to_string()}}))
            .await?;
        let request = opened.server.call("tools/call").await.map_err(Stop::while_preparing)?;
        opened.played.driver.cancel(step).await?;
        opened.server.reply(&request, client.script().result("tools/call")).await?;
        opened.outcome(step).await?;
    }
    list_again(&mut opened).await
}
