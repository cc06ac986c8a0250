//! Mutants of the checks in `acp_agent/turn/updates.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "NOT-01" => [
        "sends them to everyone" => sends(json!({"sessionUpdate": "notice", "severity": "info", "title": "A"})),
    ],
    "CMP-01" => [
        "sends updates to everyone" => sends(json!({"sessionUpdate": "compaction_update", "compactionId": "a", "status": "completed"})),
        "sends chunks to everyone" => sends(json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "a", "content": {"type": "text", "text": "a"}})),
    ],
];

pub(crate) fn sends(update: Value) -> Box<dyn crate::fault::Fault> {
    let mut session = Value::Null;
    let mut update = Some(update);
    faults::each_message(move |m| {
        if m["result"]["sessionId"].is_string() {
            session = m["result"]["sessionId"].clone();
        }
        let is_text = m["params"]["update"]["sessionUpdate"] == "agent_message_chunk";
        if is_text && let Some(update) = update.take() {
            m["params"] = json!({"sessionId": session, "update": update});
        }
    })
}
