//! Checks of conductors: the cancellation of requests that pass them.

use std::time::Duration;

use serde_json::{Value, json};

use super::Conductor;
use super::chain::Chain;
use crate::acp_messages::{SUCCESSOR, wraps};
use crate::check::{Check, STDIO, check};
use crate::conversation::Conversation;
use crate::verdict::{Outcome, Stop, ensure};

/// How long a conductor may take to pass a cancellation on, which it need not do.
const CANCEL_TIME: Duration = Duration::from_millis(1500);

pub(super) const CHECKS: &[Check<Conductor>] = &[check!(translates_ids, STDIO)];

async fn translates_ids(conductor: Conductor) -> Outcome {
    let Chain { mut proxy, mut agent, client: _client } = conductor.open().await?;
    let envelope = json!({"method": "_conformance/ask", "params": {}});
    proxy.start_as(json!("of the proxy"), SUCCESSOR, envelope).await?;
    let known = agent.call("_conformance/ask").await.map_err(Stop::while_preparing)?;
    proxy.notify("$/cancel_request", json!({"requestId": "of the proxy"})).await?;
    let to_agent = is_cancelled(&mut agent, &known, "the agent").await?;

    agent.start_as(json!("of the agent"), "_conformance/ask", json!({})).await?;
    let is_asked = |message: &Value| wraps(message, "_conformance/ask");
    let known = proxy.wanted("the agent's request in `proxy/successor`", is_asked).await;
    let known = known.map_err(Stop::while_preparing)?;
    agent.notify("$/cancel_request", json!({"requestId": "of the agent"})).await?;
    let to_proxy = is_cancelled(&mut proxy, &known, "the proxy").await?;
    if to_agent || to_proxy {
        return Ok(());
    }
    Err(Stop::not_applicable("the conductor passes no cancellation on"))
}

/// Whether a cancellation arrives. It has to name the request as its receiver knows it.
async fn is_cancelled(at: &mut Conversation, known: &Value, receiver: &str) -> Outcome<bool> {
    let wait = at.wait();
    at.set_wait(CANCEL_TIME);
    let is_cancel =
        |message: &Value| message["method"] == "$/cancel_request" || wraps(message, "$/cancel_request");
    let cancel = at.wanted("`$/cancel_request`", is_cancel).await;
    at.set_wait(wait);
    let Ok(cancel) = cancel else { return Ok(false) };
    let params = &cancel["params"];
    let named = if wraps(&cancel, "$/cancel_request") { &params["params"] } else { params };
    let expected =
        format!("`$/cancel_request` with the id by which {receiver} knows the request, {}", known["id"]);
    ensure!(named["requestId"] == known["id"], expected, "`{cancel}`");
    Ok(true)
}
