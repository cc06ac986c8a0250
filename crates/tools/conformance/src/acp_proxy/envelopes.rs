//! Checks of proxies: the form of `proxy/successor`, and the answers to it.

use serde_json::{Value, json};

use super::Proxy;
use crate::acp_messages::{Answer, SUCCESSOR, is_response, wraps};
use crate::check::{Check, STDIO, check};
use crate::conversation::Conversation;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Proxy>] = &[check!(an_envelope_holds_one_message, STDIO)];

async fn an_envelope_holds_one_message(proxy: Proxy) -> Outcome {
    let mut at = proxy.open().await?;
    wraps_one_message(&mut at).await?;
    for answer in Answer::several() {
        passes_the_answer(&mut at, &answer).await?;
    }
    Ok(())
}

/// A message that the proxy forwards. PX-03 is about a proxy that does not.
fn passed_on(message: Outcome<Value>) -> Outcome<Value> {
    let message = message.map_err(Stop::while_preparing)?;
    let is_passed = message.get("method").is_some();
    is_passed
        .then_some(message)
        .ok_or_else(|| Stop::inconclusive("the proxy answers unknown requests itself"))
}

/// Sends a request and a notification as the client.
async fn wraps_one_message(at: &mut Conversation) -> Outcome {
    let id = at.start("_conformance/ask", json!({"list": [1]})).await?;
    let accept = |message: &Value| is_response(message, &id) || message["method"] == SUCCESSOR;
    let wrapped = at.wanted("the client's request in `proxy/successor`", accept).await;
    let wrapped = passed_on(wrapped)?;
    let is_whole = wraps(&wrapped, "_conformance/ask") && wrapped["params"]["params"].is_object();
    ensure!(
        is_whole && wrapped.get("id").is_some(),
        "a request `proxy/successor` whose params have the `method` and the `params` of the client's request",
        "`{wrapped}`"
    );
    at.reply(&wrapped, json!({})).await?;
    at.notify("_conformance/note", json!({"list": [1]})).await?;
    let accept = |message: &Value| message["method"] == SUCCESSOR;
    let wrapped = at.wanted("the client's notification in `proxy/successor`", accept).await;
    let wrapped = passed_on(wrapped)?;
    ensure!(
        wraps(&wrapped, "_conformance/note") && wrapped.get("id").is_none(),
        "a notification `proxy/successor` with the `method` and the `params` of the client's notification",
        "`{wrapped}`"
    );
    Ok(())
}

/// Sends a request as the successor, and answers it as the client.
async fn passes_the_answer(at: &mut Conversation, answer: &Answer) -> Outcome {
    let id = at.start(SUCCESSOR, json!({"method": "_conformance/ask", "params": {}})).await?;
    let accept = |message: &Value| is_response(message, &id) || message["method"] == "_conformance/ask";
    let passed = passed_on(at.wanted("the successor's request for the client", accept).await)?;
    at.send(&answer.to(&passed)).await?;
    let response = at.response(&id).await?;
    ensure!(answer.is_in(&response), answer.expected(), "`{response}`");
    Ok(())
}
