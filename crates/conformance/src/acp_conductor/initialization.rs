//! Checks of conductors: how they initialize their components.

use serde_json::{Value, json};

use super::Conductor;
use crate::acp_messages::{SUCCESSOR, greeting};
use crate::check::{Check, STDIO, check};
use crate::faults;
use crate::verdict::{Outcome, ensure};

pub(super) const CHECKS: &[Check<Conductor>] = &[check!("PX-01", initializes_by_place, STDIO, [
    "initializes a proxy as an agent" => faults::each_call("proxy/initialize", |message| message["method"] = json!("initialize")),
    "initializes the agent as a proxy" => faults::each_call("initialize", |message| message["method"] = json!("proxy/initialize")),
    "leaves out the params" => faults::each_call("proxy/initialize", |message| message["params"] = json!({})),
])];

async fn initializes_by_place(conductor: Conductor) -> Outcome {
    let mut components = conductor.start().await?;
    let mut proxy = components.proxy().await?;
    let asked = proxy.next().await?;
    is_initialize(&asked, "proxy/initialize", "a component with a successor")?;
    let envelope = json!({"method": "initialize", "params": asked["params"]});
    let _forwarded = proxy.start(SUCCESSOR, envelope).await?;
    let mut agent = components.agent().await?;
    let request = agent.next().await?;
    is_initialize(&request, "initialize", "the last agent")?;
    agent.reply(&request, greeting(conductor.revision())).await
}

/// Whether the first message to a component is the request for its place in the chain.
fn is_initialize(message: &Value, method: &str, component: &str) -> Outcome {
    let is_request = message["method"] == method && message.get("id").is_some();
    let expected = format!("a request `{method}` as the first message to {component}");
    ensure!(is_request, expected, "`{message}`");
    let has_version = message["params"]["protocolVersion"].is_u64();
    ensure!(has_version, format!("the params of `initialize` in `{method}`"), "`{message}`");
    Ok(())
}
