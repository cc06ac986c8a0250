//! Checks of agents: ACP over WebSocket.

use std::time::Duration;

use serde_json::{Value, json};

use super::{is_response_to, unknown_method};
use crate::acp_agent::Agent;
use crate::check::{Check, WS, check};
use crate::fault::{Fault, Incoming};
use crate::faults;
use crate::link::Link;
use crate::verdict::{Outcome, Stop, ensure};

/// How long a check listens for what must not come.
const SILENCE: Duration = Duration::from_millis(250);

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[check!("HT-14", messages_are_text_frames, WS, [
    "gives no connection id" => faults::each_head(|head| head.remove("acp-connection-id")),
    "sends binary frames" => sends_binary_frames(),
    "reads binary frames" => answers_binary_frames(),
    "ends at a binary frame" => ends_at_binary_frames(),
])];

/// The id of the request in a binary frame.
const BINARY: &str = "conformance-binary";

fn sends_binary_frames() -> Box<dyn Fault> {
    faults::incoming(|incoming| match incoming {
        Incoming::Frame { bytes, .. } => vec![Incoming::Frame { is_text: false, bytes }],
        other => vec![other],
    })
}

fn answers_binary_frames() -> Box<dyn Fault> {
    faults::says_at("_conformance/unknown", |request| {
        let error = json!({"code": -32601, "message": "method not found"});
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
        if request["id"] == BINARY { vec![answer] } else { Vec::new() }
    })
}

/// Answers nothing more after the first result.
fn ends_at_binary_frames() -> Box<dyn Fault> {
    let mut has_begun = false;
    faults::incoming(move |incoming| match incoming {
        Incoming::Frame { .. } if std::mem::replace(&mut has_begun, true) => vec![Incoming::Closed],
        other => vec![other],
    })
}

async fn messages_are_text_frames(agent: Agent) -> Outcome {
    let mut conversation = agent.start().await?;
    let Link::WebSocket(socket) = &conversation.link else {
        return Err(Stop::inconclusive("this is no WebSocket"));
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
