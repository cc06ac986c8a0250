//! Checks of agents: initialization.

use serde_json::{Value, json};

use crate::acp_agent::{Agent, capabilities};
use crate::acp_messages::{is_below, is_count};
use crate::check::{ANY, Check, STDIO, check};
use crate::conversation::Conversation;
use crate::subject::Transport;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(the_result_has_a_version, ANY),
    check!(the_result_has_capabilities, ANY),
    check!(a_supported_version_is_repeated, ANY),
    check!(an_unsupported_version_is_answered_with_the_newest, ANY),
    check!(the_agent_names_itself, ANY),
    check!(malformed_versions_are_refused, ANY),
    check!(each_set_of_capabilities_works, ANY),
    check!(the_baseline_is_supported, ANY),
    check!(text_and_links_are_accepted, ANY),
    check!(requests_before_initialize_fail, STDIO),
];

async fn initialized(agent: &Agent) -> Outcome<Value> {
    let mut conversation = agent.start().await?;
    let result = conversation.ok("initialize", agent.initialize(capabilities(agent.revision()))).await;
    result.map_err(Stop::while_preparing)
}

async fn the_result_has_a_version(agent: Agent) -> Outcome {
    let result = initialized(&agent).await?;
    let is_number = is_count(&result["protocolVersion"]);
    ensure!(is_number, "an integer as the `protocolVersion` of the result of initialize", "`{result}`");
    Ok(())
}

async fn the_result_has_capabilities(agent: Agent) -> Outcome {
    let result = initialized(&agent).await?;
    let has_any = result["agentCapabilities"].is_object();
    ensure!(has_any, "`agentCapabilities` in the result of initialize", "`{result}`");
    Ok(())
}

/// An agent that answers another version names one that it supports.
async fn a_supported_version_is_repeated(agent: Agent) -> Outcome {
    let spoken = json!(agent.version());
    let answer = answered(&agent, agent.initialize(capabilities(agent.revision()))).await?;
    if answer == spoken {
        return Ok(());
    }
    let again = answered(&agent, params(&answer)).await?;
    let what = format!("version {answer}, which was requested and which the agent has named as its own");
    ensure!(again == answer, what, "version {again}");
    Err(Stop::not_applicable(format!("the agent does not support version {spoken}")))
}

/// The version with which the agent answers `initialize`.
async fn answered(agent: &Agent, params: Value) -> Outcome<Value> {
    let response = agent.start().await?.request("initialize", params).await.map_err(Stop::while_preparing)?;
    match response.pointer("/result/protocolVersion") {
        Some(version) => Ok(version.clone()),
        None if response["error"]["code"] == -32022 => {
            Err(Stop::not_applicable(format!("the agent does not support version {}", agent.version())))
        }
        None => Err(Stop::inconclusive(format!("initialize: `{response}`"))),
    }
}

/// Params that every version can read.
fn params(version: &Value) -> Value {
    let info = json!({"name": "conformance", "version": "1.0.0"});
    json!({
        "protocolVersion": version, "clientCapabilities": {}, "clientInfo": info, "capabilities": {}, "info": info,
    })
}

async fn an_unsupported_version_is_answered_with_the_newest(agent: Agent) -> Outcome {
    agent.open().await?;
    let result = agent.start().await?.ok("initialize", params(&json!(65535))).await?;
    let version = &result["protocolVersion"];
    let is_own = is_count(version) && is_below(version, 65535);
    ensure!(is_own, "the agent's newest version as the answer to version 65535", "`{result}`");
    Ok(())
}

async fn the_agent_names_itself(agent: Agent) -> Outcome {
    let result = initialized(&agent).await?;
    let info = &result["agentInfo"];
    let is_named = info["name"].is_string() && info["version"].is_string();
    ensure!(is_named, "`agentInfo` with a name and a version in the result of initialize", "`{result}`");
    Ok(())
}

async fn malformed_versions_are_refused(agent: Agent) -> Outcome {
    for version in [json!("1"), json!(1.5), json!(-1), json!(70000), Value::Null] {
        let mut conversation = running(&agent).await?;
        let error = conversation.error("initialize", params(&version)).await?;
        ensure!(error["code"] == -32602, format!("the code -32602 for the version {version}"), "`{error}`");
    }
    Ok(())
}

/// An agent that is not initialized. A program is known to run: it has answered a request that no agent knows.
async fn running(agent: &Agent) -> Outcome<Conversation> {
    let mut conversation = agent.start().await?;
    if agent.setting.transport == Transport::Stdio {
        let answered = conversation.request("_conformance/unknown", json!({})).await;
        answered.map_err(Stop::while_preparing)?;
    }
    Ok(conversation)
}

/// Plays roles for a client that lacks capabilities. No message may pass the test.
pub(in crate::acp_agent) async fn plays_without(
    agent: &Agent,
    capabilities: Value,
    roles: &[&str],
    is_forbidden: impl Fn(&Value) -> bool,
) -> Outcome {
    let roles: Vec<&str> = roles.iter().copied().filter(|role| agent.setting.text(role).is_ok()).collect();
    if roles.is_empty() {
        return Err(Stop::not_applicable("the profile has no prompt that needs the capability"));
    }
    let (mut conversation, _) = agent.open_with(capabilities.clone()).await?;
    let session = agent.new_session(&mut conversation).await?;
    for role in roles {
        let text = agent.setting.text(role)?;
        let turn = agent.turn(&mut conversation, &session, text).await.map_err(Stop::while_preparing)?;
        let sent = turn.messages.iter().chain(&conversation.asked);
        if let Some(message) = sent.into_iter().find(|message| is_forbidden(message)) {
            let what = format!("no use of what the client with the capabilities {capabilities} lacks");
            return Err(Stop::failed(what, format!("`{message}`")));
        }
    }
    Ok(())
}

async fn each_set_of_capabilities_works(agent: Agent) -> Outcome {
    let all = capabilities(agent.revision());
    agent.session().await?;
    let mut sets = vec![json!({})];
    for (name, value) in all.as_object().into_iter().flatten() {
        sets.push(json!({name.as_str(): value}));
        let mut rest = all.clone();
        if let Some(rest) = rest.as_object_mut() {
            rest.remove(name);
        }
        sets.push(rest);
    }
    for set in sets {
        let mut conversation = agent.start().await?;
        let what = format!("a session for a client with the capabilities {set}");
        for (method, params) in
            [("initialize", agent.initialize(set)), ("session/new", agent.session_params())]
        {
            let response = conversation.request(method, params).await?;
            ensure!(response.get("result").is_some(), &*what, "`{response}`");
        }
    }
    Ok(())
}

async fn the_baseline_is_supported(agent: Agent) -> Outcome {
    let text = agent.setting.text("say")?.to_owned();
    let (mut conversation, _) = agent.open().await?;
    let opened = conversation.request("session/new", agent.session_params()).await;
    let opened = opened.map_err(Stop::while_preparing)?;
    ensure!(opened["error"]["code"] != -32601, "session/new is supported", "`{opened}`");
    let session = agent.new_session(&mut conversation).await?;
    let turn = agent.turn(&mut conversation, &session, &text).await.map_err(Stop::while_preparing)?;
    let response = &turn.response;
    ensure!(response["error"]["code"] != -32601, "session/prompt is supported", "`{response}`");
    if response.get("error").is_some() {
        return Err(Stop::inconclusive(format!("the prompt `say` was answered with `{response}`")));
    }
    let updates = turn.updates().count();
    ensure!(updates > 0, "session/update while a prompt runs", "no update before `{response}`");
    Ok(())
}

async fn text_and_links_are_accepted(agent: Agent) -> Outcome {
    let text = agent.setting.text("say")?.to_owned();
    // PR-04 is about text.
    let (mut conversation, session, _) = agent.played("say").await?;
    accepts(&agent, &mut conversation, &session, &text, json!({
        "type": "resource_link", "name": "file.txt", "uri": "file:///tmp/file.txt", "mimeType": "text/plain",
    }))
    .await
}

/// The agent accepts a prompt of a text and another block.
pub(in crate::acp_agent) async fn accepts(
    agent: &Agent,
    conversation: &mut Conversation,
    session: &str,
    text: &str,
    block: Value,
) -> Outcome {
    let kind = block["type"].as_str().unwrap_or_default().to_owned();
    let mut params = agent.prompt(session, text);
    if let Some(blocks) = params["prompt"].as_array_mut() {
        blocks.push(block);
    }
    let id = conversation.start("session/prompt", params).await?;
    let turn = agent.finish(conversation, session, &id).await.map_err(Stop::while_preparing)?;
    let what = format!("a prompt with a block of the type {kind} is accepted");
    ensure!(turn.response.get("result").is_some(), what, "`{}`", turn.response);
    Ok(())
}

async fn requests_before_initialize_fail(agent: Agent) -> Outcome {
    let mut conversation = running(&agent).await?;
    conversation.error("session/new", agent.session_params()).await?;
    conversation.ok("initialize", agent.initialize(capabilities(agent.revision()))).await?;
    Ok(())
}
