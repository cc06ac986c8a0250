//! Checks of agents: initialization.

use serde_json::{Value, json};

use super::jsonrpc::works;
use super::{Agent, capabilities};
use crate::check::{ANY, Check, ORDERED, STDIO, check};
use crate::conversation::Conversation;
use crate::faults;
use crate::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Agent>] = &[
    check!("INIT-05", the_result_has_version_and_capabilities, ANY, [
        "leaves out the version" => without("protocolVersion"),
        "leaves out the capabilities" => without("agentCapabilities"),
    ]),
    check!("INIT-06", a_supported_version_is_repeated, ANY, [
        "answers another version" => faults::result_of("initialize", |result| result["protocolVersion"] = json!(3)),
    ]),
    check!("INIT-07", an_unsupported_version_is_answered_with_the_newest, ANY, [
        "echoes any version" => faults::result_of("initialize", |result| result["protocolVersion"] = json!(65535)),
        "refuses" => faults::response_to("initialize", |m| faults::refuse(m, -32602)),
    ]),
    check!("INIT-09", the_agent_names_itself, ANY, [
        "has no name" => without("agentInfo"),
        "has no version" => faults::result_of("initialize", |result| result["agentInfo"] = json!({"name": "a"})),
    ]),
    check!("INIT-10", malformed_versions_are_refused, ANY, [
        "takes anything" => faults::response_to("initialize", |m| faults::accept(m, json!({"protocolVersion": 1}))),
        "answers another code" => faults::response_to("initialize", |m| if m.get("error").is_some() { faults::refuse(m, -32603) }),
    ]),
    check!("INIT-12", absent_capabilities_are_not_used, ANY, [
        "uses what the client lacks" => faults::says_before_response_to("session/prompt", |_| {
            vec![json!({"jsonrpc": "2.0", "id": "a", "method": "elicitation/create", "params": {}})]
        }),
    ]),
    check!("INIT-13", each_set_of_capabilities_works, ANY, [
        "needs all of them" => faults::nth_response_to("session/new", 1, |m| faults::refuse(m, -32603)),
    ]),
    check!("INIT-15", features_are_stated, ANY, [
        "states nothing" => faults::result_of("initialize", |result| result["agentCapabilities"] = json!({})),
    ]),
    check!("INIT-16", the_baseline_is_supported, ANY, [
        "has no prompts" => faults::response_to("session/prompt", |m| faults::refuse(m, -32601)),
        "sends no updates" => faults::each_call("session/update", |m| *m = Value::Null),
    ]),
    check!("INIT-17", text_and_links_are_accepted, ANY, [
        "refuses links" => faults::response_to("session/prompt", |m| faults::refuse(m, -32602)),
    ]),
    check!("INIT-18", a_second_initialize_does_no_harm, ORDERED, [
        "is silent" => { let mut count = 0; faults::response_to("initialize", move |m| { count += 1; if count == 2 { *m = Value::Null } }) },
        "ends" => faults::loses_response_to("session/new"),
    ]),
    check!("INIT-19", requests_before_initialize_fail, STDIO, [
        "serves them" => faults::nth_response_to("session/new", 1, |m| faults::accept(m, json!({"sessionId": "a"}))),
        "ends" => faults::loses_response_to("initialize"),
    ]),
];

fn without(field: &'static str) -> Box<dyn crate::fault::Fault> {
    faults::result_of("initialize", move |result| {
        if let Some(result) = result.as_object_mut() {
            result.remove(field);
        }
    })
}

async fn initialized(agent: &Agent) -> Outcome<Value> {
    agent.start().await?.ok("initialize", agent.initialize(capabilities(agent.revision()))).await
}

async fn the_result_has_version_and_capabilities(agent: Agent) -> Outcome {
    let result = initialized(&agent).await?;
    let is_number = result["protocolVersion"].is_u64();
    ensure!(is_number, "an integer as the `protocolVersion` of the result of initialize", "`{result}`");
    ensure!(
        result["agentCapabilities"].is_object(),
        "`agentCapabilities` in the result of initialize",
        "`{result}`"
    );
    Ok(())
}

async fn a_supported_version_is_repeated(agent: Agent) -> Outcome {
    let response =
        agent.start().await?.request("initialize", agent.initialize(capabilities(agent.revision()))).await?;
    let version = agent.version();
    match response.pointer("/result/protocolVersion") {
        Some(answer) if *answer == json!(version) => Ok(()),
        Some(answer) if *answer == json!(1) => {
            Err(Stop::not_applicable(format!("the agent does not support version {version}")))
        }
        None if response["error"]["code"] == -32022 => {
            Err(Stop::not_applicable(format!("the agent does not support version {version}")))
        }
        _ => Err(Stop::failed(format!("version {version}, which was requested"), format!("`{response}`"))),
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
    let result = agent.start().await?.ok("initialize", params(&json!(65535))).await?;
    let version = &result["protocolVersion"];
    let is_own = version.as_u64().is_some_and(|version| version < 65535);
    ensure!(is_own, "the agent's newest version as the answer to version 65535", "`{result}`");
    let again = agent.start().await?.ok("initialize", params(version)).await?;
    let what = format!("version {version}, which the agent has named as its newest");
    ensure!(again["protocolVersion"] == *version, what, "`{again}`");
    let response = agent.start().await?.request("initialize", params(&json!(0))).await?;
    let is_echo = response.pointer("/result/protocolVersion") == Some(&json!(0));
    ensure!(!is_echo, "a version that the agent supports as the answer to version 0", "`{response}`");
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
        let mut conversation = agent.start().await?;
        let error = conversation.error("initialize", params(&version)).await?;
        ensure!(error["code"] == -32602, format!("the code -32602 for the version {version}"), "`{error}`");
    }
    Ok(())
}

/// Plays roles for a client that lacks capabilities. No message may pass the test.
pub(super) async fn plays_without(
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
        let turn = agent.turn(&mut conversation, &session, text).await?;
        let sent = turn.messages.iter().chain(&conversation.asked);
        if let Some(message) = sent.into_iter().find(|message| is_forbidden(message)) {
            let what = format!("no use of what the client with the capabilities {capabilities} lacks");
            return Err(Stop::failed(what, format!("`{message}`")));
        }
    }
    Ok(())
}

async fn absent_capabilities_are_not_used(agent: Agent) -> Outcome {
    let roles = ["read", "write", "terminal", "ask", "visit", "notice", "compaction", "say"];
    let is_v1 = agent.revision() == Revision::Acp1;
    plays_without(&agent, json!({}), &roles, |message| {
        let method = message["method"].as_str().unwrap_or_default();
        let kind =
            message.pointer("/params/update/sessionUpdate").and_then(Value::as_str).unwrap_or_default();
        let is_optional = is_v1 && (kind == "notice" || kind.starts_with("compaction_"));
        ["fs/", "terminal/", "elicitation/"].iter().any(|begin| method.starts_with(begin)) || is_optional
    })
    .await
}

async fn each_set_of_capabilities_works(agent: Agent) -> Outcome {
    let all = capabilities(agent.revision());
    let mut sets = vec![json!({}), all.clone()];
    for (name, value) in all.as_object().into_iter().flatten() {
        sets.push(json!({name.as_str(): value}));
        let mut rest = all.clone();
        if let Some(rest) = rest.as_object_mut() {
            rest.remove(name);
        }
        sets.push(rest);
    }
    for set in sets {
        let (mut conversation, _) = agent.open_with(set.clone()).await?;
        let response = conversation.request("session/new", agent.session_params()).await?;
        if response["error"]["code"] == -32000 {
            return Err(Stop::not_applicable("the agent begins no session without a login"));
        }
        let what = format!("a session for a client with the capabilities {set}");
        ensure!(response.get("result").is_some(), what, "`{response}`");
    }
    Ok(())
}

async fn features_are_stated(agent: Agent) -> Outcome {
    let result = initialized(&agent).await?;
    let capabilities = &result["agentCapabilities"];
    for name in ["loadSession", "promptCapabilities"] {
        ensure!(capabilities.get(name).is_some(), format!("`{name}` in `agentCapabilities`"), "`{result}`");
    }
    Ok(())
}

async fn the_baseline_is_supported(agent: Agent) -> Outcome {
    let text = agent.setting.text("say")?.to_owned();
    let (mut conversation, _, session) = agent.session().await?;
    let turn = agent.turn(&mut conversation, &session, &text).await?;
    let is_known = turn.response["error"]["code"] != -32601;
    ensure!(is_known, "session/prompt is supported", "`{}`", turn.response);
    let updates = turn.updates().count();
    ensure!(updates > 0, "session/update while a prompt runs", "no update before `{}`", turn.response);
    agent.cancel(&mut conversation, &session).await?;
    works(&agent, &mut conversation).await
}

async fn text_and_links_are_accepted(agent: Agent) -> Outcome {
    let text = agent.setting.text("say")?.to_owned();
    let (mut conversation, _, session) = agent.session().await?;
    accepts(&agent, &mut conversation, &session, &text, json!({
        "type": "resource_link", "name": "file.txt", "uri": "file:///tmp/file.txt", "mimeType": "text/plain",
    }))
    .await
}

/// The agent accepts a prompt of a text and another block.
pub(super) async fn accepts(
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
    let turn = agent.finish(conversation, session, &id).await?;
    let what = format!("a prompt with a block of the type {kind} is accepted");
    ensure!(turn.response.get("result").is_some(), what, "`{}`", turn.response);
    Ok(())
}

async fn a_second_initialize_does_no_harm(agent: Agent) -> Outcome {
    let (mut conversation, _) = agent.open().await?;
    conversation.request("initialize", agent.initialize(capabilities(agent.revision()))).await?;
    works(&agent, &mut conversation).await
}

async fn requests_before_initialize_fail(agent: Agent) -> Outcome {
    let mut conversation = agent.start().await?;
    conversation.error("session/new", agent.session_params()).await?;
    conversation.ok("initialize", agent.initialize(capabilities(agent.revision()))).await?;
    Ok(())
}
