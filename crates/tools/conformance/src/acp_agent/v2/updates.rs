//! Checks of agents: the updates and questions of version 2.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::acp_agent::Agent;
use crate::acp_agent::messages::is_absolute;
use crate::acp_agent::turn::content::is_base64;
use crate::acp_agent::turn::tool_calls::{permissions, there_is_something_to_choose};
use crate::acp_agent::turn::update_in;
use crate::check::{ANY, Check, audit, check};
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    audit!(background_work_is_announced, ANY),
    audit!(messages_have_ids, ANY),
    check!(chunks_share_the_id_of_their_message, ANY),
    audit!(paths_of_patches_are_absolute, ANY),
    audit!(output_is_base64, ANY),
    audit!(permissions_have_title_and_options, ANY),
    audit!(command_names_are_words, ANY),
];

/// The background work of a session, by the ids of its tool calls and terminals.
#[derive(Default)]
struct Background {
    announced: HashSet<Value>,
    ended: HashSet<Value>,
    listed: HashSet<Value>,
}

/// The id of the item that an update or an entry of a list is about: the name of its member, and the member.
fn item_of(value: &Value) -> Option<Value> {
    let name = ["toolCallId", "terminalId"].into_iter().find(|name| value[*name].is_string())?;
    Some(json!([name, value[name]]))
}

fn background_work_is_announced(_: &Agent, trace: &Trace) -> Outcome {
    let (mut sessions, mut found): (HashMap<String, Background>, _) = (HashMap::new(), false);
    for (from, message) in trace.exchanged() {
        if from == Sender::Suite {
            let session = message["params"]["sessionId"].to_string();
            match message["method"].as_str() {
                // Another connection.
                Some("initialize") => sessions.clear(),
                // Background work ends with its session, and nothing need be reported of that.
                Some("session/close") => {
                    if let Some(known) = sessions.get_mut(&session) {
                        known.listed.clear();
                    }
                }
                _ => {}
            }
            continue;
        }
        let known = sessions.entry(message["params"]["sessionId"].to_string()).or_default();
        // A permission request announces its tool call.
        known.announced.extend(message.pointer("/params/subject/toolCall").and_then(item_of));
        let Some(update) = update_in(&message) else { continue };
        if let Some(item) = item_of(update) {
            let is_final =
                ["completed", "failed", "cancelled"].iter().any(|status| update["status"] == *status);
            if is_final || update["exitStatus"].is_object() {
                known.ended.insert(item.clone());
            }
            known.announced.insert(item);
        }
        let Some(list) = update["background"].as_array() else { continue };
        found = true;
        let listed: HashSet<Value> = list.iter().filter_map(item_of).collect();
        let is_announced = listed.is_subset(&known.announced);
        ensure!(is_announced, "an update of background work before a state lists it", "`{message}`");
        let has_ended = known.listed.difference(&listed).all(|item| known.ended.contains(item));
        ensure!(has_ended, "the end of background work before a state's list omits it", "`{message}`");
        known.listed = listed;
    }
    if found { Ok(()) } else { Err(Stop::not_applicable("the agent reported no background work")) }
}

fn messages_have_ids(_: &Agent, trace: &Trace) -> Outcome {
    let kinds = ["user_message", "agent_message", "agent_thought"];
    let mut found = false;
    for message in trace.messages(Sender::Subject) {
        let kind =
            update_in(&message).and_then(|update| update["sessionUpdate"].as_str()).unwrap_or_default();
        if kinds.contains(&kind.trim_end_matches("_chunk")) {
            found = true;
            let id = &message["params"]["update"]["messageId"];
            ensure!(id.is_string(), "a `messageId` in each message update and chunk", "`{message}`");
        }
    }
    if found { Ok(()) } else { Err(Stop::not_applicable("the agent sent no messages")) }
}

async fn chunks_share_the_id_of_their_message(agent: Agent) -> Outcome {
    let (_, _, turn) = agent.played("chunks").await?;
    let ids: HashSet<&str> =
        turn.of_kind("agent_message_chunk").filter_map(|chunk| chunk["messageId"].as_str()).collect();
    ensure!(ids.len() <= 1, "one `messageId` for all chunks of one message", "{ids:?}");
    Ok(())
}

fn paths_of_patches_are_absolute(_: &Agent, trace: &Trace) -> Outcome {
    let mut found = false;
    for message in trace.messages(Sender::Subject) {
        let content = update_in(&message).map_or(&Value::Null, |update| &update["content"]);
        let items = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
        for diff in
            items.iter().filter(|item| item["type"] == "diff" && item["patch"]["format"] == "git_patch")
        {
            found = true;
            let changes = diff["changes"].as_array().map_or(&[][..], Vec::as_slice);
            let both =
                changes.iter().flat_map(|change| [change["oldPath"].as_str(), change["path"].as_str()]);
            let paths: Vec<&str> = both.flatten().collect();
            patch_matches(diff["patch"]["text"].as_str().unwrap_or_default(), &paths, &message)?;
        }
    }
    if found { Ok(()) } else { Err(Stop::not_applicable("the agent reported no Git patch")) }
}

/// The paths in a patch are those of the changes.
fn patch_matches(patch: &str, paths: &[&str], message: &Value) -> Outcome {
    let mut header = true;
    for line in patch.lines() {
        header = line.starts_with("diff --git ") || header && !line.starts_with("@@");
        let names = ["--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to "];
        let named = names.iter().find_map(|name| line.strip_prefix(name)).filter(|_| header);
        let Some(path) = named.map(|path| path.trim_end_matches('\t').trim_matches('"')) else { continue };
        // Git quotes unusual characters with backslashes.
        if named.is_some_and(|path| path.starts_with('"')) && path.contains('\\') {
            continue;
        }
        let is_known = path == "/dev/null" || is_absolute(path) && paths.contains(&path);
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
        let is_titled = request["params"]["title"].is_string();
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
