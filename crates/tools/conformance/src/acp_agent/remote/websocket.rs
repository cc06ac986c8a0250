//! Checks of agents: ACP over WebSocket.

use std::time::Duration;

use serde_json::{Value, json};

use super::{is_response_to, unknown_method};
use crate::acp_agent::Agent;
use crate::check::{Check, WS, check};
use crate::link::Link;
use crate::verdict::{Outcome, Stop, ensure};

/// How long a check listens for what must not come.
const SILENCE: Duration = Duration::from_millis(250);

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[check!(messages_are_text_frames, WS)];

/// The id of the request in a binary frame.
pub(crate) const BINARY: &str = "conformance-binary";

async fn messages_are_text_frames(agent: Agent) -> Outcome {
    let mut conversation = agent.start().await?;
    let Link::WebSocket(socket) = &conversation.link else {
        return Err(Stop::inconclusive("this is not a WebSocket"));
    };
    let id = socket.head.as_ref().and_then(|head| head.header("acp-connection-id")).unwrap_or_default();
    ensure!(!id.is_empty(), "an `Acp-Connection-Id` in the response to the handshake", "none");
    let initialize = agent.initialize_message();
    conversation.send(&initialize).await?;
    let is_answer = |message: &Value| is_response_to(message, &initialize["id"]);
    conversation.wanted("the response to initialize in a text frame", is_answer).await?;
    if let Link::WebSocket(socket) = &mut conversation.link {
        socket.send_binary(&unknown_method(&json!(BINARY))).await?;
    }
    let id = json!("conformance-text");
    conversation.send(&unknown_method(&id)).await?;
    let what = "the response to a request in a text frame after a binary frame, which is ignored";
    conversation.wanted(what, |message| is_response_to(message, &id)).await?;
    let what = "no response to a request in a binary frame";
    conversation.silence(SILENCE, what, |message| !is_response_to(message, &json!(BINARY))).await
}
