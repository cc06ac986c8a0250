//! Checks of agents: notices and compactions.

use serde_json::{Value, json};

use super::Agent;
use super::initialization::plays_without;
use super::turn::update_in;
use crate::check::{ANY, Check, check};
use crate::faults;
use crate::verdict::Outcome;

pub(super) const CHECKS: &[Check<Agent>] = &[
    check!("NOT-01", notices_need_the_capability, ANY, [
        "sends them to everyone" => sends(json!({"sessionUpdate": "notice", "severity": "info", "title": "A"})),
    ]),
    check!("CMP-01", compactions_need_the_capability, ANY, [
        "sends updates to everyone" => sends(json!({"sessionUpdate": "compaction_update", "compactionId": "a", "status": "completed"})),
        "sends chunks to everyone" => sends(json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "a", "content": {"type": "text", "text": "a"}})),
    ]),
];

fn sends(update: Value) -> Box<dyn crate::fault::Fault> {
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

async fn without(agent: &Agent, role: &str, begin: &str) -> Outcome {
    let mut set = super::capabilities(agent.revision());
    set["session"] = json!({});
    plays_without(agent, set, &[role], |message| {
        let update = update_in(message).and_then(|update| update["sessionUpdate"].as_str());
        update.is_some_and(|kind| kind.starts_with(begin))
    })
    .await
}

async fn notices_need_the_capability(agent: Agent) -> Outcome {
    without(&agent, "notice", "notice").await
}

async fn compactions_need_the_capability(agent: Agent) -> Outcome {
    without(&agent, "compaction", "compaction_").await
}
