//! Checks of servers: cancellation.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::Server;
use super::exchanges::{is_in_revision, messages};
use super::raw::{self, SILENCE, is_response, quick, still_works};
use crate::check::{ANY, Check, STDIO, audit, check};
use crate::conversation::Conversation;
use crate::fault::Fault;
use crate::faults;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Server>] = &[
    audit!("CAN-01", only_own_requests, ANY, [
        "cancels a request of its client" => cancels(|message| json!({"requestId": message["id"]})),
        "cancels what it never asked" => cancels(|_| json!({"requestId": "never"})),
    ]),
    check!("CAN-03", work_stops, ANY, [
        "ignores the cancelled notification" => faults::ignores("notifications/cancelled"),
        "answers a cancelled request with an error" => faults::says_at("notifications/cancelled", |message| vec![json!({
            "jsonrpc": "2.0", "id": message["params"]["requestId"], "error": {"code": -32800, "message": "cancelled"},
        })]),
        "stops waiting, but not the work" => works_on(),
    ]),
    check!("CAN-05", odd_cancels_are_ignored, ANY, [
        "answers what it cannot cancel" => faults::says_at("notifications/cancelled", |_| vec![
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32602, "message": "unknown request"}}),
        ]),
        "is unusable afterwards" => unusable(),
    ]),
    check!("CAN-07", cancel_and_response_cross, ANY, [
        "is unusable afterwards" => unusable(),
        "answers with an error about the request" => faults::says_at("notifications/cancelled", |_| vec![
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32602, "message": "unknown request"}}),
        ]),
    ]),
    check!("CAN-09", no_id_is_needed, ANY, [
        "answers a notification without an id" => faults::says_at("notifications/cancelled", |_| vec![
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32602, "message": "no requestId"}}),
        ]),
        "is unusable afterwards" => unusable(),
    ]),
    audit!("CAN-09b", cancels_have_an_id, ANY, [
        "says no id" => cancels(|_| json!({"reason": "enough"})),
        "says an id that is a number with a fraction" => cancels(|_| json!({"requestId": 1.5})),
    ]),
    audit!("CAN-10", only_subscriptions, ANY, [
        "cancels a call" => cancels(|message| json!({"requestId": message["id"]})),
    ]),
    check!("CAN-11", end_of_a_subscription, STDIO, [
        "ends subscriptions in silence" => faults::loses_response_to("subscriptions/listen"),
    ]),
];

/// Sends a cancelled notification as soon as its tools are listed.
fn cancels(mut params: impl FnMut(&Value) -> Value + Send + 'static) -> Box<dyn Fault> {
    faults::says_at("tools/list", move |message| {
        vec![json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params(message)})]
    })
}

/// Responds to nothing after a cancelled notification.
fn unusable() -> Box<dyn Fault> {
    let is_broken: Arc<AtomicBool> = Arc::default();
    let breaks = Arc::clone(&is_broken);
    let notes = faults::says_at("notifications/cancelled", move |_| {
        breaks.store(true, Ordering::Relaxed);
        Vec::new()
    });
    let loses = faults::each_response(move |message| {
        if is_broken.load(Ordering::Relaxed) {
            *message = Value::Null;
        }
    });
    faults::both(notes, loses)
}

/// Does not respond to a cancelled request, but goes on with it.
fn works_on() -> Box<dyn Fault> {
    let cancelled: Arc<Mutex<Vec<Value>>> = Arc::default();
    let ids = Arc::clone(&cancelled);
    let notes = faults::says_at("notifications/cancelled", move |message| {
        ids.lock().unwrap_or_else(PoisonError::into_inner).push(message["params"]["requestId"].clone());
        Vec::new()
    });
    let loses = faults::each_response(move |message| {
        if cancelled.lock().unwrap_or_else(PoisonError::into_inner).contains(&message["id"]) {
            *message = Value::Null;
        }
    });
    faults::both(faults::ignores("notifications/cancelled"), faults::both(notes, loses))
}

/// The server's cancelled notifications, each with what was said before.
fn cancelled(trace: &Trace) -> Vec<(Value, Vec<(Sender, Value)>)> {
    let all = messages(trace);
    let is_cancel = |(from, message): &(Sender, Value)| {
        *from == Sender::Subject && message["method"] == "notifications/cancelled"
    };
    let found = all.iter().enumerate().filter(|(_, message)| is_cancel(message));
    found.map(|(at, (_, message))| (message.clone(), all[..at].to_vec())).collect()
}

fn only_own_requests(_: &Server, trace: &Trace) -> Outcome {
    for (message, before) in cancelled(trace) {
        let id = &message["params"]["requestId"];
        let said = |from: Sender, is_request: bool| {
            before.iter().any(|(sender, message)| {
                *sender == from
                    && message.get("id") == Some(id)
                    && message.get("method").is_some() == is_request
            })
        };
        let is_open = said(Sender::Subject, true) && !said(Sender::Suite, false);
        ensure!(
            id.is_null() || is_open,
            "the id of a request of the server that is not answered yet",
            "`{message}`"
        );
    }
    Ok(())
}

fn cancels_have_an_id(_: &Server, trace: &Trace) -> Outcome {
    for (message, _) in cancelled(trace) {
        let id = &message["params"]["requestId"];
        let is_id = id.is_string() || id.is_i64() || id.is_u64();
        ensure!(is_id, "a `requestId` in each cancelled notification", "`{message}`");
    }
    Ok(())
}

fn only_subscriptions(server: &Server, trace: &Trace) -> Outcome {
    if !is_in_revision(server, trace) {
        return Ok(());
    }
    for (message, before) in cancelled(trace) {
        let id = &message["params"]["requestId"];
        let is_subscription = before.iter().any(|(sender, message)| {
            *sender == Sender::Suite
                && message.get("id") == Some(id)
                && message["method"] == "subscriptions/listen"
        });
        ensure!(is_subscription, "the id of a subscriptions/listen request", "`{message}`");
    }
    Ok(())
}

/// Calls the slow tool twice and cancels the first call; fails if that gets a response before the second one, or soon after it.
pub(super) async fn is_stopped(server: &Server, conversation: &mut Conversation, key: &str) -> Outcome {
    let cancelled = raw::tool_with_key(server, "slow", key)?;
    let other = raw::tool_with_key(server, "slow", &raw::unique()?)?;
    let id = conversation.start("tools/call", cancelled).await?;
    // A while later the call is under way, which a response to something else does not tell.
    let early = conversation.listen(SILENCE).await?;
    if early.iter().any(|arrived| arrived.message["id"] == id) {
        return Err(Stop::inconclusive("the tool of the role `slow` has answered already"));
    }
    let other = conversation.start("tools/call", other).await?;
    conversation.notify("notifications/cancelled", json!({"requestId": id, "reason": "conformance"})).await?;
    conversation.response(&other).await.map_err(Stop::while_preparing)?;
    let is_allowed = |message: &Value| message["id"] != id || !is_response(message);
    conversation.silence(SILENCE, "no response to a cancelled request", is_allowed).await
}

async fn work_stops(server: Server) -> Outcome {
    let key = raw::unique()?;
    server.tool("slow")?;
    let mut conversation = server.open().await?;
    is_stopped(&server, &mut conversation, &key).await?;
    raw::no_effect(&server, &mut conversation, &key).await
}

async fn ignores(server: &Server, conversation: &mut Conversation, params: Value) -> Outcome {
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    let forged = notification.clone();
    if raw::is_web(server) {
        let reaction = raw::react_to(conversation, &notification, 0).await?;
        // Over HTTP a server may refuse what is malformed, with an error that has no id.
        let is_well_formed = params["requestId"].is_i64() || params["requestId"].is_string();
        ensure!(
            reaction.messages.is_empty() || reaction.is_refused() && !is_well_formed,
            format!("no response to `{forged}`"),
            "{reaction}"
        );
        return Ok(());
    }
    conversation.send(&notification).await
}

async fn odd_cancels_are_ignored(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let done = conversation.start(quick(&server), json!({})).await?;
    conversation.response(&done).await.map_err(Stop::while_preparing)?;
    let of_no_request =
        [json!({"requestId": "unknown"}), json!({"requestId": 987_654}), json!({"requestId": done})];
    let malformed = [json!({"requestId": {}}), json!({"requestId": [1]}), json!({}), json!([])];
    for params in of_no_request.into_iter().chain(malformed) {
        ignores(&server, &mut conversation, params).await?;
    }
    still_works(&server, &mut conversation).await?;
    let is_allowed = |message: &Value| !is_response(message);
    conversation.silence(SILENCE, "no response to a cancelled notification", is_allowed).await
}

async fn cancel_and_response_cross(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    for at in 0..30 {
        let id = json!(format!("crossing-{at}"));
        conversation.start_as(id.clone(), quick(&server), json!({})).await?;
        conversation.notify("notifications/cancelled", json!({"requestId": id})).await?;
    }
    still_works(&server, &mut conversation).await?;
    let mut ids: Vec<Value> = Vec::new();
    for arrived in conversation.listen(SILENCE).await? {
        let id = &arrived.message["id"];
        if is_response(&arrived.message) {
            let is_one = id.as_str().is_some_and(|id| id.starts_with("crossing-")) && !ids.contains(id);
            ensure!(is_one, "at most one response to each request", "`{}`", arrived.message);
            ids.push(id.clone());
        }
    }
    Ok(())
}

async fn no_id_is_needed(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    ignores(&server, &mut conversation, json!({"reason": "conformance"})).await?;
    still_works(&server, &mut conversation).await?;
    let is_allowed = |message: &Value| !is_response(message);
    conversation.silence(SILENCE, "no response to a cancelled notification", is_allowed).await
}

/// The pages on cancellation and on subscriptions name different messages. Either will do.
async fn end_of_a_subscription(server: Server) -> Outcome {
    let tool = server.tool("end_subscriptions")?;
    let mut conversation = server.open().await?;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let id = conversation.start("subscriptions/listen", filter).await?;
    let acknowledged = conversation.call("notifications/subscriptions/acknowledged").await;
    acknowledged.map_err(Stop::while_preparing)?;
    conversation.ok("tools/call", tool).await.map_err(Stop::while_preparing)?;
    let expected = "a cancelled notification for the subscription, or its result";
    let ended = conversation.wanted(expected, |message| {
        is_response(message) && message["id"] == id
            || message["method"] == "notifications/cancelled" && message["params"]["requestId"] == id
    });
    let ended = ended.await?;
    ensure!(ended.get("error").is_none(), expected, "`{ended}`");
    Ok(())
}
