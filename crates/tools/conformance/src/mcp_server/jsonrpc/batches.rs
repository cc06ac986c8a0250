//! Checks of servers: arrays of messages, which one revision has.

use serde_json::{Value, json};

use super::super::Server;
use super::super::raw::{self, Reaction};
use super::{ready, responses_to};
use crate::check::{ANY, Check, HTTP, check};
use crate::conversation::Conversation;
use crate::conversation::shared::Open;
use crate::verdict::{Outcome, Stop, ensure};

pub(in super::super) const CHECKS: &[Check<Server>] = &[
    check!(batch_of_requests, ANY),
    check!(batch_without_requests, HTTP),
    check!(empty_batch, ANY),
    check!(batch_with_an_invalid_element, ANY),
    check!(no_batches, ANY),
];

fn ping(id: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

/// Fails unless there is exactly one response with each id.
fn has_each(reaction: &Reaction, ids: &[&str]) -> Outcome {
    for id in ids {
        let count = reaction.messages.iter().filter(|message| message["id"] == *id).count();
        ensure!(count == 1, format!("one response with the id {id:?}"), "{reaction}");
    }
    Ok(())
}

async fn are_answered(conversation: &mut Conversation) -> Outcome {
    let batch = json!([ping("first"), ping("second"), ping("third")]);
    let reaction = raw::react_to(conversation, &batch, 3).await?;
    has_each(&reaction, &["first", "second", "third"])
}

async fn batch_of_requests(server: Server) -> Outcome {
    let mut conversation = ready(&server).await?;
    are_answered(&mut conversation).await
}

/// A conversation with a server that takes arrays. RPC-21 is about one that does not.
async fn taking_batches(server: &Server) -> Outcome<Open> {
    let mut conversation = ready(server).await?;
    are_answered(&mut conversation).await.map_err(Stop::while_preparing)?;
    Ok(conversation)
}

async fn batch_without_requests(server: Server) -> Outcome {
    let mut conversation = taking_batches(&server).await?;
    let [one, two] = ["batch-1", "batch-2"].map(
        |id| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}),
    );
    let batch = json!([one, two]);
    let reaction = raw::react_to(&mut conversation, &batch, 0).await?;
    if reaction.status.is_some_and(|status| status >= 400) {
        return Err(Stop::not_applicable("the server does not accept these notifications"));
    }
    let is_empty = reaction.messages.is_empty() && reaction.body.is_empty();
    ensure!(
        reaction.status == Some(202) && is_empty,
        "the status 202 without a body for an array of notifications",
        "{reaction}"
    );
    Ok(())
}

async fn empty_batch(server: Server) -> Outcome {
    let mut conversation = taking_batches(&server).await?;
    let reaction = raw::react_to(&mut conversation, &json!([]), 1).await?;
    reaction.has_error(-32600, "an empty array")
}

async fn batch_with_an_invalid_element(server: Server) -> Outcome {
    let mut conversation = taking_batches(&server).await?;
    let batch = json!([ping("valid"), 1, {"conformance": true}, ping("too")]);
    let reaction = raw::react_to(&mut conversation, &batch, 4).await?;
    if reaction.is_refused() {
        // The page on transports allows no other bodies than arrays of messages.
        return Ok(());
    }
    has_each(&reaction, &["valid", "too"])?;
    ensure!(
        reaction.codes() == [-32600, -32600],
        "error -32600 for each of the two elements that are not messages",
        "{reaction}"
    );
    Ok(())
}

async fn no_batches(server: Server) -> Outcome {
    let mut conversation = ready(&server).await?;
    let key = raw::unique()?;
    let mut batch = vec![raw::quick_message(&server, &json!("first"))];
    if let Ok(tool) = raw::tool_with_key(&server, "mark", &key) {
        batch.push(raw::message(&server, &json!("second"), "tools/call", tool));
    }
    let batch = Value::from(batch).to_string();
    let reaction = responses_to(&server, &mut conversation, batch.as_bytes()).await?;
    let has_run = reaction.messages.iter().any(|message| message.get("result").is_some());
    ensure!(!has_run, "no result of an element of an array", "{reaction}");
    raw::no_effect(&server, &mut conversation, &key).await
}
