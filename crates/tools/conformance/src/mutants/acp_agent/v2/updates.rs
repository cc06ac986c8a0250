//! Mutants of the checks in `acp_agent/v2/updates.rs`.

use crate::acp_agent::turn::is_update;
use crate::fault::{Fault, Incoming};
use crate::mutants::acp_agent::tool_calls::twice;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "V2-34" => [
        "drops what has not ended" => forgets_background_work(),
        "lists in a batch what was never announced" => faults::each_message(|m| if is_update(m, "state_update") {
            m["params"]["update"]["background"] = json!([{"type": "tool_call", "toolCallId": "never-announced"}]);
            *m = json!([m]);
        }),
    ],
    "V2-35b" => [
        "uses a new id for each" => { let mut count = 0; faults::each_call("session/update", move |m| if is_update(m, "agent_message_chunk") {
            count += 1;
            m["params"]["update"]["messageId"] = json!(count.to_string());
        }) },
    ],
    "V2-38" => [
        "sends paths with a prefix" => diff(json!([{"operation": "modify", "path": "/a.txt"}]), json!("--- a/a.txt\n+++ b/a.txt\n")),
        "sends a patch of another file" => diff(json!([{"operation": "modify", "path": "/a.txt"}]), json!("--- /b.txt\n+++ /b.txt\n")),
    ],
    "V2-42" => [
        "offers one option twice" => twice(),
    ],
];

/// Lists a tool call that goes on in one state, and none in the next.
pub(crate) fn forgets_background_work() -> Box<dyn Fault> {
    let mut count = 0;
    faults::incoming(move |incoming| {
        let Some(mut message) = faults::message_in(&incoming) else { return vec![incoming] };
        if !is_update(&message, "state_update") {
            return vec![incoming];
        }
        count += 1;
        let item = json!({"type": "tool_call", "toolCallId": "in-the-background"});
        let is_listed = count == 1;
        message["params"]["update"]["background"] = if is_listed { json!([item]) } else { json!([]) };
        let mut call = message.clone();
        call["params"]["update"] =
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "in-the-background"});
        let announced = is_listed.then_some(call);
        announced.into_iter().chain([message]).map(Incoming::Forged).collect()
    })
}

pub(crate) fn diff(changes: Value, patch: Value) -> Box<dyn Fault> {
    let mut item = json!({"type": "diff", "changes": changes});
    if patch.is_string() {
        item["patch"] = json!({"format": "git_patch", "text": patch});
    }
    faults::each_call("session/update", move |m| {
        if m["params"]["update"]["content"].is_array() && is_update(m, "tool_call_update") {
            m["params"]["update"]["content"] = json!([item]);
        }
    })
}
