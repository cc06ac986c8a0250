//! JSON-RPC as agents have to speak it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::acp_agent::{Agent, capabilities};
use crate::acp_messages::{
    answers_an_unreadable_id_with_null, is_integer, refuses_malformed_lines, refuses_the_method,
};
use crate::check::{ANY, Check, ORDERED, audit, check};
use crate::conversation::Conversation;
use crate::requirements::revision::Revision;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

/// How long a check listens for what must not come.
pub(in crate::acp_agent) const SILENCE: Duration = Duration::from_millis(300);

/// The largest integer that every reader of JSON keeps: larger ones are beyond what RFC 8259 lets a sender rely on.
pub(crate) const LARGE: i64 = 9_007_199_254_740_991;

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(ids_are_repeated, ANY),
    audit!(responses_are_results_or_errors, ANY),
    check!(notifications_are_never_answered, ORDERED),
    check!(unknown_methods_are_refused, ANY),
    check!(plain_unknown_methods_are_refused, ANY),
    check!(custom_requests_are_answered, ANY),
    check!(unknown_notifications_are_ignored, ANY),
    check!(malformed_input_is_refused, ORDERED),
    check!(an_unreadable_id_is_null, ORDERED),
    check!(errors_leave_the_connection_usable, ORDERED),
    check!(any_meta_is_accepted, ANY),
    check!(malformed_optional_fields_count_as_absent, ANY),
    check!(invalid_items_are_dropped, ANY),
    check!(null_lists_are_empty, ANY),
    audit!(request_ids_are_no_null, ANY),
    audit!(ids_are_not_reused, ANY),
];

async fn ids_are_repeated(agent: Agent) -> Outcome {
    let (mut conversation, _) = agent.open().await?;
    let known = conversation.request("_conformance/unknown", json!({})).await;
    known.map_err(Stop::while_preparing)?;
    let mut ids = vec![json!(0), json!(-1), json!(LARGE), json!("abc-é"), json!(""), json!("7"), json!(7)];
    if agent.revision() == Revision::Acp1 {
        ids.push(Value::Null);
    }
    for id in ids {
        conversation.start_as(id.clone(), "_conformance/unknown", json!({})).await?;
        conversation.response(&id).await?;
    }
    Ok(())
}

fn responses_are_results_or_errors(_: &Agent, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        if message.get("method").is_some() {
            continue;
        }
        let (result, error) = (message.get("result"), message.get("error"));
        // Without an id it is not a response either, which is the concern of TR-03.
        if result.is_none() && error.is_none() && message.get("id").is_none() {
            continue;
        }
        ensure!(result.is_some() != error.is_some(), "a result or an error in each response", "`{message}`");
        if let Some(error) = error {
            let is_error = is_integer(&error["code"]) && error["message"].is_string();
            ensure!(is_error, "an integer code and a message in each error", "`{message}`");
        }
    }
    Ok(())
}

async fn notifications_are_never_answered(agent: Agent) -> Outcome {
    let (mut conversation, _) = agent.open().await?;
    conversation.notify("_conformance/unknown", json!({"a": 1})).await?;
    conversation.notify("conformance/unknown", json!([])).await?;
    conversation.notify("session/cancel", json!({"sessionId": 1})).await?;
    let what = "no response to a notification";
    conversation.silence(SILENCE, what, |message| message.get("method").is_some()).await
}

async fn unknown_methods_are_refused(agent: Agent) -> Outcome {
    let (mut conversation, _) = agent.open().await?;
    let response = conversation.request("_conformance/unknown", json!({})).await;
    // RPC-05 demands a response.
    refuses_the_method(&response.map_err(Stop::while_preparing)?, "_conformance/unknown")
}

async fn plain_unknown_methods_are_refused(agent: Agent) -> Outcome {
    let (mut conversation, _) = agent.open().await?;
    let response = conversation.request("conformance/unknown", json!({})).await?;
    refuses_the_method(&response, "conformance/unknown")
}

async fn custom_requests_are_answered(agent: Agent) -> Outcome {
    let (mut conversation, _) = agent.open().await?;
    for params in [json!({}), json!({"a": [1]})] {
        conversation.request("_conformance/unknown", params).await?;
    }
    Ok(())
}

async fn unknown_notifications_are_ignored(agent: Agent) -> Outcome {
    let mut conversation = working(&agent).await?;
    for method in ["_conformance/unknown", "conformance/unknown"] {
        conversation.notify(method, json!({"a": 1})).await?;
    }
    works(&agent, &mut conversation).await
}

/// An agent that answers a request.
async fn working(agent: &Agent) -> Outcome<Conversation> {
    let (mut conversation, _) = agent.open().await?;
    works(agent, &mut conversation).await.map_err(Stop::while_preparing)?;
    Ok(conversation)
}

/// A request of which the agent must answer the id. Agents that need a login refuse it, which is an answer as well.
pub(in crate::acp_agent) async fn works(agent: &Agent, conversation: &mut Conversation) -> Outcome {
    conversation.request("session/new", agent.session_params()).await?;
    Ok(())
}

async fn malformed_input_is_refused(agent: Agent) -> Outcome {
    let mut conversation = working(&agent).await?;
    refuses_malformed_lines(&mut conversation).await?;
    works(&agent, &mut conversation).await
}

async fn an_unreadable_id_is_null(agent: Agent) -> Outcome {
    let mut conversation = working(&agent).await?;
    answers_an_unreadable_id_with_null(&mut conversation).await
}

async fn errors_leave_the_connection_usable(agent: Agent) -> Outcome {
    let mut conversation = working(&agent).await?;
    for (method, params) in [
        ("session/prompt", json!({"sessionId": "conformance-unknown", "prompt": []})),
        ("session/prompt", json!({"sessionId": 1})),
        ("session/new", json!({"cwd": 1})),
        ("_conformance/unknown", json!({})),
    ] {
        conversation.request(method, params).await.map_err(Stop::while_preparing)?;
    }
    works(&agent, &mut conversation).await
}

/// Values that no receiver may trip over.
fn odd_meta() -> Value {
    json!({
        "conformance.test/list": [1, null, "a", {"b": [[]]}],
        "conformance.test/text": "\u{2028}",
        "conformance.test/number": 1e300,
        "conformance.test/nothing": null,
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    })
}

async fn any_meta_is_accepted(agent: Agent) -> Outcome {
    // The same without odd values.
    let text = agent.setting.text("say");
    match text {
        Ok(_) => drop(agent.played("say").await?),
        Err(_) => drop(agent.session().await?),
    }
    let mut conversation = agent.start().await?;
    conversation.set_meta(odd_meta());
    conversation.ok("initialize", agent.initialize(capabilities(agent.revision()))).await?;
    let opened = conversation.ok("session/new", agent.session_params()).await?;
    let session = opened["sessionId"].as_str().unwrap_or_default().to_owned();
    if let Ok(text) = text {
        let turn = agent.turn(&mut conversation, &session, text).await.map_err(Stop::while_preparing)?;
        let what = "a prompt with `_meta` is accepted";
        ensure!(turn.response.get("result").is_some(), what, "`{}`", turn.response);
    }
    Ok(())
}

async fn malformed_optional_fields_count_as_absent(agent: Agent) -> Outcome {
    // The same without malformed fields.
    agent.open().await?;
    let mut conversation = agent.start().await?;
    let params = if agent.revision() == Revision::Acp2 {
        let info = json!({"name": "conformance", "version": "1.0.0", "title": 7});
        json!({"protocolVersion": 2, "info": info, "capabilities": {"auth": 1, "elicitation": {"form": 1}}})
    } else {
        let capabilities = json!({"fs": {"readTextFile": "yes"}, "terminal": 1, "auth": [], "session": "x"});
        json!({"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": 7})
    };
    let response = conversation.request("initialize", params).await?;
    let what = "a result of initialize, whose malformed optional fields count as absent";
    ensure!(response.get("result").is_some(), what, "`{response}`");
    Ok(())
}

/// The only such list that a client sends is the audience of a content block.
async fn invalid_items_are_dropped(agent: Agent) -> Outcome {
    let text = agent.setting.text("say")?.to_owned();
    let (mut conversation, session, _) = agent.played("say").await?;
    let mut params = agent.prompt(&session, &text);
    params["prompt"][0]["annotations"] = json!({"audience": ["user", 7, {"a": 1}]});
    let id = conversation.start("session/prompt", params).await?;
    let turn = agent.finish(&mut conversation, &session, &id).await.map_err(Stop::while_preparing)?;
    let what = "a prompt is accepted that has invalid items in the audience of its annotations";
    ensure!(turn.response.get("result").is_some(), what, "`{}`", turn.response);
    Ok(())
}

async fn null_lists_are_empty(agent: Agent) -> Outcome {
    let (mut conversation, _) = agent.open().await?;
    agent.new_session(&mut conversation).await?;
    let with = |servers: Value| json!({"cwd": std::env::temp_dir(), "mcpServers": servers});
    let response = conversation.request("session/new", with(Value::Null)).await?;
    ensure!(response.get("result").is_some(), "null as an empty list of MCP servers", "`{response}`");
    let response = conversation.request("session/new", with(json!("x"))).await?;
    let what = "the code -32602 for a list of MCP servers that is a string";
    ensure!(response["error"]["code"] == -32602, what, "`{response}`");
    Ok(())
}

fn request_ids_are_no_null(_: &Agent, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        if let (Some(_), Some(id)) = (message.get("method"), message.get("id")) {
            ensure!(
                id.is_string() || is_integer(id),
                "a string or an integer as each request's id",
                "`{message}`"
            );
        }
    }
    Ok(())
}

fn ids_are_not_reused(_: &Agent, trace: &Trace) -> Outcome {
    let mut open: Vec<Value> = Vec::new();
    for (from, message) in trace.exchanged() {
        let Some(id) = message.get("id") else { continue };
        match (from, message.get("method").is_some()) {
            // Another connection.
            (Sender::Suite, true) if message["method"] == "initialize" => open.clear(),
            (Sender::Subject, true) => {
                ensure!(!open.contains(id), "an id that no unanswered request has", "`{message}`");
                open.push(id.clone());
            }
            (Sender::Suite, false) => open.retain(|known| known != id),
            _ => {}
        }
    }
    Ok(())
}
