//! Checks of clients: the draft of version 2.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::AcpClient;
use super::run::{QUIET, audited, permission};
use super::session::options::sets_listed_values;
use super::turn::prompt::held;
use super::turn::tool_calls::tool_call;
use crate::acp_messages::{is_count, is_integer};
use crate::check::{ANY, Check, audit, check};
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<AcpClient>] = &[
    check!(sends_version_and_info, ANY),
    check!(needs_the_session_capability, ANY),
    check!(needs_methods_to_log_in, ANY),
    audit!(ids_are_texts_or_integers, ANY),
    audit!(open_ids_are_not_reused, ANY),
    check!(cancels_permissions_for_the_agent, ANY),
    check!(closes_unknown_sessions, ANY),
    check!(lists_advertised_servers, ANY),
    check!(sends_no_empty_prompt, ANY),
    check!(replaces_messages, ANY),
    check!(creates_and_resets_tool_calls, ANY),
    check!(cancels_what_can_be_cancelled, ANY),
    check!(sets_listed_values, ANY),
];

async fn sends_version_and_info(client: AcpClient) -> Outcome {
    let (run, _) = client.begin_silently("prompt", json!({"text": "hello"})).await?;
    let params = &run.initialize["params"];
    let info = &params["info"];
    let is_right =
        is_count(&params["protocolVersion"]) && info["name"].is_string() && info["version"].is_string();
    ensure!(is_right, "`protocolVersion`, and `info` with a name and a version", "`{params}`");
    Ok(())
}

async fn needs_the_session_capability(client: AcpClient) -> Outcome {
    let script = client.script().change("initialize", |greeting| greeting["capabilities"] = json!({}));
    let mut run = client.tried("prompt", json!({"text": "hello"}), script).await?;
    if run.played.driver.takes_steps() {
        for step in ["list_sessions", "resume_session", "close_session", "new_session"] {
            let _refused = run.attempt(step, json!({"session": "session-1"})).await;
        }
    }
    let sent = run
        .agent
        .asked
        .iter()
        .find(|message| message["method"].as_str().is_some_and(|method| method.starts_with("session/")));
    match sent {
        None => Ok(()),
        Some(message) => Err(Stop::failed(
            "no session requests, because the agent did not advertise `session`",
            format!("`{message}`"),
        )),
    }
}

async fn needs_methods_to_log_in(client: AcpClient) -> Outcome {
    let mut run = client.tried("logout", json!({}), client.script()).await?;
    if run.played.driver.takes_steps() {
        let _refused = run.attempt("authenticate", json!({"method": "agent"})).await;
    }
    for method in ["auth/login", "auth/logout"] {
        run.never_sent(method, "the agent offered no methods")?;
    }
    Ok(())
}

fn ids_are_texts_or_integers(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    for message in trace.messages(Sender::Subject) {
        if let (Some(id), true) = (message.get("id"), message.get("method").is_some()) {
            ensure!(id.is_string() || is_integer(id), "a text or an integer as an id", "`{message}`");
        }
    }
    Ok(())
}

fn open_ids_are_not_reused(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    let mut open = HashSet::new();
    for (from, message) in trace.exchanged() {
        let (Some(id), has_method) = (message.get("id"), message.get("method").is_some()) else { continue };
        if from == Sender::Subject && has_method {
            if message["method"] == "initialize" {
                // A new connection.
                open.clear();
            }
            ensure!(open.insert(id.to_string()), "an id that no open request has", "`{message}`");
        } else if from == Sender::Suite && !has_method {
            open.remove(&id.to_string());
        }
    }
    Ok(())
}

async fn cancels_permissions_for_the_agent(client: AcpClient) -> Outcome {
    let mut turn = held(&client).await?;
    let id = turn.start("session/request_permission", permission(client.revision(), "call-1")).await?;
    turn.run.agent.serve(QUIET).await?;
    turn.run.agent.notify("$/cancel_request", json!({"requestId": id})).await?;
    // PR-21 demands a response.
    let response = turn.run.agent.response(&id).await.map_err(Stop::while_preparing)?;
    let is_right = response["result"]["outcome"]["outcome"] == "cancelled";
    ensure!(
        is_right,
        "the outcome `cancelled` for a permission request that the agent cancels",
        "`{response}`"
    );
    Ok(())
}

async fn closes_unknown_sessions(client: AcpClient) -> Outcome {
    let script = client.script().fails("session/close", -32002, "no such session");
    let (mut run, step) = client.begin("close_session", json!({"session": "session-1"}), script).await?;
    let outcome = run.outcome(step).await?;
    if run.sent("session/close").is_none() {
        return Err(Stop::inconclusive("the client did not send `session/close`"));
    }
    ensure!(outcome.get("result").is_some(), "the session counts as closed", "`{outcome}`");
    run.is_alive().await
}

async fn lists_advertised_servers(client: AcpClient) -> Outcome {
    let script = client
        .script()
        .change("initialize", |greeting| greeting["capabilities"]["session"]["mcp"] = json!({}));
    let servers = [
        json!({"type": "stdio", "name": "local", "command": "/bin/true", "args": [], "env": []}),
        json!({"type": "http", "name": "remote", "url": "https://example.com/mcp", "headers": []}),
    ];
    let mut run = client.tried("new_session", json!({"mcp_servers": [servers[0]]}), script).await?;
    if run.played.driver.takes_steps() {
        let _refused = run.attempt("new_session", json!({"mcp_servers": [servers[1]]})).await;
    }
    for message in &run.agent.asked {
        let listed = message["params"]["mcpServers"].as_array().map_or(&[][..], Vec::as_slice);
        let is_of_acp = listed.iter().any(|server| server["type"] == "stdio" || server["type"] == "http");
        let what = "no stdio or HTTP servers, because the agent advertised neither transport";
        ensure!(!is_of_acp, what, "`{message}`");
    }
    Ok(())
}

async fn sends_no_empty_prompt(client: AcpClient) -> Outcome {
    let turn = client.prompted(client.script()).await?;
    let mut run = turn.run;
    if run.played.driver.takes_steps() {
        run.played.driver.start("prompt", json!({"blocks": []})).await?;
        run.agent.serve(QUIET).await?;
    }
    let prompts = run.agent.asked.iter().filter(|message| message["method"] == "session/prompt");
    for prompt in prompts {
        let is_empty = prompt["params"]["prompt"].as_array().is_none_or(Vec::is_empty);
        ensure!(!is_empty, "a prompt with content", "`{prompt}`");
    }
    Ok(())
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

async fn replaces_messages(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    let whole = |content: Value| json!({"sessionUpdate": "agent_message", "messageId": "message-2", "content": content});
    let chunk = |more: &str| json!({"sessionUpdate": "agent_message_chunk", "messageId": "message-2", "content": text(more)});
    turn.update(chunk("first")).await?;
    turn.update(whole(json!([text("whole")]))).await?;
    turn.update(chunk(" and more")).await?;
    let known = message(&turn.state().await.map_err(Stop::while_preparing)?, "message-2");
    ensure!(
        known["text"] == "whole and more",
        "content that replaces, and chunks that append to it",
        "`{known}`"
    );
    turn.update(whole(Value::Null)).await?;
    let known = message(&turn.state().await.map_err(Stop::while_preparing)?, "message-2");
    ensure!(known["text"].as_str().is_none_or(str::is_empty), "no content after null", "`{known}`");
    Ok(())
}

fn message(state: &Value, id: &str) -> Value {
    let all = state["messages"].as_array().into_iter().flatten();
    all.into_iter().find(|known| known["id"] == id).cloned().unwrap_or_default()
}

async fn creates_and_resets_tool_calls(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    let update = |more: Value| {
        let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "call-1"});
        for (name, value) in more.as_object().into_iter().flatten() {
            update[name] = value.clone();
        }
        update
    };
    turn.update(update(json!({"title": "Build", "status": "in_progress", "locations": [{"path": "/a"}]})))
        .await?;
    turn.update(update(json!({"status": "completed"}))).await?;
    let known = tool_call(&turn.state().await.map_err(Stop::while_preparing)?, "call-1");
    ensure!(
        known["title"] == "Build",
        "a tool call that an update with an unknown id has created",
        "`{known}`"
    );
    let has_both = known["status"] == "completed" && known["locations"][0]["path"] == "/a";
    ensure!(has_both, "new values, and those that no update has changed", "`{known}`");
    turn.update(update(json!({"locations": null}))).await?;
    let known = tool_call(&turn.state().await.map_err(Stop::while_preparing)?, "call-1");
    ensure!(known["locations"].as_array().is_none_or(Vec::is_empty), "no locations after null", "`{known}`");
    Ok(())
}

async fn cancels_what_can_be_cancelled(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    turn.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "title": "Build",
        "status": "in_progress"}))
        .await?;
    turn.update(json!({"sessionUpdate": "terminal_update", "terminalId": "terminal-1", "command": "make"}))
        .await?;
    turn.run.is_alive().await?;
    if turn.run.played.driver.takes_steps() {
        let _refused = turn.run.attempt("cancel_tool_call", json!({"tool_call": "call-1"})).await;
        let _refused = turn.run.attempt("cancel_terminal", json!({"terminal": "terminal-1"})).await;
    }
    for method in ["tool_call/cancel", "terminal/cancel"] {
        turn.run.never_sent(method, "the item does not advertise that it can be cancelled")?;
    }
    Ok(())
}
