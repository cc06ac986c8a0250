//! Checks of servers: cancellation.

use std::time::Duration;

use serde_json::{Value, json};

use crate::check::{ANY, Check, STDIO, audit, check};
use crate::conversation::Conversation;
use crate::mcp_server::Server;
use crate::mcp_server::exchanges::{is_in_revision, messages};
use crate::mcp_server::raw::{self, Reaction, SILENCE, is_response, quick, still_works};
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    audit!(only_own_requests, ANY),
    check!(work_stops, ANY),
    check!(odd_cancels_are_ignored, ANY),
    check!(cancel_and_response_cross, ANY),
    audit!(cancels_have_an_id, ANY),
    audit!(only_subscriptions, ANY),
    check!(end_of_a_subscription, STDIO),
];

/// The server's cancelled notifications.
fn cancelled(trace: &Trace) -> Vec<Value> {
    let mut messages = trace.messages(Sender::Subject);
    messages.retain(|message| message["method"] == "notifications/cancelled");
    messages
}

/// Whether someone has sent a request with an id.
fn has_sent(trace: &Trace, from: Sender, id: &Value, accept: impl Fn(&Value) -> bool) -> bool {
    let is_it = |message: &Value| message.get("id") == Some(id) && accept(&message["method"]);
    messages(trace).iter().any(|(sender, message)| *sender == from && is_it(message))
}

/// The suite cannot see that the server considers its request unanswered: the response may be under way.
fn only_own_requests(_: &Server, trace: &Trace) -> Outcome {
    for message in cancelled(trace) {
        let id = &message["params"]["requestId"];
        ensure!(
            id.is_null() || has_sent(trace, Sender::Subject, id, Value::is_string),
            "the id of a request of the server in its cancelled notification",
            "`{message}`"
        );
    }
    Ok(())
}

fn cancels_have_an_id(_: &Server, trace: &Trace) -> Outcome {
    for message in cancelled(trace) {
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
    for message in cancelled(trace) {
        let id = &message["params"]["requestId"];
        let is_listen = |method: &Value| method == "subscriptions/listen";
        ensure!(
            id.is_null() || has_sent(trace, Sender::Suite, id, is_listen),
            "the id of a subscriptions/listen request in the server's cancelled notification",
            "`{message}`"
        );
    }
    Ok(())
}

/// Calls the slow tool twice and cancels the first call; fails if that gets a response before the second one, or soon after it.
/// A result may have been under way already while the server has not answered what the suite sent after the cancellation.
pub(in crate::mcp_server) async fn is_stopped(
    server: &Server,
    conversation: &mut Conversation,
    key: &str,
) -> Outcome {
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
    still_works(server, conversation).await.map_err(Stop::while_preparing)?;
    if conversation.queued().any(|message| message["id"] == id && message.get("result").is_some()) {
        return Err(Stop::inconclusive("the tool of the role `slow` ended when its call was cancelled"));
    }
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

/// Sends a cancelled notification. Over HTTP a server may refuse it, and the reaction has the messages in return.
async fn cancel(server: &Server, conversation: &mut Conversation, params: Value) -> Outcome<Reaction> {
    if raw::is_web(server) && !server.revision().is_legacy() {
        let why = "clients send no cancelled notifications over Streamable HTTP in this revision";
        return Err(Stop::not_applicable(why));
    }
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    raw::react_to(conversation, &notification, 0).await
}

async fn odd_cancels_are_ignored(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let done = conversation.start(quick(&server), json!({})).await?;
    conversation.response(&done).await.map_err(Stop::while_preparing)?;
    let what = "no response to a cancelled notification that names no open request";
    for id in [json!("unknown"), json!(987_654), done] {
        let reaction = cancel(&server, &mut conversation, json!({"requestId": id})).await?;
        ensure!(reaction.messages.is_empty(), what, "{reaction}");
    }
    still_works(&server, &mut conversation).await?;
    conversation.silence(SILENCE, what, |message| !is_response(message)).await?;
    // Whether a malformed notification gets a response is the matter of RPC-11.
    for params in [json!({"requestId": {}}), json!({"requestId": [1]}), json!({}), json!([])] {
        cancel(&server, &mut conversation, params).await?;
    }
    still_works(&server, &mut conversation).await
}

/// The pauses between a request and its cancellation differ, so that messages cross at several places.
async fn cancel_and_response_cross(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let done = conversation.start(quick(&server), json!({})).await?;
    conversation.response(&done).await.map_err(Stop::while_preparing)?;
    // A server that cannot bear any cancellation breaks CAN-05.
    let mut responses = cancel(&server, &mut conversation, json!({"requestId": done})).await?.messages;
    still_works(&server, &mut conversation).await.map_err(Stop::while_preparing)?;
    for at in 0..60 {
        let id = json!(format!("crossing-{at}"));
        conversation.start_as(id.clone(), quick(&server), json!({})).await?;
        tokio::time::sleep(Duration::from_millis(at % 3)).await;
        responses.extend(cancel(&server, &mut conversation, json!({"requestId": id})).await?.messages);
    }
    still_works(&server, &mut conversation).await?;
    let arrived = conversation.listen(SILENCE).await?.into_iter().map(|arrived| arrived.message);
    responses.extend(arrived.filter(is_response));
    let mut ids: Vec<Value> = Vec::new();
    for response in responses.iter().filter(|response| !response["id"].is_null()) {
        let id = &response["id"];
        ensure!(!ids.contains(id), "at most one response to each request", "`{response}`");
        ids.push(id.clone());
    }
    Ok(())
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
