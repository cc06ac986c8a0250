//! Mutants of the checks in `acp_agent/remote/streams.rs`.

use crate::acp_agent::remote::streams::PROMPT;
use crate::fault::{Fault, Incoming};
use crate::mutants::acp_agent::remote::basics::{opens_connection_stream, opens_session_stream};
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "HT-11" => [
        "answers prompts on the stream of the connection" => moves(|message| message["id"] == PROMPT),
        "sends updates on the stream of the connection" => moves(|message| message["method"] == "session/update"),
        "sends updates on both streams" => repeats_updates(),
    ],
    "HT-12" => [
        "leaves the stream of the connection open" => stays_open(opens_connection_stream),
        "leaves the streams of sessions open" => stays_open(opens_session_stream),
    ],
];

/// Sends an update of a session on the stream of the connection, before the first response after that to `session/new`.
pub(crate) fn repeats_updates() -> Box<dyn Fault> {
    let mut session = Value::Null;
    faults::in_response_to(opens_connection_stream, move |incoming| {
        let message = faults::message_in(&incoming).unwrap_or_default();
        if message["result"]["sessionId"].is_string() {
            session = message["result"]["sessionId"].clone();
        } else if session.is_string() && message.get("id").is_some() {
            let update =
                json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hello"}});
            let params = json!({"sessionId": session, "update": update});
            let update = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
            return vec![Incoming::Forged(update), incoming];
        }
        vec![incoming]
    })
}

pub(crate) fn stays_open(accept: fn(&str) -> bool) -> Box<dyn Fault> {
    faults::in_response_to(accept, |incoming| match incoming {
        Incoming::StreamEnd { .. } => Vec::new(),
        other => vec![other],
    })
}

/// Sends messages of a session on the stream of the connection, before the next message there.
pub(crate) fn moves(accept: fn(&Value) -> bool) -> Box<dyn Fault> {
    let moved = Arc::new(Mutex::new(Vec::new()));
    let taken = Arc::clone(&moved);
    let takes = faults::in_response_to(opens_session_stream, move |incoming| {
        match faults::message_in(&incoming).filter(accept) {
            Some(message) => {
                taken.lock().unwrap_or_else(PoisonError::into_inner).push(Incoming::Forged(message));
                Vec::new()
            }
            None => vec![incoming],
        }
    });
    let adds = faults::in_response_to(opens_connection_stream, move |incoming| {
        let is_message = faults::message_in(&incoming).is_some();
        let mut moved = moved.lock().unwrap_or_else(PoisonError::into_inner);
        let more = if is_message { std::mem::take(&mut *moved) } else { Vec::new() };
        more.into_iter().chain([incoming]).collect()
    });
    faults::both(takes, adds)
}
