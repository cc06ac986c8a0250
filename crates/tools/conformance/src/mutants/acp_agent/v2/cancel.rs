//! Mutants of the checks in `acp_agent/v2/cancel.rs`.

use crate::fault::{Fault, Incoming};
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "V2-31" => [
        "goes on afterwards" => goes_on_after_idle(),
    ],
    "V2-32" => [
        "waits" => Box::new(AtAnswer { held: Vec::new(), is_answered: false }),
    ],
    "V2-32b" => [
        "takes a late answer" => Box::new(AtAnswer { held: vec![late()], is_answered: true }),
    ],
];

/// Sends messages when the suite answers a request. Before that, it holds the end of work back.
pub(crate) struct AtAnswer {
    held: Vec<Value>,
    is_answered: bool,
}

impl Fault for AtAnswer {
    fn outgoing(&mut self, message: &Value, forged: &mut Vec<Value>) -> bool {
        if message.pointer("/result/outcome").is_some() {
            self.is_answered = true;
            forged.append(&mut self.held);
        }
        false
    }

    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        match faults::message_in(&incoming) {
            Some(message) if !self.is_answered && message["params"]["update"]["state"] == "idle" => {
                self.held.push(message);
                Vec::new()
            }
            _ => vec![incoming],
        }
    }
}

/// An update of work.
pub(crate) fn late() -> Value {
    let content = json!({"type": "text", "text": "late"});
    let update = json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": content});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}})
}

pub(crate) fn goes_on_after_idle() -> Box<dyn Fault> {
    faults::incoming(|incoming| {
        let is_idle = faults::message_in(&incoming).is_some_and(|m| m["params"]["update"]["state"] == "idle");
        std::iter::once(incoming).chain(is_idle.then(|| Incoming::Forged(late()))).collect()
    })
}
