//! Checks of servers: requests, responses and notifications.

use serde_json::{Value, json};

use super::super::Server;
use super::super::exchanges::is_in_revision;
use super::super::raw::{self, SILENCE, quick};
use super::ready;
use crate::check::{ANY, Check, audit, check, shared};
use crate::conversation::Conversation;
use crate::mcp_messages::{self, is_answer, unusual_ids};
use crate::subject::Transport;
use crate::trace::Trace;
use crate::verdict::{Outcome, Stop, ensure};

pub(in super::super) const CHECKS: &[Check<Server>] = &[
    audit!(version_on_every_message, ANY),
    audit!(ids_are_strings_or_integers, ANY),
    check!(null_is_no_id, ANY),
    check!(own_ids_are_new, ANY),
    check!(ids_keep_their_type, ANY),
    shared!(any_id_is_answered, ANY),
    audit!(result_or_error, ANY),
    audit!(whole_errors, ANY),
    audit!(codes_are_integers, ANY),
    audit!(notifications_have_no_id, ANY),
    check!(notifications_get_no_response, ANY),
    shared!(unknown_method, ANY),
];

fn version_on_every_message(_: &Server, trace: &Trace) -> Outcome {
    mcp_messages::have_the_version(trace)
}

fn ids_are_strings_or_integers(server: &Server, trace: &Trace) -> Outcome {
    if !server.revision().is_legacy() {
        // Each of them breaks another requirement.
        return Err(Stop::not_applicable("a server sends no requests in this revision"));
    }
    mcp_messages::ids_are_strings_or_integers(trace)
}

async fn null_is_no_id(server: Server) -> Outcome {
    let mut conversation = ready(&server).await?;
    let message = raw::quick_message(&server, &Value::Null);
    let reaction = raw::react_to(&mut conversation, &message, 1).await?;
    reaction.has_error(-32600, "a request with a null id")
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
    if conversation.asked.is_empty() {
        return Err(Stop::inconclusive("the tools sent no request"));
    }
    mcp_messages::ids_occur_once(&conversation.asked)
}

async fn ids_keep_their_type(server: Server) -> Outcome {
    let mut conversation = server.connect().await?;
    let first = if server.revision().is_legacy() {
        ("initialize", server.initialize(super::super::capabilities(server.revision())))
    } else {
        conversation.set_meta(server.meta(super::super::capabilities(server.revision())));
        ("server/discover", json!({}))
    };
    has_id(&mut conversation, json!(3), first).await?;
    if server.revision().is_legacy() {
        conversation.notify("notifications/initialized", json!({})).await?;
    }
    for id in unusual_ids() {
        has_id(&mut conversation, id, (quick(&server), json!({}))).await?;
    }
    Ok(())
}

/// Fails if a response has another id. A request without a response is the subject of RPC-06b.
async fn has_id(conversation: &mut Conversation, id: Value, (method, params): (&str, Value)) -> Outcome {
    conversation.start_as(id.clone(), method, params).await?;
    let response = conversation.wanted("a response", is_answer).await.map_err(Stop::while_preparing)?;
    let seen: &Value = &response["id"];
    ensure!(*seen == id, format!("the id {id}"), "the id {seen}");
    Ok(())
}

async fn any_id_is_answered(server: Server) -> Outcome {
    let mut conversation = ready(&server).await?;
    for id in unusual_ids() {
        conversation.start_as(id.clone(), quick(&server), json!({})).await?;
        let what = format!("a response to a request with the id {id}");
        conversation.wanted(&what, is_answer).await?;
    }
    Ok(())
}

fn result_or_error(_: &Server, trace: &Trace) -> Outcome {
    mcp_messages::responses_have_a_result_or_an_error(trace)
}

fn whole_errors(server: &Server, trace: &Trace) -> Outcome {
    if !is_in_revision(server, trace) {
        return Ok(());
    }
    mcp_messages::errors_have_their_members(trace)
}

fn codes_are_integers(_: &Server, trace: &Trace) -> Outcome {
    mcp_messages::codes_are_integers(trace)
}

fn notifications_have_no_id(_: &Server, trace: &Trace) -> Outcome {
    mcp_messages::notifications_have_no_id(trace)
}

async fn notifications_get_no_response(server: Server) -> Outcome {
    let mut conversation = ready(&server).await?;
    let notifications = [
        json!({"jsonrpc": "2.0", "method": "notifications/conformance/unknown"}),
        json!({"jsonrpc": "2.0", "method": "notifications/conformance/unknown", "params": {"x": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}),
        json!({"jsonrpc": "2.0", "method": "tools/list", "params": {}}),
    ];
    for notification in notifications {
        let reaction = raw::react_to(&mut conversation, &notification, 0).await;
        // A server that ends instead breaks something else.
        let reaction = reaction.map_err(Stop::while_preparing)?;
        // Over HTTP an error status may have a JSON-RPC error as its body.
        let is_refused = reaction.status.is_some_and(|status| status >= 400);
        ensure!(
            reaction.messages.is_empty() || is_refused,
            format!("no response to the notification `{notification}`"),
            "{reaction}"
        );
    }
    let id = conversation.start(quick(&server), json!({})).await?;
    conversation.response(&id).await.map_err(Stop::while_preparing)?;
    conversation.silence(SILENCE, "no response to a notification", |message| !is_answer(message)).await
}

async fn unknown_method(server: Server) -> Outcome {
    if server.setting.transport == Transport::Http && !server.revision().is_legacy() {
        return Err(Stop::not_applicable("over HTTP without sessions, ST-10 demands this"));
    }
    let mut conversation = ready(&server).await?;
    let error = conversation.error("conformance/unknown", json!({})).await?;
    ensure!(error["code"] == -32601, "error -32601 for an unknown method", "`{error}`");
    Ok(())
}
