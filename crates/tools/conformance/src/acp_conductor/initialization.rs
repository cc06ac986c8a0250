//! Checks of conductors: how they initialize their components.

use serde_json::{Value, json};

use super::Conductor;
use crate::acp_messages::{SUCCESSOR, greeting};
use crate::check::{Check, STDIO, check};
use crate::conversation::Conversation;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Conductor>] = &[check!(initializes_by_place, STDIO)];

async fn initializes_by_place(conductor: Conductor) -> Outcome {
    let mut components = conductor.start().await?;
    let mut proxy = components.proxy().await.map_err(Stop::while_preparing)?;
    let asked = initialized(&mut proxy, "proxy/initialize", "the proxy").await?;
    let envelope = json!({"method": "initialize", "params": asked["params"]});
    let _forwarded = proxy.start(SUCCESSOR, envelope).await?;
    let mut agent = components.agent().await.map_err(Stop::while_preparing)?;
    let request = initialized(&mut agent, "initialize", "the final agent").await?;
    agent.reply(&request, greeting(conductor.revision())).await
}

/// The first request of a component is that for its place in the chain.
async fn initialized(component: &mut Conversation, method: &str, name: &str) -> Outcome<Value> {
    let what = format!("the request `{method}` to {name}");
    let is_request = |message: &Value| message.get("method").is_some() && message.get("id").is_some();
    let request = component.wanted(&what, is_request).await?;
    ensure!(request["method"] == method, what, "`{request}`");
    Ok(request)
}
