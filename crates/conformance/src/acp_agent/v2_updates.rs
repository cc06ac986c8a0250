//! Checks of agents: the updates and questions of version 2.

use serde_json::{Value, json};

use super::Agent;
use super::content::is_base64;
use super::messages::is_absolute;
use super::prompt::edits;
use super::tool_calls::{permissions, there_is_something_to_choose, twice};
use super::turn::{is_update, update_in};
use crate::check::{ANY, Check, audit, check};
use crate::fault::Fault;
use crate::faults;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Agent>] = &[
    audit!("V2-34", background_work_is_announced, ANY, [
        "lists what was never announced" => edits("state_update", |update| {
            update.insert("background".into(), json!([{"type": "tool_call", "toolCallId": "never-announced"}]));
        }),
    ]),
    check!("V2-35", chunks_name_their_message, ANY, [
        "leaves the id out" => edits("agent_message_chunk", |update| { update.remove("messageId"); }),
        "uses a new id for each" => { let mut count = 0; faults::each_call("session/update", move |m| if is_update(m, "agent_message_chunk") {
            count += 1;
            m["params"]["update"]["messageId"] = json!(count.to_string());
        }) },
    ]),
    audit!("V2-38", paths_of_diffs_are_absolute, ANY, [
        "sends relative paths" => diff(json!([{"operation": "modify", "path": "a.txt"}]), Value::Null),
        "sends paths with a prefix" => diff(json!([{"operation": "modify", "path": "/a.txt"}]), json!("--- a/a.txt\n+++ b/a.txt\n")),
        "sends a patch of another file" => diff(json!([{"operation": "modify", "path": "/a.txt"}]), json!("--- /b.txt\n+++ /b.txt\n")),
    ]),
    audit!("V2-39", output_is_base64, ANY, [
        "sends text" => faults::each_call("session/update", |m| for place in ["/params/update/data", "/params/update/output/data"] {
            if let Some(data) = m.pointer_mut(place) { *data = json!("done!\n") }
        }),
    ]),
    audit!("V2-42", permissions_have_title_and_options, ANY, [
        "has no title" => faults::each_call("session/request_permission", |m| if let Some(params) = m["params"].as_object_mut() { params.remove("title"); }),
        "offers nothing" => faults::each_call("session/request_permission", |m| m["params"]["options"] = json!([])),
        "offers one option twice" => twice(),
    ]),
    audit!("V2-46", command_names_are_words, ANY, [
        "has spaces in a name" => faults::result_of("session/new", |result| result["availableCommands"] = json!([{"type": "command", "name": "a b", "description": "A"}])),
        "has one name twice" => faults::result_of("session/new", |result| result["availableCommands"] = json!([
            {"type": "command", "name": "a", "description": "A"}, {"type": "command", "name": "a", "description": "B"},
        ])),
    ]),
];
fn diff(changes: Value, patch: Value) -> Box<dyn Fault> {
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

fn background_work_is_announced(_: &Agent, trace: &Trace) -> Outcome {
    let (mut known, mut found) = (Vec::new(), false);
    for message in trace.messages(Sender::Subject) {
        let Some(update) = update_in(&message) else { continue };
        for item in update["background"].as_array().into_iter().flatten() {
            found = true;
            for name in ["toolCallId", "terminalId"] {
                let is_known = item.get(name).is_none_or(|id| known.contains(id));
                ensure!(is_known, "updates of background work before a state lists it", "`{message}`");
            }
        }
        known.extend(["toolCallId", "terminalId"].iter().filter_map(|name| update.get(*name).cloned()));
    }
    if found { Ok(()) } else { Err(Stop::not_applicable("the agent reported no background work")) }
}

async fn chunks_name_their_message(agent: Agent) -> Outcome {
    let role = if agent.setting.text("chunks").is_ok() { "chunks" } else { "say" };
    let (_, _, turn) = agent.played(role).await?;
    let mut ids: Vec<&str> = Vec::new();
    for chunk in turn.of_kind("agent_message_chunk") {
        let id = chunk["messageId"].as_str();
        ids.push(id.ok_or_else(|| Stop::failed("a `messageId` in each chunk", format!("`{chunk}`")))?);
    }
    ids.dedup();
    ensure!(role != "chunks" || ids.len() <= 1, "one id for all chunks of one message", "{ids:?}");
    Ok(())
}

fn paths_of_diffs_are_absolute(_: &Agent, trace: &Trace) -> Outcome {
    let mut found = false;
    for message in trace.messages(Sender::Subject) {
        let content = update_in(&message).and_then(|update| update["content"].as_array());
        for diff in content.into_iter().flatten().filter(|item| item["type"] == "diff") {
            found = true;
            let changes = diff["changes"].as_array().map_or(&[][..], Vec::as_slice);
            let paths: Vec<&str> = changes
                .iter()
                .flat_map(|change| [change["oldPath"].as_str(), change["path"].as_str()])
                .flatten()
                .collect();
            ensure!(
                !paths.is_empty() && paths.iter().all(|path| is_absolute(path)),
                "absolute paths in a diff",
                "`{message}`"
            );
            if diff["patch"]["format"] == "git_patch" {
                patch_matches(diff["patch"]["text"].as_str().unwrap_or_default(), &paths, &message)?;
            }
        }
    }
    if found { Ok(()) } else { Err(Stop::not_applicable("the agent reported no diff")) }
}

/// The paths in a patch are those of the changes.
fn patch_matches(patch: &str, paths: &[&str], message: &Value) -> Outcome {
    let mut header = true;
    for line in patch.lines() {
        header = line.starts_with("diff --git ") || header && !line.starts_with("@@");
        let named = line.strip_prefix("--- ").or_else(|| line.strip_prefix("+++ ")).filter(|_| header);
        let Some(path) = named.map(|path| path.trim_end_matches('\t').trim_matches('"')) else { continue };
        let is_known = path == "/dev/null" || paths.contains(&path);
        ensure!(
            is_known,
            "the paths of the changes in a patch, absolute and without a prefix",
            "`{line}` in `{message}`"
        );
    }
    Ok(())
}

fn output_is_base64(_: &Agent, trace: &Trace) -> Outcome {
    let mut found = false;
    for message in trace.messages(Sender::Subject) {
        let Some(update) = update_in(&message) else { continue };
        let data = match update["sessionUpdate"].as_str() {
            Some("terminal_output_chunk") => &update["data"],
            Some("terminal_update") if update["output"].is_object() => &update["output"]["data"],
            _ => continue,
        };
        found = true;
        ensure!(data.as_str().is_some_and(is_base64), "base64 as the output of a terminal", "`{message}`");
    }
    if found { Ok(()) } else { Err(Stop::not_applicable("the agent reported no output of a terminal")) }
}

fn permissions_have_title_and_options(agent: &Agent, trace: &Trace) -> Outcome {
    for request in permissions(trace)? {
        let is_titled = request["params"]["title"].as_str().is_some_and(|title| !title.is_empty());
        ensure!(is_titled, "a title in a permission request", "`{request}`");
    }
    there_is_something_to_choose(agent, trace)
}

fn command_names_are_words(_: &Agent, trace: &Trace) -> Outcome {
    let mut found = false;
    for message in trace.messages(Sender::Subject) {
        let lists = ["/result/availableCommands", "/params/update/availableCommands"];
        for commands in lists.iter().filter_map(|place| message.pointer(place)?.as_array()) {
            let mut known: Vec<&str> = Vec::new();
            for name in commands.iter().filter_map(|command| command["name"].as_str()) {
                found = true;
                ensure!(
                    !name.contains(char::is_whitespace),
                    "names of commands without spaces",
                    "`{message}`"
                );
                ensure!(!known.contains(&name), "one command of each name", "`{message}`");
                known.push(name);
            }
        }
    }
    if found { Ok(()) } else { Err(Stop::not_applicable("the agent has no commands")) }
}
