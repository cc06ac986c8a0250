//! Checks of agents: what only version 2 demands of initialization and sessions.

pub(super) mod cancel;
pub(super) mod close;
pub(super) mod refusals;
pub(super) mod updates;
pub(super) mod work;

use serde_json::{Value, json};

use super::Agent;
use super::connection::jsonrpc::SILENCE;
use super::turn::update_in;
use crate::acp_messages::{is_below, is_count, is_version};
use crate::check::{ANY, Check, ORDERED, check};
use crate::conversation::Conversation;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Agent>] = &[
    check!(the_result_has_version_and_info, ANY),
    check!(the_highest_version_is_chosen, ANY),
    check!(versions_that_are_too_low_fail, ANY),
    check!(the_baseline_methods_are_known, ORDERED),
    check!(login_and_logout_are_known, ANY),
    check!(unknown_sessions_are_not_found, ORDERED),
    check!(lists_of_a_new_session_are_no_null, ORDERED),
    check!(the_state_precedes_the_response, ORDERED),
    check!(a_replay_is_as_asked, ORDERED),
    check!(other_cursors_fail, ORDERED),
    check!(closing_an_unknown_session_succeeds, ORDERED),
];

fn initialize(version: u16) -> Value {
    let info = json!({"name": "conformance", "version": "1.0.0"});
    json!({"protocolVersion": version, "capabilities": {}, "info": info})
}

async fn the_result_has_version_and_info(agent: Agent) -> Outcome {
    let (_conversation, result) = agent.open().await?;
    let info = &result["info"];
    let is_named = info["name"].is_string() && info["version"].is_string();
    ensure!(is_named, "`info` with a name and a version in the result of initialize", "`{result}`");
    Ok(())
}

async fn the_highest_version_is_chosen(agent: Agent) -> Outcome {
    let (_conversation, _) = agent.open().await?;
    let result = agent.start().await?.ok("initialize", initialize(65535)).await?;
    let version = &result["protocolVersion"];
    let is_own = is_count(version) && is_below(version, 65535) && !is_below(version, 2);
    ensure!(is_own, "the agent's latest version as the answer to version 65535", "`{result}`");
    Ok(())
}

async fn versions_that_are_too_low_fail(agent: Agent) -> Outcome {
    let (_conversation, _) = agent.open().await?;
    let response = agent.start().await?.request("initialize", initialize(0)).await?;
    if is_version(&response["result"]["protocolVersion"], 0) {
        return Err(Stop::not_applicable("the agent supports version 0"));
    }
    let error = response.get("error");
    let error = error.ok_or_else(|| Stop::failed("an error for version 0", format!("`{response}`")))?;
    ensure!(error["code"] == -32022, "the code -32022 for version 0", "`{error}`");
    let data = &error["data"];
    let is_sound = is_version(&data["requested"], 0)
        && data["supported"].as_array().is_some_and(|list| list.iter().any(|item| is_version(item, 2)));
    ensure!(is_sound, "`requested` and `supported` in the data of the error", "`{error}`");
    Ok(())
}

pub(super) async fn with_sessions(agent: &Agent) -> Outcome<(Conversation, Value)> {
    agent.needs_no_login().await?;
    let (conversation, initialized) = agent.open().await?;
    agent.needs(&initialized, "", "/capabilities/session")?;
    Ok((conversation, initialized))
}

async fn the_baseline_methods_are_known(agent: Agent) -> Outcome {
    let (mut conversation, _) = with_sessions(&agent).await?;
    let unknown = opening("conformance-unknown");
    for (method, params) in [
        ("session/new", agent.session_params()),
        ("session/list", json!({})),
        ("session/resume", unknown.clone()),
        ("session/close", unknown.clone()),
        ("session/prompt", agent.prompt("conformance-unknown", "Hello")),
    ] {
        let response = conversation.request(method, params).await.map_err(Stop::while_preparing)?;
        let is_known = response["error"]["code"] != -32601;
        ensure!(is_known, format!("{method}, which belongs to the session capability"), "`{response}`");
    }
    Ok(())
}

async fn login_and_logout_are_known(agent: Agent) -> Outcome {
    let (mut conversation, initialized) = agent.open().await?;
    if initialized["authMethods"].as_array().is_none_or(Vec::is_empty) {
        return Err(Stop::not_applicable("the agent offers no authentication methods"));
    }
    let mut methods = vec![("auth/login", json!({"methodId": "conformance-unknown"}))];
    if agent.setting.role("logout").ok() == Some(&json!(true)) {
        methods.push(("auth/logout", json!({})));
    }
    for (method, params) in methods {
        let response = conversation.request(method, params).await.map_err(Stop::while_preparing)?;
        let what = format!("{method}, because the agent offers authentication methods");
        ensure!(response["error"]["code"] != -32601, what, "`{response}`");
    }
    Ok(())
}

/// V2-04 is about a baseline method that the agent does not know.
fn is_of_known_method(error: &Value) -> Outcome {
    let is_unknown = error["code"] == -32601;
    if is_unknown { Err(Stop::inconclusive(format!("the method is unknown: `{error}`"))) } else { Ok(()) }
}

async fn unknown_sessions_are_not_found(agent: Agent) -> Outcome {
    let (mut conversation, _) = with_sessions(&agent).await?;
    let session = "conformance-unknown";
    let prompt = agent.prompt(session, "Hello");
    for (method, params) in [("session/prompt", prompt), ("session/resume", opening(session))] {
        // The sentence is about the error. A request that hangs or succeeds has none.
        let error = conversation.error(method, params).await.map_err(Stop::while_preparing)?;
        is_of_known_method(&error)?;
        ensure!(
            error["code"] == -32002,
            format!("the code -32002 of {method} for an unknown session"),
            "`{error}`"
        );
        ensure!(
            error["data"]["sessionId"] == session,
            "the `sessionId` in the data of the error",
            "`{error}`"
        );
    }
    Ok(())
}

fn opening(session: &str) -> Value {
    json!({"sessionId": session, "cwd": std::env::temp_dir(), "mcpServers": []})
}

/// A closed session in which something was said, if there is a prompt for that.
async fn closed(agent: &Agent) -> Outcome<(Conversation, String)> {
    let (mut conversation, _) = with_sessions(agent).await?;
    let session = agent.new_session(&mut conversation).await?;
    if agent.setting.text("say").is_ok() {
        agent.play(&mut conversation, &session, "say").await?;
    }
    close(&mut conversation, &session).await?;
    Ok((conversation, session))
}

/// Closes a session, and drops what came before.
async fn close(conversation: &mut Conversation, session: &str) -> Outcome {
    let closed = conversation.ok("session/close", json!({"sessionId": session})).await;
    closed.map_err(Stop::while_preparing)?;
    conversation.listen(std::time::Duration::ZERO).await.map(drop)
}

/// Resumes a session: the result, and what came before it.
async fn resume(at: &mut Conversation, params: Value) -> Outcome<(Value, Vec<Value>)> {
    let id = at.start("session/resume", params).await?;
    let mut before = Vec::new();
    loop {
        let message =
            at.wanted("a response to session/resume", |_| true).await.map_err(Stop::while_preparing)?;
        if message.get("id") == Some(&id) && message.get("method").is_none() {
            return match message.get("result") {
                Some(result) => Ok((result.clone(), before)),
                None => Err(Stop::inconclusive(format!("session/resume: `{message}`"))),
            };
        }
        before.push(message);
    }
}

async fn lists_of_a_new_session_are_no_null(agent: Agent) -> Outcome {
    let (mut conversation, session) = closed(&agent).await?;
    let new = conversation.ok("session/new", agent.session_params()).await.map_err(Stop::while_preparing)?;
    has_no_null(&new)?;
    let (resumed, _) = resume(&mut conversation, opening(&session)).await?;
    has_no_null(&resumed)
}

fn has_no_null(result: &Value) -> Outcome {
    for name in ["configOptions", "availableCommands"] {
        let list = result.get(name);
        ensure!(list.is_none_or(Value::is_array), format!("an array `{name}`, or none"), "`{result}`");
    }
    Ok(())
}

/// Whether an update is part of a conversation's history.
fn is_history(update: &Value) -> bool {
    let kinds = ["user_message", "agent_message", "agent_thought", "tool_call"];
    update["sessionUpdate"].as_str().is_some_and(|kind| kinds.iter().any(|known| kind.starts_with(known)))
}

async fn the_state_precedes_the_response(agent: Agent) -> Outcome {
    let (mut conversation, session) = closed(&agent).await?;
    for replay in [Value::Null, json!({"type": "start"})] {
        let mut params = opening(&session);
        if replay.is_object() {
            params["replayFrom"] = replay;
        }
        let (_, before) = resume(&mut conversation, params).await?;
        let updates: Vec<&Value> = before.iter().filter_map(update_in).collect();
        let place = updates.iter().rposition(|update| update["sessionUpdate"] == "state_update");
        let what = "a `state_update` before the response to session/resume";
        let place = place.ok_or_else(|| Stop::failed(what, format!("{} messages", before.len())))?;
        // Work that goes on adds to the conversation.
        let is_idle = updates[place]["state"] == "idle";
        let late = updates[place..].iter().find(|update| is_idle && is_history(update));
        ensure!(late.is_none(), "the `state_update` after the replayed history", "`{late:?}` after it");
        close(&mut conversation, &session).await?;
    }
    Ok(())
}

async fn a_replay_is_as_asked(agent: Agent) -> Outcome {
    agent.setting.text("say")?;
    let (mut conversation, session) = closed(&agent).await?;
    let found =
        |messages: &[Value]| messages.iter().filter_map(update_in).find(|update| is_history(update)).cloned();
    let (_, before) = resume(&mut conversation, opening(&session)).await?;
    let replayed = found(&before);
    ensure!(replayed.is_none(), "no history without `replayFrom`", "`{}`", json!(replayed));
    close(&mut conversation, &session).await?;
    let mut params = opening(&session);
    params["replayFrom"] = json!({"type": "start"});
    let (_, before) = resume(&mut conversation, params).await?;
    let after: Vec<Value> =
        conversation.listen(SILENCE).await?.into_iter().map(|arrived| arrived.message).collect();
    let late = found(&after);
    ensure!(
        late.is_none(),
        "the history before the response to session/resume",
        "`{}` after it",
        json!(late)
    );
    if found(&before).is_none() {
        return Err(Stop::not_applicable("the agent replays nothing, and may have retained nothing"));
    }
    Ok(())
}

async fn other_cursors_fail(agent: Agent) -> Outcome {
    let (mut conversation, session) = closed(&agent).await?;
    for cursor in [json!({"type": "_conformance"}), json!({"type": 7}), json!("start"), json!({})] {
        let mut params = opening(&session);
        params["replayFrom"] = cursor.clone();
        let error = conversation.error("session/resume", params).await?;
        is_of_known_method(&error)?;
        ensure!(error["code"] == -32602, format!("the code -32602 for the cursor {cursor}"), "`{error}`");
    }
    Ok(())
}

async fn closing_an_unknown_session_succeeds(agent: Agent) -> Outcome {
    let (mut conversation, session) = closed(&agent).await?;
    for session in [session.as_str(), "conformance-unknown"] {
        conversation.ok("session/close", json!({"sessionId": session})).await?;
    }
    Ok(())
}
