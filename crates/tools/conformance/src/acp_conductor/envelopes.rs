//! Checks of conductors: what is in `proxy/successor` reaches the neighbour, and the answer comes back.

use serde_json::{Value, json};

use super::Conductor;
use super::chain::Chain;
use crate::acp_messages::{Answer, SUCCESSOR, is_response, wraps};
use crate::check::{Check, STDIO, check};
use crate::conversation::Conversation;
use crate::verdict::{Outcome, ensure};

pub(super) const CHECKS: &[Check<Conductor>] = &[check!(an_envelope_holds_one_message, STDIO)];

fn params() -> Value {
    json!({"any": [1, "two", null], "_meta": {"example.com/any": 1}})
}

async fn an_envelope_holds_one_message(conductor: Conductor) -> Outcome {
    let Chain { mut proxy, mut agent, client: _client } = conductor.open().await?;
    for answer in Answer::several() {
        unwraps_for_the_agent(&mut proxy, &mut agent, &answer).await?;
        wraps_for_the_proxy(&mut proxy, &mut agent, &answer).await?;
    }
    proxy.notify(SUCCESSOR, json!({"method": "_conformance/note", "params": params()})).await?;
    let is_note = |message: &Value| message["method"] == "_conformance/note";
    let note = agent.wanted("the notification in the envelope", is_note).await?;
    ensure!(note.get("id").is_none() && note["params"] == params(), "the notification unchanged", "`{note}`");
    agent.notify("_conformance/note", params()).await?;
    let is_note = |message: &Value| wraps(message, "_conformance/note");
    let note = proxy.wanted("the agent's notification in `proxy/successor`", is_note).await?;
    let is_same = note.get("id").is_none() && note["params"]["params"] == params();
    ensure!(is_same, "the agent's notification unchanged in `proxy/successor`", "`{note}`");
    Ok(())
}

/// Sends a request in an envelope as the proxy, and answers it as the agent.
async fn unwraps_for_the_agent(
    proxy: &mut Conversation,
    agent: &mut Conversation,
    answer: &Answer,
) -> Outcome {
    let envelope = json!({"method": "_conformance/ask", "params": params(), "_meta": {"hop": 1}});
    let id = proxy.start(SUCCESSOR, envelope).await?;
    let accept = |message: &Value| message["method"] == "_conformance/ask" || message["method"] == SUCCESSOR;
    let passed = agent.wanted("the request in the envelope", accept).await?;
    let is_same = passed["method"] == "_conformance/ask" && passed["params"] == params();
    ensure!(is_same && passed.get("id").is_some(), "the request in the envelope, unchanged", "`{passed}`");
    agent.send(&answer.to(&passed)).await?;
    let response = proxy.response(&id).await?;
    ensure!(answer.is_in(&response), answer.expected(), "`{response}`");
    Ok(())
}

/// Sends a request as the agent, and answers its envelope as the proxy.
async fn wraps_for_the_proxy(proxy: &mut Conversation, agent: &mut Conversation, answer: &Answer) -> Outcome {
    let id = agent.start("_conformance/ask", params()).await?;
    let accept = |message: &Value| message["method"] == "_conformance/ask" || message["method"] == SUCCESSOR;
    let wrapped = proxy.wanted("the agent's request in `proxy/successor`", accept).await?;
    let is_same = wraps(&wrapped, "_conformance/ask") && wrapped["params"]["params"] == params();
    let what = "a request `proxy/successor` with the `method` and the `params` of the agent's request";
    ensure!(is_same && wrapped.get("id").is_some(), what, "`{wrapped}`");
    proxy.send(&answer.to(&wrapped)).await?;
    let accept = |message: &Value| is_response(message, &id);
    let response = agent.wanted("the proxy's answer to the agent's request", accept).await?;
    ensure!(answer.is_in(&response), answer.expected(), "`{response}`");
    Ok(())
}
