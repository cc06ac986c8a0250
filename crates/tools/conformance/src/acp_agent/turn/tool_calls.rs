//! Checks of agents: tool calls and permissions.

use std::collections::HashMap;

use serde_json::Value;

use crate::acp_agent::Agent;
use crate::acp_agent::messages::is_absolute;
use crate::acp_agent::turn::{Turn, update_in};
use crate::check::{ANY, Check, audit, check};
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(tools_are_reported, ANY),
    check!(call_ids_are_unique, ANY),
    audit!(updates_name_their_call, ANY),
    audit!(calls_go_forward, ANY),
    audit!(paths_of_calls_are_absolute, ANY),
    audit!(shown_terminals_exist, ANY),
    audit!(names_of_tools_are_text, ANY),
    audit!(there_is_something_to_choose, ANY),
];

async fn tools_are_reported(agent: Agent) -> Outcome {
    let (_, _, turn) = agent.played("tool").await?;
    let calls = turn.updates().filter(|update| update["toolCallId"].is_string()).count();
    ensure!(calls > 0, "a tool call", "no update of the prompt has a `toolCallId`");
    Ok(())
}

async fn call_ids_are_unique(agent: Agent) -> Outcome {
    let (mut conversation, session, first) = agent.played("tool").await?;
    let second = agent.play(&mut conversation, &session, "tool").await?;
    let has = |update: &Value, statuses: &[&str]| {
        update["status"].as_str().is_some_and(|status| statuses.contains(&status))
    };
    let ends = |update: &Value| has(update, &["completed", "failed", "cancelled"]);
    let begins =
        |update: &Value| update["sessionUpdate"] == "tool_call" || has(update, &["pending", "in_progress"]);
    let ids = |turn: &Turn, test: &dyn Fn(&Value) -> bool| -> Vec<String> {
        let calls = turn.updates().filter(|update| test(update));
        calls.filter_map(|update| update["toolCallId"].as_str().map(str::to_owned)).collect()
    };
    // A call may go on beside a later prompt, but one that has ended begins no second time.
    let (first, second) = (ids(&first, &ends), ids(&second, &begins));
    if first.is_empty() || second.is_empty() {
        return Err(Stop::inconclusive(
            "the prompt `tool` led to no tool call from its beginning to its end",
        ));
    }
    let shared = first.iter().find(|id| second.contains(id));
    ensure!(shared.is_none(), "ids that no other tool call of the session has", "{shared:?} again");
    Ok(())
}

/// The updates of tool calls, with their sessions.
fn calls(trace: &Trace) -> Outcome<Vec<(String, Value)>> {
    let mut found = Vec::new();
    for message in trace.messages(Sender::Subject) {
        let session = message.pointer("/params/sessionId").and_then(Value::as_str).unwrap_or_default();
        if let Some(update) = update_in(&message)
            && update["sessionUpdate"].as_str().is_some_and(|kind| kind.starts_with("tool_call"))
        {
            found.push((session.to_owned(), update.clone()));
        }
    }
    if found.is_empty() { Err(Stop::not_applicable("the agent reported no tool call")) } else { Ok(found) }
}

fn updates_name_their_call(_: &Agent, trace: &Trace) -> Outcome {
    for (_, update) in calls(trace)? {
        ensure!(
            update["toolCallId"].is_string(),
            "a `toolCallId` in each update of a tool call",
            "`{update}`"
        );
    }
    Ok(())
}

fn calls_go_forward(_: &Agent, trace: &Trace) -> Outcome {
    // A permission request may be the first report of its tool call.
    let requests: Vec<Value> = permissions(trace).unwrap_or_default();
    let asked = requests.iter().map(|request| &request["params"]);
    let asked: Vec<_> =
        asked.map(|params| (&params["sessionId"], &params["toolCall"]["toolCallId"])).collect();
    let rank = |status: &str| match status {
        "pending" => 0,
        "in_progress" => 1,
        _ => 2,
    };
    let mut known: HashMap<(String, String), String> = HashMap::new();
    for (session, update) in calls(trace)? {
        let Some(id) = update["toolCallId"].as_str() else { continue };
        let is_asked = asked.iter().any(|known| *known.0 == *session && *known.1 == *id);
        let key = (session, id.to_owned());
        if update["sessionUpdate"] == "tool_call" {
            known.insert(key, update["status"].as_str().unwrap_or("pending").to_owned());
            continue;
        }
        let before = known.get(&key);
        ensure!(
            before.is_some() || is_asked,
            "updates of tool calls that were reported before",
            "`{update}`"
        );
        let before = before.map_or("pending", String::as_str);
        if let Some(status) = update["status"].as_str() {
            let is_forward = rank(before) < 2 && rank(status) >= rank(before) || status == before;
            ensure!(is_forward, format!("a tool call goes on from `{before}`"), "`{update}`");
            known.insert(key, status.to_owned());
        }
    }
    Ok(())
}

fn paths_of_calls_are_absolute(_: &Agent, trace: &Trace) -> Outcome {
    for (_, update) in calls(trace)? {
        let items = [&update["locations"], &update["content"]];
        for item in items.into_iter().filter_map(Value::as_array).flatten() {
            // A diff of version 2 has several changes.
            let changes = item["changes"].as_array().into_iter().flatten();
            for path in changes.chain([item]).flat_map(|item| [&item["path"], &item["oldPath"]]) {
                let is_sound = path.as_str().is_none_or(is_absolute);
                ensure!(is_sound, "absolute paths in locations and diffs", "`{update}`");
            }
        }
    }
    Ok(())
}

fn shown_terminals_exist(_: &Agent, trace: &Trace) -> Outcome {
    let (mut created, mut pending, mut shown) = (Vec::new(), Vec::new(), Vec::new());
    for (from, message) in trace.exchanged() {
        match (from, message["method"].as_str()) {
            (Sender::Subject, Some("terminal/create")) => pending.push(message["id"].clone()),
            (Sender::Suite, None) if pending.contains(&message["id"]) => {
                created.push(message["result"]["terminalId"].clone());
            }
            (Sender::Subject, Some("terminal/release")) => {
                created.retain(|terminal| *terminal != message["params"]["terminalId"]);
            }
            (Sender::Subject, Some("session/update")) => {
                let content = message.pointer("/params/update/content").and_then(Value::as_array);
                for item in content.into_iter().flatten().filter(|item| item["type"] == "terminal") {
                    let terminal = &item["terminalId"];
                    // A client goes on to show a terminal that was released, so it may be named again.
                    let is_sound = created.contains(terminal) || shown.contains(terminal);
                    ensure!(is_sound, "a terminal that was created and is not yet released", "`{message}`");
                    shown.push(terminal.clone());
                }
            }
            _ => {}
        }
    }
    if shown.is_empty() { Err(Stop::not_applicable("the agent showed no terminal")) } else { Ok(()) }
}

fn names_of_tools_are_text(_: &Agent, trace: &Trace) -> Outcome {
    for (_, update) in calls(trace)? {
        let name = update.get("name").unwrap_or(&Value::Null);
        ensure!(name.is_null() || name.is_string(), "a string or null as the name of a tool", "`{update}`");
    }
    Ok(())
}

/// The permission requests of a run.
pub(in crate::acp_agent) fn permissions(trace: &Trace) -> Outcome<Vec<Value>> {
    let messages = trace.messages(Sender::Subject).into_iter();
    let found: Vec<_> =
        messages.filter(|message| message["method"] == "session/request_permission").collect();
    if found.is_empty() { Err(Stop::not_applicable("the agent asked for no permission")) } else { Ok(found) }
}

pub(in crate::acp_agent) fn there_is_something_to_choose(_: &Agent, trace: &Trace) -> Outcome {
    for request in permissions(trace)? {
        let options = request["params"]["options"].as_array().cloned().unwrap_or_default();
        ensure!(!options.is_empty(), "at least one option in a permission request", "`{request}`");
        let mut known: Vec<&Value> = Vec::new();
        for option in &options {
            let id = &option["optionId"];
            ensure!(id.is_string() && !known.contains(&id), "option ids that are unique", "`{request}`");
            known.push(id);
        }
    }
    Ok(())
}
