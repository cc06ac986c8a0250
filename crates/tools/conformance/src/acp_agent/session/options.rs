//! Checks of agents: modes and configuration options.

use serde_json::{Value, json};

use crate::acp_agent::turn::{is_update, update_in};
use crate::acp_agent::{Agent, capabilities};
use crate::check::{ANY, Check, audit, check};
use crate::conversation::Conversation;
use crate::requirements::revision::Revision;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(the_current_mode_is_listed, ANY),
    check!(the_mode_changes_while_a_prompt_runs, ANY),
    check!(mode_updates_name_the_mode, ANY),
    check!(booleans_need_the_capability, ANY),
    check!(options_have_a_value, ANY),
    check!(selections_have_a_listed_value, ANY),
    check!(setting_an_option_returns_all, ANY),
    audit!(updates_list_all_options, ANY),
    check!(modes_are_options_as_well, ANY),
    check!(unknown_options_and_values_fail, ANY),
];

/// A session with the result of `session/new`.
async fn created(agent: &Agent) -> Outcome<(Conversation, String, Value)> {
    let (mut conversation, _) = agent.open().await?;
    let response = conversation.request("session/new", agent.session_params()).await?;
    if response["error"]["code"] == -32000 {
        return Err(Stop::not_applicable("the agent begins no session without a login"));
    }
    let session = response.pointer("/result/sessionId").and_then(Value::as_str).map(str::to_owned);
    let session = session.ok_or_else(|| Stop::inconclusive(format!("session/new: `{response}`")))?;
    Ok((conversation, session, response["result"].clone()))
}

fn modes(created: &Value) -> Outcome<&Value> {
    let modes = created.get("modes").filter(|modes| modes.is_object());
    modes.ok_or_else(|| Stop::not_applicable("the agent has no modes"))
}

/// The ids of the modes.
fn mode_ids(modes: &Value) -> Vec<&str> {
    let all = modes["availableModes"].as_array().map_or(&[][..], Vec::as_slice);
    all.iter().filter_map(|mode| mode["id"].as_str()).collect()
}

pub(in crate::acp_agent) fn options(created: &Value) -> Outcome<&[Value]> {
    match created.get("configOptions").and_then(Value::as_array) {
        Some(options) if !options.is_empty() => Ok(options),
        _ => Err(Stop::not_applicable("the agent has no configuration options")),
    }
}

/// The id of an option.
pub(in crate::acp_agent) fn id_of(option: &Value) -> &Value {
    option.get("configId").unwrap_or(&option["id"])
}

/// The values of a selection, in groups or not.
fn values(option: &Value) -> Vec<&Value> {
    let all = option["options"].as_array().map_or(&[][..], Vec::as_slice);
    let flat = all.iter().flat_map(|item| match item["options"].as_array() {
        Some(group) => group.iter().collect(),
        None => vec![item],
    });
    flat.map(|item| &item["value"]).collect()
}

async fn the_current_mode_is_listed(agent: Agent) -> Outcome {
    let (_conversation, _, created) = created(&agent).await?;
    let modes = modes(&created)?;
    let current = modes["currentModeId"].as_str().unwrap_or_default();
    ensure!(mode_ids(modes).contains(&current), "one of the available modes as the current one", "`{modes}`");
    Ok(())
}

async fn the_mode_changes_while_a_prompt_runs(agent: Agent) -> Outcome {
    agent.setting.text("slow")?;
    let (mut conversation, session, created) = created(&agent).await?;
    // The current mode is set again, so that the prompt runs in the mode that the agent begins with.
    let params = json!({"sessionId": session, "modeId": modes(&created)?["currentModeId"]});
    let idle = conversation.ok("session/set_mode", params.clone()).await;
    idle.map_err(Stop::while_preparing)?;
    agent.begin_slow(&mut conversation, &session).await?;
    conversation.ok("session/set_mode", params).await?;
    agent.cancel(&mut conversation, &session).await
}

async fn mode_updates_name_the_mode(agent: Agent) -> Outcome {
    let (_, _, turn) = agent.played("change").await?;
    let mut updates = turn.of_kind("current_mode_update").peekable();
    if updates.peek().is_none() {
        return Err(Stop::not_applicable("the agent reported no change of its mode"));
    }
    for update in updates {
        ensure!(
            update["currentModeId"].is_string(),
            "`currentModeId` in a `current_mode_update`",
            "`{update}`"
        );
    }
    Ok(())
}

async fn booleans_need_the_capability(agent: Agent) -> Outcome {
    let mut set = capabilities(agent.revision());
    set["session"] = json!({});
    let (mut conversation, _) = agent.open_with(set).await?;
    agent.new_session(&mut conversation).await?;
    let created =
        conversation.ok("session/new", agent.session_params()).await.map_err(Stop::while_preparing)?;
    let all = created["configOptions"].as_array().map_or(&[][..], Vec::as_slice);
    let boolean = all.iter().find(|option| option["type"] == "boolean");
    let what = "no boolean options for a client without `session.configOptions.boolean`";
    ensure!(boolean.is_none(), what, "`{created}`");
    Ok(())
}

async fn options_have_a_value(agent: Agent) -> Outcome {
    let (_conversation, _, created) = created(&agent).await?;
    for option in options(&created)? {
        let current = &option["currentValue"];
        let is_sound = match option["type"].as_str() {
            Some("select") => current.is_string(),
            Some("boolean") => current.is_boolean(),
            _ => true,
        };
        ensure!(is_sound, "a current value of each option", "`{option}`");
    }
    Ok(())
}

async fn selections_have_a_listed_value(agent: Agent) -> Outcome {
    let (_conversation, _, created) = created(&agent).await?;
    // An option without a value is a matter of CFG-02.
    let selections = options(&created)?.iter().filter(|option| option["type"] == "select");
    for option in selections.filter(|option| option["currentValue"].is_string()) {
        let is_listed = values(option).contains(&&option["currentValue"]);
        ensure!(is_listed, "one of the listed values as the current value of a selection", "`{option}`");
    }
    Ok(())
}

/// The id of the first option that has another value, and that value and the current one.
fn other_value(options: &[Value]) -> Outcome<(Value, Value, Value)> {
    let found = options.iter().find_map(|option| match option["type"].as_str() {
        Some("select") => {
            let other = values(option).into_iter().find(|value| **value != option["currentValue"]);
            other.map(|other| (option, other.clone()))
        }
        Some("boolean") => option["currentValue"].as_bool().map(|value| (option, json!(!value))),
        _ => None,
    });
    let (option, value) = found.ok_or_else(|| Stop::not_applicable("no option has another value"))?;
    Ok((id_of(option).clone(), value, option["currentValue"].clone()))
}

/// The params that set an option.
pub(in crate::acp_agent) fn set_params(agent: &Agent, session: &str, id: &Value, value: &Value) -> Value {
    let mut params = json!({"sessionId": session, "configId": id, "value": value});
    if value.is_boolean() {
        params["type"] = json!("boolean");
    } else if agent.revision() == Revision::Acp2 {
        params["type"] = json!("id");
    }
    params
}

async fn setting_an_option_returns_all(agent: Agent) -> Outcome {
    let (mut conversation, session, created) = created(&agent).await?;
    let before = options(&created)?;
    let (id, other, current) = other_value(before)?;
    let mut listed = Vec::new();
    for value in [&other, &current] {
        let params = set_params(&agent, &session, &id, value);
        let set =
            conversation.ok("session/set_config_option", params).await.map_err(Stop::while_preparing)?;
        let options = set["configOptions"].as_array().cloned();
        listed = options.ok_or_else(|| Stop::failed("a list of all options", format!("`{set}`")))?;
        let is_set = |option: &Value| *id_of(option) == id && option["currentValue"] == *value;
        let what = format!("the value {value} of the option {id}, which was set");
        ensure!(listed.iter().any(is_set), what, "`{set}`");
    }
    // Other options may depend on a value, but with the first value the first options are back.
    for option in before {
        let is_there = listed.iter().any(|other| id_of(other) == id_of(option));
        ensure!(is_there, format!("the option {} in the result", id_of(option)), "`{}`", json!(listed));
    }
    Ok(())
}

fn updates_list_all_options(_: &Agent, trace: &Trace) -> Outcome {
    // All sessions of an agent have the same options as long as nothing is set.
    let (mut sizes, mut found) = (std::collections::HashMap::new(), false);
    for message in trace.messages(Sender::Subject) {
        if let (Some(id), Some(options)) =
            (message.pointer("/result/sessionId"), message.pointer("/result/configOptions"))
        {
            sizes.insert(id.to_string(), options.as_array().map_or(0, Vec::len));
        }
        if is_update(&message, "config_option_update") {
            found = true;
            let update = update_in(&message).unwrap_or(&Value::Null);
            let listed = update["configOptions"].as_array().map_or(0, Vec::len);
            let session = message["params"]["sessionId"].to_string();
            // A change may make more options, or fewer where one depends on another.
            let is_whole = listed > 1 || sizes.get(&session).is_none_or(|size| *size <= 1);
            ensure!(is_whole, "all options in a `config_option_update`", "`{message}`");
        }
    }
    if found { Ok(()) } else { Err(Stop::not_applicable("the agent reported no change of its options")) }
}

async fn modes_are_options_as_well(agent: Agent) -> Outcome {
    let (mut conversation, session, created) = created(&agent).await?;
    let modes = modes(&created)?;
    let shows_mode = |option: &&Value| option["category"] == "mode";
    let all = created["configOptions"].as_array().map_or(&[][..], Vec::as_slice);
    let option = all.iter().find(shows_mode);
    let option = option.ok_or_else(|| {
        Stop::failed("an option of the category `mode`, because the agent has modes", format!("`{created}`"))
    })?;
    let id = id_of(option).clone();
    let ids = mode_ids(modes);
    // The values of the option may have names of their own.
    if !ids.iter().all(|id| values(option).contains(&&json!(id))) {
        return Err(Stop::inconclusive(format!("the option's values are not the modes: `{created}`")));
    }
    ensure!(option["currentValue"] == modes["currentModeId"], "one mode in both places", "`{created}`");
    let Some(other) = ids.into_iter().find(|id| modes["currentModeId"] != **id) else { return Ok(()) };
    let params = json!({"sessionId": session, "modeId": other});
    conversation.ok("session/set_mode", params).await.map_err(Stop::while_preparing)?;
    let shows = |list: &Value| {
        let mut options = list.as_array().into_iter().flatten();
        options.any(|option| *id_of(option) == id && option["currentValue"] == *other)
    };
    let messages = conversation.listen(crate::acp_agent::connection::jsonrpc::SILENCE).await?;
    let mut updates = messages.iter().filter_map(|arrived| update_in(&arrived.message));
    if updates.any(|update| shows(&update["configOptions"])) {
        return Ok(());
    }
    // The change need not be reported, but shows in the list when another option keeps its value.
    let Some(kept) = all.iter().find(|option| *id_of(option) != id && option["type"] == "select") else {
        return Err(Stop::inconclusive("the agent has no other option and reported no change of this one"));
    };
    let params = set_params(&agent, &session, id_of(kept), &kept["currentValue"]);
    let set = conversation.ok("session/set_config_option", params).await.map_err(Stop::while_preparing)?;
    let what = format!("the mode {other}, which was set, in the option {id}");
    ensure!(shows(&set["configOptions"]), what, "`{set}`");
    Ok(())
}

async fn unknown_options_and_values_fail(agent: Agent) -> Outcome {
    let (mut conversation, session, created) = created(&agent).await?;
    let all = options(&created)?;
    let unknown = set_params(&agent, &session, &json!("conformance-unknown"), &json!("x"));
    conversation.error("session/set_config_option", unknown).await?;
    if let Some(option) = all.iter().find(|option| option["type"] == "select") {
        let params = set_params(&agent, &session, id_of(option), &json!("conformance-unknown"));
        conversation.error("session/set_config_option", params).await?;
    }
    Ok(())
}
