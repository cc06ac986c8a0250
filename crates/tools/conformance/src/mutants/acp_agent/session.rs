//! Mutants of the checks in `acp_agent/session/mod.rs`.

use crate::acp_agent::session::extra_root;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "SES-07" => [
        "forgets its own messages" => faults::both(
            faults::says_at("session/load", |_| Vec::new()),
            loses_after_load("agent_message_chunk"),
        ),
    ],
    "SES-19" => [
        "restores them" => faults::each_call("session/update", |m| if m["params"]["update"]["content"]["text"].is_string() {
            m["params"]["update"]["content"]["text"] = json!(extra_root());
        }),
    ],
];

pub(crate) fn loses_after_load(kind: &'static str) -> Box<dyn crate::fault::Fault> {
    let mut prompts = 0;
    faults::each_message(move |m| {
        prompts += usize::from(m["result"]["stopReason"].is_string());
        if prompts > 0 && m["params"]["update"]["sessionUpdate"] == kind {
            *m = Value::Null;
        }
    })
}
