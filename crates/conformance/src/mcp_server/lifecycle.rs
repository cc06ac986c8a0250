//! Checks of servers: the lifecycle.

use std::time::Duration;

use serde_json::{Value, json};

use super::exchanges::{exchanges, is_in_revision};
use super::raw::{self, SILENCE, is_response, quick, still_works};
use super::{Server, shapes};
use crate::check::{ANY, Check, STDIO, WEB, audit, check};
use crate::conversation::Conversation;
use crate::fault::Fault;
use crate::faults;
use crate::link::Link;
use crate::revision::Revision;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Server>] = &[
    check!("LIF-03", initialize_result, ANY, [
        "leaves the version out" => without("protocolVersion"),
        "leaves its capabilities out" => without("capabilities"),
        "leaves its name out" => without("serverInfo"),
        "has no version of its own" => faults::result_of("initialize", |result| result["serverInfo"] = json!({"name": "x"})),
    ]),
    check!("LIF-06", nothing_before_initialized, ANY, [
        "says at once that its tools have changed" => faults::says_after_response_to("initialize", |_| vec![
            json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
        ]),
        "asks for folders at once" => faults::says_after_response_to("initialize", |_| vec![
            json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}),
        ]),
    ]),
    check!("LIF-07", no_request_before_initialize, ANY, [
        "lists tools to anybody" => faults::each_response(|m| if m.get("error").is_some() {
            *m = json!({"jsonrpc": "2.0", "id": m["id"], "result": {"tools": []}});
        }),
    ]),
    audit!("LIF-12", only_what_the_revision_defines, ANY, [
        "lists its tools as an object" => faults::result_of("tools/list", |result| result["tools"] = json!({})),
        "sends a notification of a later revision" => faults::says_at("notifications/initialized", |_| vec![
            json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"}),
        ]),
    ]),
    audit!("LIF-12b", only_what_the_revision_defines, ANY, [
        "lists its tools as an object" => faults::result_of("tools/list", |result| result["tools"] = json!({})),
    ]),
    check!("LIF-13", only_declared_capabilities, ANY, [
        "asks a client that cannot answer" => asks_anyway(),
        "says that its tools have changed without a word before" => changes_undeclared(),
    ]),
    check!("LIF-13b", only_declared_capabilities, ANY, [
        "asks a client that cannot answer" => asks_anyway(),
        "says that its tools have changed without a word before" => changes_undeclared(),
    ]),
    check!("LIF-15", undeclared_methods, ANY, [
        "answers prompts/list without the capability" => undeclared("prompts"),
        "answers tools/list without the capability" => undeclared("tools"),
    ]),
    check!("LIF-20", second_initialize, ANY, [
        "changes the version of an open session" => {
            let mut first = None;
            faults::response_to("initialize", move |response| match &first {
                None => first = Some(response["result"].clone()),
                Some(result) => {
                    *response = json!({"jsonrpc": "2.0", "id": response["id"], "result": result});
                    response["result"]["protocolVersion"] = json!("2001-01-01");
                }
            })
        },
        "is unusable afterwards" => faults::loses_response_to("ping"),
    ]),
    check!("LIF-23", ends_with_its_input, STDIO, [
        "goes on after the end of its input" => faults::never_closes(),
    ]),
    check!("LIF-24", no_message_at_the_end, WEB, [
        "announces its end" => faults::says_after_response_to("ping", |_| vec![json!({"jsonrpc": "2.0", "method": "notifications/shutdown"})]),
    ]),
    check!("LIF-25", all_members_of_client_info, ANY, [
        "refuses icons" => faults::response_to("initialize", |m| *m = json!({
            "jsonrpc": "2.0", "id": m["id"], "error": {"code": -32602, "message": "unknown member `icons`"},
        })),
        "writes its website as an object" => faults::result_of("initialize", |result| result["serverInfo"]["websiteUrl"] = json!({})),
    ]),
];

fn without(name: &'static str) -> Box<dyn Fault> {
    faults::result_of("initialize", move |result| {
        result.as_object_mut().map(|result| result.remove(name));
    })
}

fn undeclared(capability: &'static str) -> Box<dyn Fault> {
    faults::result_of("initialize", move |result| {
        result["capabilities"].as_object_mut().map(|all| all.remove(capability));
    })
}

fn asks_anyway() -> Box<dyn Fault> {
    faults::says_at("tools/call", |_| vec![json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"})])
}

fn changes_undeclared() -> Box<dyn Fault> {
    let hides = faults::result_of("initialize", |result| result["capabilities"]["tools"] = json!({}));
    let changed = |_: &Value| vec![json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})];
    faults::both(hides, faults::says_at("tools/call", changed))
}

async fn initialize_result(server: Server) -> Outcome {
    let mut conversation = server.connect().await?;
    let params = server.initialize(super::capabilities(server.revision()));
    let result = conversation.ok("initialize", params).await?;
    let version = result["protocolVersion"].as_str().unwrap_or_default();
    ensure!(!version.is_empty(), "a text as the `protocolVersion` of the result of initialize", "`{result}`");
    ensure!(result["capabilities"].is_object(), "an object as the `capabilities`", "`{result}`");
    let info = &result["serverInfo"];
    ensure!(
        info["name"].is_string() && info["version"].is_string(),
        "a `serverInfo` with a `name` and a `version`",
        "`{result}`"
    );
    Ok(())
}

async fn nothing_before_initialized(server: Server) -> Outcome {
    let mut conversation = server.connect().await?;
    let params = server.initialize(super::capabilities(server.revision()));
    conversation.ok("initialize", params).await.map_err(Stop::while_preparing)?;
    if let Link::Streamable(link) = &mut conversation.link {
        // A server without such a stream refuses it.
        let _status = link.listen().await?;
    }
    let is_allowed = |message: &Value| {
        matches!(message["method"].as_str(), Some("ping" | "notifications/message")) || is_response(message)
    };
    let expected = "no message but ping and log messages before the initialized notification";
    conversation.silence(SILENCE, expected, is_allowed).await
}

async fn no_request_before_initialize(server: Server) -> Outcome {
    let mut conversation = server.connect().await?;
    if let Link::Streamable(_) = conversation.link {
        let mut other = server.open().await?;
        still_works(&server, &mut other).await.map_err(Stop::while_preparing)?;
        if let Link::Streamable(link) = &other.link
            && link.session().is_none()
        {
            return Err(Stop::not_applicable(
                "the server gives no session ids, so it cannot tell the clients apart",
            ));
        }
    }
    let message = json!({"jsonrpc": "2.0", "id": "early", "method": "tools/list", "params": {}});
    let reaction = raw::react_to(&mut conversation, &message, 1).await?;
    let is_error = reaction.is_refused() || !reaction.codes().is_empty();
    let has_result = reaction.messages.iter().any(|message| message.get("result").is_some());
    ensure!(is_error && !has_result, "an error for a request before initialize", "{reaction}");
    if let Link::Streamable(_) = conversation.link {
        ensure!(reaction.status == Some(400), "the status 400 for a request without a session", "{reaction}");
    }
    Ok(())
}

/// Looks at each result, and at each message that the server sends by itself.
fn only_what_the_revision_defines(server: &Server, trace: &Trace) -> Outcome {
    let revision = server.revision();
    if !is_in_revision(server, trace) {
        return Ok(());
    }
    for exchange in exchanges(trace) {
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
    let roles = ["roots", "sampling", "elicitation"];
    let mut tools: Vec<Value> = roles.iter().filter_map(|role| server.tool(role).ok()).collect();
    let offer = server.offer().await?;
    let mut conversation = server.open_with(json!({})).await?;
    if tools.is_empty() && offer.pointer("/capabilities/tools").is_some() {
        tools.push(server.any_tool(&mut conversation).await?);
    }
    if tools.is_empty() {
        return Err(Stop::not_applicable("the server offers no tools that could ask its client"));
    }
    for tool in tools {
        // It fails, or does without an answer.
        conversation.request("tools/call", tool).await.map_err(Stop::while_preparing)?;
    }
    let arrived = conversation.listen(SILENCE).await?;
    for request in &conversation.asked {
        ensure!(request["method"] == "ping", "no request to a client without capabilities", "`{request}`");
    }
    for message in arrived.iter().map(|arrived| &arrived.message) {
        let method = message["method"].as_str().unwrap_or_default();
        let Some(list) =
            method.strip_prefix("notifications/").and_then(|rest| rest.strip_suffix("/list_changed"))
        else {
            continue;
        };
        let is_declared = offer.pointer(&format!("/capabilities/{list}/listChanged")) == Some(&json!(true));
        ensure!(is_declared, format!("no {method} without the capability {list}.listChanged"), "`{message}`");
    }
    Ok(())
}

/// Methods, and the capability without which a server has none of them.
const GATED: &[(&str, &str, Revision)] = &[
    ("tools", "tools/list", Revision::Mcp20241105),
    ("prompts", "prompts/list", Revision::Mcp20241105),
    ("resources", "resources/list", Revision::Mcp20241105),
    ("completions", "completion/complete", Revision::Mcp20250326),
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
        let params = match *method {
            "logging/setLevel" => json!({"level": "info"}),
            "completion/complete" => {
                json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "x", "value": ""}})
            }
            _ => json!({}),
        };
        let error = conversation.error(method, params).await?;
        ensure!(
            error["code"] == -32601,
            format!("error -32601 for {method} without the capability {capability}"),
            "`{error}`"
        );
    }
    Ok(())
}

async fn second_initialize(server: Server) -> Outcome {
    let mut conversation = server.connect().await?;
    conversation.answer_with(super::answers::answer);
    let params = server.initialize(super::capabilities(server.revision()));
    let first = conversation.ok("initialize", params.clone()).await.map_err(Stop::while_preparing)?;
    conversation.notify("notifications/initialized", json!({})).await?;
    let message = json!({"jsonrpc": "2.0", "id": "again", "method": "initialize", "params": params});
    let again = initialize_again(&mut conversation, &message).await?;
    if let Some(result) = again.as_ref().and_then(|response| response.get("result")) {
        ensure!(
            ["protocolVersion", "capabilities", "serverInfo"].iter().all(|name| result[name] == first[name]),
            format!("an error or the same result for a second initialize: `{first}`"),
            "`{result}`"
        );
    }
    still_works(&server, &mut conversation).await
}

/// Sends initialize within the open session. Over HTTP a refusal may have no message.
async fn initialize_again(conversation: &mut Conversation, message: &Value) -> Outcome<Option<Value>> {
    if let Link::Streamable(link) = &conversation.link {
        let mut response = link.request("POST").json(message).send().await?;
        if (400..500).contains(&response.status()) {
            return Ok(response.json().await.ok());
        }
        return Ok(Some(response.response(&message["id"]).await?));
    }
    Ok(raw::react_to(conversation, message, 1).await?.messages.pop())
}

async fn ends_with_its_input(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    still_works(&server, &mut conversation).await.map_err(Stop::while_preparing)?;
    if let Ok(tool) = raw::tool_with_key(&server, "slow", &raw::unique()?) {
        conversation.start("tools/call", tool).await?;
    }
    // An answer would have no way to the server any more.
    conversation.answer_with(|_| None);
    conversation.close();
    let time = conversation.wait();
    conversation.end(time).await?;
    let ended = conversation.link.wait(Duration::from_secs(5)).await;
    ensure!(ended.is_some(), "the program ends after its standard input", "it runs 5 s later");
    Ok(())
}

async fn no_message_at_the_end(server: Server) -> Outcome {
    for _ in 0..2 {
        let mut conversation = server.open().await?;
        if let Link::Streamable(link) = &mut conversation.link {
            let _status = link.listen().await?;
        }
        conversation.ok(quick(&server), json!({})).await?;
        // With it, its connections close.
        drop(conversation);
    }
    for message in server.setting.trace.messages(Sender::Subject) {
        let method = message["method"].as_str();
        let is_known = method.is_none_or(shapes::is_method);
        ensure!(is_known, "no message that announces the end of a session", "`{message}`");
    }
    Ok(())
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
    let result = conversation.ok("initialize", params).await?;
    if let Some(fault) = shapes::fault_of_result("initialize", &result, server.revision()) {
        return Err(Stop::failed(
            "members of `serverInfo` of the right types",
            format!("{fault}: `{result}`"),
        ));
    }
    Ok(())
}
