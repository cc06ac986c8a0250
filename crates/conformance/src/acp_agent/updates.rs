//! Checks of agents: notices and compactions.

use serde_json::{Value, json};

use super::Agent;
use super::initialization::plays_without;
use super::prompt::edits;
use super::turn::{is_update, update_in};
use crate::check::{ANY, Check, audit, check};
use crate::faults;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Agent>] = &[
    check!("NOT-01", notices_need_the_capability, ANY, [
        "sends them to everyone" => sends(json!({"sessionUpdate": "notice", "severity": "info", "title": "A"})),
    ]),
    check!("CMP-01", compactions_need_the_capability, ANY, [
        "sends updates to everyone" => sends(json!({"sessionUpdate": "compaction_update", "compactionId": "a", "status": "completed"})),
        "sends chunks to everyone" => sends(json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "a", "content": {"type": "text", "text": "a"}})),
    ]),
    audit!("CMP-02", compactions_are_sound, ANY, [
        "leaves out the id" => edits("compaction_update", |update| { update.remove("compactionId"); }),
        "sends a summary as text" => edits("compaction_update", |update| { update.insert("summary".into(), json!("all")); }),
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

fn compactions_are_sound(_: &Agent, trace: &Trace) -> Outcome {
    let mut found = false;
    for message in trace.messages(Sender::Subject) {
        if is_update(&message, "compaction_update") {
            found = true;
            let update = update_in(&message).unwrap_or(&Value::Null);
            let is_named = update["compactionId"].is_string() && update["status"].is_string();
            ensure!(is_named, "an id and a status in a compaction update", "`{message}`");
            let summary = update.get("summary").unwrap_or(&Value::Null);
            ensure!(summary.is_null() || summary.is_array(), "a list or null as the summary", "`{message}`");
        }
    }
    if found { Ok(()) } else { Err(Stop::not_applicable("the agent reported no compaction")) }
}
