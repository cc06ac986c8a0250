//! Checks of servers: requests, responses and notifications.

use serde_json::{Value, json};

use super::super::Server;
use super::super::raw::{self, SILENCE, is_response, quick};
use crate::check::{ANY, Check, audit, check};
use crate::conversation::Conversation;
use crate::faults;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in super::super) const CHECKS: &[Check<Server>] = &[
    audit!("RPC-01", version_on_every_message, ANY, [
        "leaves the version out of responses" => faults::each_response(|m| { m.as_object_mut().map(|m| m.remove("jsonrpc")); }),
        "writes the version as a number" => faults::each_response(|m| m["jsonrpc"] = json!(2.0)),
    ]),
    check!("RPC-03", null_is_no_id, ANY, [
        "answers a request with a null id" => faults::each_response(|m| if m.get("error").is_some() && m["id"].is_null() {
            *m = json!({"jsonrpc": "2.0", "id": null, "result": {"content": []}});
        }),
        "calls it a parse error" => faults::each_response(|m| if m["error"]["code"] == -32600 { m["error"]["code"] = json!(-32700); }),
    ]),
    check!("RPC-04", own_ids_are_new, ANY, [
        "numbers each call's questions from 1" => faults::says_before_response_to("tools/call", |_| vec![
            json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}),
        ]),
    ]),
    check!("RPC-06", ids_keep_their_type, ANY, [
        "turns ids into strings" => faults::each_response(|m| if m["id"].is_number() { m["id"] = json!(m["id"].to_string()); }),
        "reads texts that look like numbers as numbers" => faults::each_response(|m| if m["id"] == "7" { m["id"] = json!(7); }),
    ]),
    audit!("RPC-07", result_or_error, ANY, [
        "sends an error of null beside each result" => faults::each_response(|m| if m.get("result").is_some() { m["error"] = Value::Null; }),
        "leaves an empty result out" => faults::response_to("ping", |m| { m.as_object_mut().map(|m| m.remove("result")); }),
    ]),
    audit!("RPC-08", result_or_whole_error, ANY, [
        "sends errors without a message" => faults::each_response(|m| { m.get_mut("error").and_then(Value::as_object_mut).map(|e| e.remove("message")); }),
        "leaves the result out" => faults::response_to("tools/list", |m| { m.as_object_mut().map(|m| m.remove("result")); }),
    ]),
    audit!("RPC-09", codes_are_integers, ANY, [
        "writes codes as texts" => faults::each_response(|m| if m.get("error").is_some() { m["error"]["code"] = json!(m["error"]["code"].to_string()); }),
    ]),
    audit!("RPC-10", notifications_have_no_id, ANY, [
        "sends notifications with an id" => faults::says_at("tools/list", |_| vec![
            json!({"jsonrpc": "2.0", "id": null, "method": "notifications/tools/list_changed"}),
        ]),
    ]),
    check!("RPC-11", notifications_get_no_response, ANY, [
        "answers unknown notifications" => faults::says_at("notifications/conformance/unknown", |_| vec![
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32601, "message": "method not found"}}),
        ]),
    ]),
    check!("RPC-12", unknown_method, ANY, [
        "answers unknown methods as a broken server" => faults::each_response(|m| if m["error"]["code"] == -32601 { m["error"]["code"] = json!(-32603); }),
        "answers unknown methods with a result" => faults::response_to("conformance/unknown", |m| *m = json!({"jsonrpc": "2.0", "id": m["id"], "result": {}})),
    ]),
];

fn version_on_every_message(_: &Server, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        let version = &message["jsonrpc"];
        ensure!(version == "2.0", "`\"jsonrpc\":\"2.0\"` on every message", "`{message}`");
    }
    Ok(())
}

async fn null_is_no_id(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let key = raw::unique()?;
    let marking = raw::tool_with_key(&server, "mark", &key).ok();
    let (method, params) = marking.map_or((quick(&server), json!({})), |tool| ("tools/call", tool));
    let message = raw::message(&server, &Value::Null, method, params);
    let reaction = raw::react_to(&mut conversation, &message, 1).await?;
    reaction.has_error(-32600, "a request with a null id")?;
    if let Some(status) = reaction.status.filter(|_| !reaction.messages.is_empty()) {
        ensure!(status == 400, "the status 400 for a request with a null id", "{reaction}");
    }
    raw::no_effect(&server, &mut conversation, &key).await
}

async fn own_ids_are_new(server: Server) -> Outcome {
    let roles = ["roots", "sampling", "elicitation"];
    let mut tools: Vec<Value> = roles.iter().filter_map(|role| server.tool(role).ok()).collect();
    if tools.is_empty() {
        return Err(Stop::not_applicable("the profile has no `roots`, `sampling` or `elicitation`"));
    }
    tools.extend(tools.clone());
    let mut conversation = server.open().await?;
    for tool in tools {
        conversation.request("tools/call", tool).await.map_err(Stop::while_preparing)?;
    }
    let mut ids: Vec<&Value> = Vec::new();
    for request in &conversation.asked {
        let id = &request["id"];
        ensure!(
            id.is_string() || id.is_i64() || id.is_u64(),
            "a text or an integer as the id",
            "`{request}`"
        );
        ensure!(
            !ids.contains(&id),
            "an id that the server has not used before in the session",
            "`{request}`"
        );
        ids.push(id);
    }
    Ok(())
}

async fn ids_keep_their_type(server: Server) -> Outcome {
    let mut conversation = server.connect().await?;
    let first = if server.revision().has_sessions() {
        ("initialize", server.initialize(super::super::capabilities(server.revision())))
    } else {
        conversation.set_meta(server.meta(super::super::capabilities(server.revision())));
        ("server/discover", json!({}))
    };
    has_id(&mut conversation, json!(3), first).await?;
    if server.revision().has_sessions() {
        conversation.notify("notifications/initialized", json!({})).await?;
    }
    for id in [json!(0), json!(-1), json!("7"), json!(7), json!(""), json!(9_007_199_254_740_991_i64)] {
        has_id(&mut conversation, id, (quick(&server), json!({}))).await?;
    }
    Ok(())
}

async fn has_id(conversation: &mut Conversation, id: Value, (method, params): (&str, Value)) -> Outcome {
    conversation.start_as(id.clone(), method, params).await?;
    let response = conversation.wanted("a response", is_response).await?;
    let seen: &Value = &response["id"];
    ensure!(*seen == id, format!("the id {id}"), "the id {seen}");
    Ok(())
}

fn result_or_error(_: &Server, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject).iter().filter(|message| is_response(message)) {
        let members = (message.get("result").is_some(), message.get("error").is_some());
        ensure!(members.0 != members.1, "either `result` or `error` in a response", "`{message}`");
    }
    Ok(())
}

fn result_or_whole_error(_: &Server, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject).iter().filter(|message| is_response(message)) {
        match message.get("error") {
            None => {
                ensure!(message.get("result").is_some(), "`result` or `error` in a response", "`{message}`")
            }
            Some(error) => ensure!(
                is_integer(&error["code"]) && error["message"].is_string(),
                "an integer as the `code` and a text as the `message` of an error",
                "`{message}`"
            ),
        }
    }
    Ok(())
}

fn codes_are_integers(_: &Server, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        if let Some(code) = message.pointer("/error/code") {
            ensure!(is_integer(code), "an integer as the code of an error", "`{message}`");
        }
    }
    Ok(())
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}

fn notifications_have_no_id(_: &Server, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        let method = message["method"].as_str().unwrap_or_default();
        if method.starts_with("notifications/") {
            ensure!(message.get("id").is_none(), "no `id` in a notification", "`{message}`");
        }
    }
    Ok(())
}

async fn notifications_get_no_response(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let notifications = [
        json!({"jsonrpc": "2.0", "method": "notifications/conformance/unknown"}),
        json!({"jsonrpc": "2.0", "method": "notifications/conformance/unknown", "params": {"x": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}),
        json!({"jsonrpc": "2.0", "method": "tools/list", "params": {}}),
    ];
    for notification in notifications {
        let reaction = raw::react_to(&mut conversation, &notification, 0).await?;
        // Over HTTP a server may refuse a message that it cannot use, with an error that has no id.
        let refused =
            reaction.is_refused() && reaction.messages.iter().all(|message| message["id"].is_null());
        ensure!(
            reaction.messages.is_empty() || refused,
            format!("no response to the notification `{notification}`"),
            "{reaction}"
        );
    }
    let id = conversation.start(quick(&server), json!({})).await?;
    // A server that ends instead breaks something else.
    conversation.response(&id).await.map_err(Stop::while_preparing)?;
    let is_allowed = |message: &Value| !is_response(message);
    conversation.silence(SILENCE, "no response to a notification", is_allowed).await
}

async fn unknown_method(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let error = conversation.error("conformance/unknown", json!({})).await?;
    ensure!(error["code"] == -32601, "error -32601 for an unknown method", "`{error}`");
    Ok(())
}
