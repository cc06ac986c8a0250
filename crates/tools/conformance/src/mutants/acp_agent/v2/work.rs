//! Mutants of the checks in `acp_agent/v2/work.rs`.

use crate::fault::{Fault, Incoming};
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "V2-30" => [
        "does not say so" => asks_for_action(),
    ],
];

/// Puts a message before or after each message that a test accepts.
pub(crate) fn beside(
    accept: fn(&Value) -> bool,
    is_after: bool,
    forge: impl Fn(&Value) -> Value + Send + 'static,
) -> Box<dyn Fault> {
    faults::incoming(move |incoming| {
        let Some(message) = faults::message_in(&incoming).filter(accept) else { return vec![incoming] };
        let forged = Incoming::Forged(forge(&message));
        if is_after { vec![incoming, forged] } else { vec![forged, incoming] }
    })
}

pub(crate) fn update_of(like: &Value, update: &Value) -> Value {
    let session = &like["params"]["sessionId"];
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}})
}

pub(crate) fn asks_for_action() -> Box<dyn Fault> {
    let state = json!({"sessionUpdate": "state_update", "state": "requires_action"});
    beside(
        |message| message["method"] == "session/request_permission",
        false,
        move |like| update_of(like, &state),
    )
}
