//! Checks of servers: the lifecycle.

pub(super) mod discovery;
mod shapes;
pub(super) mod versions;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::Server;
use super::exchanges::{exchanges, is_in_revision};
use super::features::{METHOD_NOT_FOUND, has_code, lists};
use super::raw::{SILENCE, is_response, still_works};
use crate::check::{ANY, Check, STDIO, audit, check, shared};
use crate::link::Link;
use crate::mcp_messages::is_notification;
use crate::requirements::revision::Revision;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Server>] = &[
    audit!(initialize_result, ANY),
    audit!(server_info, ANY),
    check!(no_request_before_initialized, ANY),
    check!(no_result_before_initialize, STDIO),
    audit!(only_what_the_revision_defines, ANY),
    check!(only_declared_capabilities, ANY),
    shared!(undeclared_methods, ANY),
    check!(ends_with_its_input, STDIO),
    check!(all_members_of_client_info, ANY),
];

/// How often a check looks whether the program has ended.
const POLL: Duration = Duration::from_millis(20);

/// The results of initialize.
fn initialized(trace: &Trace) -> impl Iterator<Item = Value> {
    let asked = exchanges(trace).into_iter().filter(|exchange| exchange.method == "initialize");
    asked.filter_map(|mut exchange| exchange.response.get_mut("result").map(Value::take))
}

fn initialize_result(_: &Server, trace: &Trace) -> Outcome {
    for result in initialized(trace) {
        let has_version = result["protocolVersion"].is_string();
        ensure!(has_version, "a string as the `protocolVersion` of the result of initialize", "`{result}`");
        for name in ["capabilities", "serverInfo"] {
            ensure!(
                result[name].is_object(),
                format!("an object as the `{name}` of the result"),
                "`{result}`"
            );
        }
    }
    Ok(())
}

fn server_info(_: &Server, trace: &Trace) -> Outcome {
    // A result without `serverInfo` breaks LIF-03.
    for info in initialized(trace).map(|mut result| result["serverInfo"].take()).filter(Value::is_object) {
        for name in ["name", "version"] {
            ensure!(info[name].is_string(), format!("a string as the `{name}` of `serverInfo`"), "`{info}`");
        }
    }
    Ok(())
}

async fn no_request_before_initialized(server: Server) -> Outcome {
    let mut conversation = server.connect().await?;
    let params = server.initialize(super::capabilities(server.revision()));
    conversation.ok("initialize", params).await.map_err(Stop::while_preparing)?;
    if let Link::Streamable(link) = &mut conversation.link {
        // A server without such a stream refuses it.
        let _status = link.listen().await.map_err(Stop::while_preparing)?;
    }
    // A notification with an id breaks another requirement.
    let is_allowed = |message: &Value| {
        message.get("id").is_none() || is_notification(message) || is_response_or_ping(message)
    };
    let expected = "no request but ping before the initialized notification";
    conversation.silence(SILENCE, expected, is_allowed).await
}

fn is_response_or_ping(message: &Value) -> bool {
    is_response(message) || message["method"] == "ping"
}

/// Over HTTP the page on transports defines the response to a request without a session.
async fn no_result_before_initialize(server: Server) -> Outcome {
    let lists = lists(&server).await?;
    let mut conversation = server.connect().await?;
    let id = json!("early");
    if let Some(list) = lists.first() {
        conversation.start_as(id.clone(), list.method, json!({})).await?;
    }
    // A server may also be silent, keep the request until it is initialized, or end.
    let params = server.initialize(super::capabilities(server.revision()));
    let initialized = conversation.request("initialize", params).await;
    if let Some(early) = conversation.queued().find(|message| message["id"] == id) {
        ensure!(early.get("result").is_none(), "no result before initialize", "`{early}`");
    }
    if !conversation.is_closed() {
        initialized.map_err(Stop::while_preparing)?;
    }
    Ok(())
}

/// Looks at each result, and at each message that the server sends by itself.
fn only_what_the_revision_defines(server: &Server, trace: &Trace) -> Outcome {
    let revision = server.revision();
    if !is_in_revision(server, trace) {
        return Ok(());
    }
    // Another requirement is about the result of initialize, which comes before the agreement.
    for exchange in exchanges(trace).into_iter().filter(|exchange| exchange.method != "initialize") {
        let Some(result) = exchange.response.get("result") else { continue };
        if let Some(fault) = shapes::fault_of_result(&exchange.method, result, revision) {
            let expected = format!("a result of {} as revision {revision} defines it", exchange.method);
            return Err(Stop::failed(expected, format!("{fault}: `{}`", exchange.response)));
        }
    }
    for message in trace.messages(Sender::Subject).iter().filter(|message| !is_response(message)) {
        if let Some(fault) = shapes::fault_of_call(message, revision) {
            let expected = format!("only messages that revision {revision} defines");
            return Err(Stop::failed(expected, format!("{fault}: `{message}`")));
        }
    }
    Ok(())
}

async fn only_declared_capabilities(server: Server) -> Outcome {
    let roles = ["roots", "sampling", "elicitation", "changes_tools", "changes_prompts"];
    let mut tools: Vec<Value> = roles.iter().filter_map(|role| server.tool(role).ok()).collect();
    let offer = server.offer().await?;
    let mut conversation = server.open_with(json!({})).await?;
    if let Link::Streamable(link) = &mut conversation.link {
        // Messages that belong to no request have this stream, which a server without one refuses.
        let _status = link.listen().await.map_err(Stop::while_preparing)?;
    }
    if tools.is_empty() && offer.pointer("/capabilities/tools").is_some() {
        tools.push(server.any_tool(&mut conversation).await?);
    }
    if tools.is_empty() {
        return Err(Stop::not_applicable("the server offers no tools that could ask its client"));
    }
    for tool in tools {
        // It fails, or does without an answer.
        let name = tool["name"].clone();
        conversation.request("tools/call", tool).await.map_err(Stop::while_preparing)?;
        conversation.serve(SILENCE).await?;
        // A tool may ask every caller without a look at what the library knows of it, so the verdict names the tool.
        for request in &conversation.asked {
            let method = request["method"].as_str().unwrap_or_default();
            let is_of_client =
                ["roots/list", "sampling/createMessage", "elicitation/create"].contains(&method);
            let expected = format!("no {method} to a client that declared no capabilities");
            ensure!(!is_of_client, expected, "the call of the tool {name} led to `{request}`");
        }
    }
    for message in conversation.queued() {
        let method = message["method"].as_str().unwrap_or_default();
        let Some(list) =
            method.strip_prefix("notifications/").and_then(|rest| rest.strip_suffix("/list_changed"))
        else {
            continue;
        };
        // An extension may have lists of its own.
        if !["tools", "prompts", "resources"].contains(&list) {
            continue;
        }
        let is_declared = offer.pointer(&format!("/capabilities/{list}/listChanged")) == Some(&json!(true));
        ensure!(is_declared, format!("no {method} without the capability {list}.listChanged"), "`{message}`");
    }
    Ok(())
}

/// Methods, and the capability without which a server has none of them. `CMP-01` is about completion.
const GATED: &[(&str, &str, Revision)] = &[
    ("tools", "tools/list", Revision::Mcp20241105),
    ("prompts", "prompts/list", Revision::Mcp20241105),
    ("resources", "resources/list", Revision::Mcp20241105),
    ("logging", "logging/setLevel", Revision::Mcp20241105),
    ("tasks", "tasks/list", Revision::Mcp20251125),
];

async fn undeclared_methods(server: Server) -> Outcome {
    let offer = server.offer().await?;
    let is_missing = |capability: &str| offer["capabilities"].get(capability).is_none();
    let missing: Vec<_> = GATED
        .iter()
        .filter(|(capability, _, since)| is_missing(capability) && server.revision() >= *since)
        .collect();
    if missing.is_empty() {
        return Err(Stop::not_applicable("the server declares every capability"));
    }
    let mut conversation = server.open().await?;
    for (capability, method, _) in missing {
        let params = if *method == "logging/setLevel" { json!({"level": "info"}) } else { json!({}) };
        let response = conversation.request(method, params).await.map_err(Stop::while_preparing)?;
        ensure!(
            has_code(&response, METHOD_NOT_FOUND),
            format!("error -32601 for {method} without the capability {capability}"),
            "`{response}`"
        );
    }
    Ok(())
}

async fn ends_with_its_input(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    still_works(&server, &mut conversation).await.map_err(Stop::while_preparing)?;
    // An answer would have no way to the server any more.
    conversation.answer_with(|_| None);
    conversation.close();
    // No page limits the time.
    let time = conversation.wait();
    let until = Instant::now() + time;
    while Instant::now() < until {
        conversation.serve(POLL).await?;
        let has_ended = conversation.link.wait(POLL).await.is_some();
        // A mutant hides the end of the output; the program below it ends all the same.
        if has_ended && (server.setting.faults.is_none() || conversation.is_closed()) {
            return Ok(());
        }
    }
    let seen = format!("it runs {} s later", time.as_secs());
    Err(Stop::failed("the end of the program after the end of its standard input", seen))
}

async fn all_members_of_client_info(server: Server) -> Outcome {
    let mut conversation = server.connect().await?;
    let mut params = server.initialize(super::capabilities(server.revision()));
    params["clientInfo"]["title"] = json!("Conformance");
    params["clientInfo"]["description"] = json!("Judges servers");
    params["clientInfo"]["websiteUrl"] = json!("https://example.com/");
    params["clientInfo"]["icons"] = json!([
        {"src": "https://example.com/icon.png", "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": "dark"},
    ]);
    let response = conversation.request("initialize", params).await.map_err(Stop::while_preparing)?;
    let expected = "a result for initialize with all members of `clientInfo`";
    ensure!(response.get("result").is_some(), expected, "`{response}`");
    Ok(())
}
