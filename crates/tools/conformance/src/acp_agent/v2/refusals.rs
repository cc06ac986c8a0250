//! Checks of agents: what version 2 demands that an agent refuses.

use std::time::Duration;

use serde_json::{Value, json};

use crate::acp_agent::Agent;
use crate::acp_agent::client_methods::elicitation::{ENTERED, asked};
use crate::acp_agent::session::options::{id_of, options, set_params};
use crate::acp_agent::turn::update_in;
use crate::acp_agent::v2::with_sessions;
use crate::check::{ANY, Check, check};
use crate::conversation::Conversation;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(other_transports_fail, ANY),
    check!(other_content_fails, ANY),
    check!(unknown_items_are_not_cancelled, ANY),
    check!(other_options_and_values_fail, ANY),
    check!(an_unknown_action_is_a_cancellation, ANY),
];

async fn other_transports_fail(agent: Agent) -> Outcome {
    let (mut conversation, initialized) = with_sessions(&agent).await?;
    let mut servers = vec![json!({"type": "_conformance", "name": "a"})];
    let lacks = |name: &str| {
        initialized.pointer(&format!("/capabilities/session/mcp/{name}")).is_none_or(Value::is_null)
    };
    if lacks("http") {
        servers.push(json!({"type": "http", "name": "a", "url": "http://127.0.0.1:1/", "headers": []}));
    }
    if lacks("stdio") {
        servers.push(json!({"type": "stdio", "name": "a", "command": "/bin/true", "args": [], "env": []}));
    }
    for (place, server) in servers.into_iter().enumerate() {
        let mut params = agent.session_params();
        params["mcpServers"] = json!([server]);
        let response = conversation.request("session/new", params).await?;
        // The agent may support a transport of ACP that it does not advertise.
        let is_supported = place > 0 && response.get("result").is_some();
        let is_sound = is_supported || response["error"]["code"] == -32602;
        ensure!(is_sound, format!("the code -32602 for the MCP server {server}"), "`{response}`");
    }
    Ok(())
}

async fn other_content_fails(agent: Agent) -> Outcome {
    let (mut conversation, initialized) = with_sessions(&agent).await?;
    let session = agent.new_session(&mut conversation).await?;
    let mut blocks = vec![json!({"type": "_conformance", "a": 1})];
    let resource = json!({"uri": "file:///a", "text": "a"});
    for (name, block) in [
        (
            "image",
            json!({"type": "image", "mimeType": "image/png", "data": crate::acp_agent::turn::prompt::PNG}),
        ),
        ("audio", json!({"type": "audio", "mimeType": "audio/wav", "data": "AAAA"})),
        ("embeddedContext", json!({"type": "resource", "resource": resource})),
    ] {
        if initialized.pointer(&format!("/capabilities/session/prompt/{name}")).is_none_or(Value::is_null) {
            blocks.push(block);
        }
    }
    for (place, block) in blocks.into_iter().enumerate() {
        let params = json!({"sessionId": session, "prompt": [block]});
        let response = conversation.request("session/prompt", params).await?;
        if place > 0 && response.get("result").is_some() {
            // The agent may support content that it does not advertise, and is at work now.
            break;
        }
        let what = format!("the code -32602 for a block of the type {}", block["type"]);
        ensure!(response["error"]["code"] == -32602, what, "`{response}`");
    }
    Ok(())
}

async fn unknown_items_are_not_cancelled(agent: Agent) -> Outcome {
    let (mut conversation, _) = with_sessions(&agent).await?;
    let session = agent.new_session(&mut conversation).await?;
    let mut is_known = false;
    for (method, name) in [("tool_call/cancel", "toolCallId"), ("terminal/cancel", "terminalId")] {
        let params = json!({"sessionId": session, name: "conformance-unknown"});
        let error = conversation.error(method, params).await?;
        // The method is available only while an item advertises it.
        if error["code"] == -32601 {
            continue;
        }
        is_known = true;
        ensure!(
            error["code"] == -32602,
            format!("the code -32602 of {method} for an unknown id"),
            "`{error}`"
        );
    }
    if is_known {
        Ok(())
    } else {
        Err(Stop::not_applicable("the agent cancels neither tool calls nor terminals"))
    }
}

async fn other_options_and_values_fail(agent: Agent) -> Outcome {
    let (mut conversation, _) = with_sessions(&agent).await?;
    let created =
        conversation.ok("session/new", agent.session_params()).await.map_err(Stop::while_preparing)?;
    let session = created["sessionId"].as_str().unwrap_or_default().to_owned();
    let all = options(&created)?;
    let mut wrong = vec![set_params(&agent, &session, &json!("conformance-unknown"), &json!("x"))];
    for option in all {
        let id = id_of(option);
        let mut of_unknown_type = set_params(&agent, &session, id, &option["currentValue"]);
        of_unknown_type["type"] = json!("_conformance");
        wrong.push(of_unknown_type);
        if option["type"] == "select" {
            wrong.push(set_params(&agent, &session, id, &json!("conformance-unknown")));
            wrong.push(set_params(&agent, &session, id, &json!(true)));
        } else if option["type"] == "boolean" {
            wrong.push(set_params(&agent, &session, id, &json!("conformance-unknown")));
        }
    }
    // An option that is set to what it is shows the values of this moment: the agent may change some by itself.
    let kept = all.iter().find(|option| option["type"] == "select");
    let before = match kept {
        Some(option) => set_again(&agent, &mut conversation, &session, option).await?,
        None => Vec::new(),
    };
    conversation.listen(Duration::ZERO).await?;
    for params in wrong {
        let error = conversation.error("session/set_config_option", params.clone()).await?;
        ensure!(error["code"] == -32602, format!("the code -32602 for `{params}`"), "`{error}`");
    }
    let Some(option) = kept else { return Ok(()) };
    let after = set_again(&agent, &mut conversation, &session, option).await?;
    let Some(changed) = first_change(&before, &after) else { return Ok(()) };
    let mut reports = conversation.queued().filter_map(update_in);
    if reports.any(|update| update["sessionUpdate"] == "config_option_update") {
        return Err(Stop::inconclusive(format!("the agent reports a change of its own: `{changed}`")));
    }
    Err(Stop::failed(format!("an unchanged value of `{changed}`"), format!("`{}`", json!(after))))
}

/// The first option whose value is another one later.
fn first_change<'a>(before: &'a [Value], after: &[Value]) -> Option<&'a Value> {
    before.iter().find(|option| {
        let same = after.iter().find(|other| id_of(other) == id_of(option));
        same.is_some_and(|same| same["currentValue"] != option["currentValue"])
    })
}

/// Sets an option to a value that it has: all options then.
async fn set_again(
    agent: &Agent,
    conversation: &mut Conversation,
    session: &str,
    option: &Value,
) -> Outcome<Vec<Value>> {
    let params = set_params(agent, session, id_of(option), &option["currentValue"]);
    let set = conversation.ok("session/set_config_option", params).await.map_err(Stop::while_preparing)?;
    Ok(options(&set)?.to_vec())
}

async fn an_unknown_action_is_a_cancellation(agent: Agent) -> Outcome {
    let cancelled = asked(&agent, |_| Ok(json!({"action": "cancel"}))).await;
    let (_, cancelled) = cancelled.map_err(Stop::while_preparing)?;
    let (_, unknown) =
        asked(&agent, |values| Ok(json!({"action": "_conformance", "content": values}))).await?;
    let text = unknown.text();
    ensure!(!text.contains(ENTERED), "the action `_conformance` is not taken for `accept`", "`{text}`");
    ensure!(
        cancelled.stop == unknown.stop,
        format!("the end of a cancelled one: {:?}", cancelled.stop),
        "{:?}",
        unknown.stop
    );
    Ok(())
}
