//! Which revision is agreed on, and what follows from it.

use serde_json::{Value, json};

use crate::check::{ANY, Check, audit, check};
use crate::fault::Incoming;
use crate::faults;
use crate::mcp_client::McpClient;
use crate::mcp_client::opened::QUIET;
use crate::revision::Revision;
use crate::subject::Transport;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!("LIF-08", the_offered_version_is_spoken, ANY, [
        "does not speak what it offers" => faults::steps_fail(),
    ]),
    check!("LIF-08b", the_newest_version_is_offered, ANY, [
        "speaks a newer version than it offers" => faults::steps_succeed(),
    ]),
    check!("LIF-11", an_unknown_version_ends_the_session, ANY, [
        "goes on in an unknown version" => faults::steps_succeed(),
        "says that it is initialized" => faults::says_before_call("initialize", |_| vec![
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        ]),
    ]),
    audit!("LIF-12", only_what_the_revision_defines, ANY, [
        "uses a method of a later revision" => faults::each_call("tools/list", |m| m["method"] = json!("subscriptions/listen")),
        "sends a member of a later revision" => faults::each_call("tools/call", |m| m["params"]["requestState"] = json!("s")),
    ]),
    audit!("LIF-12b", only_what_the_revision_defines, ANY, [
        "uses a method of a later revision" => faults::each_call("tools/list", |m| m["method"] = json!("subscriptions/listen")),
    ]),
    check!("LIF-14", only_declared_features_are_used, ANY, [
        "lists prompts anyway" => faults::says_before_call("tools/list", |_| vec![asks("prompts/list")]),
        "sets the log level anyway" => faults::says_before_call("tools/list", |_| vec![asks("logging/setLevel")]),
    ]),
    check!("LIF-14b", only_declared_features_are_used, ANY, [
        "lists prompts anyway" => faults::says_before_call("tools/list", |_| vec![asks("prompts/list")]),
        "subscribes anyway" => faults::says_before_call("tools/list", |_| vec![asks("resources/subscribe")]),
    ]),
    check!("LIF-21", a_refused_version_is_reported, ANY, [
        "goes on after a refusal" => faults::steps_succeed(),
        "hangs after a refusal" => faults::incoming(|incoming| match incoming {
            Incoming::Outcome(_) => Vec::new(),
            other => vec![other],
        }),
    ]),
];

fn asks(method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": "asked", "method": method, "params": {}})
}

async fn the_offered_version_is_spoken(client: McpClient) -> Outcome {
    let answers = client.script().answers_after(|script, request| {
        if request["method"] != "initialize" {
            return None;
        }
        let mut result = script.result("initialize");
        result["protocolVersion"] = request["params"]["protocolVersion"].clone();
        Some(Ok(result))
    });
    let mut opened = client.open_with("list_tools", json!({}), answers).await?;
    opened.ok().await.map(drop)
}

/// A client that goes on in a newer version than the one it offered has not offered its newest.
async fn the_newest_version_is_offered(client: McpClient) -> Outcome {
    let newer =
        Revision::MCP.iter().filter(|revision| revision.has_sessions() && **revision > client.revision());
    let newer: Vec<_> = newer.collect();
    if newer.is_empty() {
        return Err(Stop::not_applicable("there is no newer version with sessions"));
    }
    for newer in newer {
        let mut opened = client.open("list_tools", json!({}), client.script().leaves("initialize")).await?;
        let request = opened.server.call("initialize").await.map_err(Stop::while_preparing)?;
        let offered = request["params"]["protocolVersion"].as_str().unwrap_or_default().to_owned();
        if offered.as_str() >= newer.as_str() {
            continue;
        }
        let mut result = client.script().result("initialize");
        result["protocolVersion"] = json!(newer.as_str());
        opened.server.reply(&request, result).await?;
        let outcome = opened.outcome(opened.step).await?;
        let what = format!("initialize with {newer}, which the client speaks");
        ensure!(outcome.get("error").is_some(), what, "initialize with {offered}");
    }
    Ok(())
}

async fn an_unknown_version_ends_the_session(client: McpClient) -> Outcome {
    let mut result = client.script().result("initialize");
    result["protocolVersion"] = json!("1999-01-01");
    let mut opened =
        client.open("list_tools", json!({}), client.script().on_exactly("initialize", result)).await?;
    opened.error().await?;
    opened.server.listen(QUIET).await?;
    for message in client.setting.trace.messages(Sender::Subject) {
        let is_forbidden = message["method"] == "notifications/initialized";
        ensure!(!is_forbidden, "no notifications/initialized", "`{message}`");
    }
    if client.setting.transport == Transport::Stdio {
        opened.server.end(client.setting.wait).await?;
    }
    Ok(())
}

async fn a_refused_version_is_reported(client: McpClient) -> Outcome {
    let answers = client.script().answers_after(|_, request| {
        let data = json!({"supported": ["1999-01-01"], "requested": request["params"]["protocolVersion"]});
        let error = json!({"code": -32602, "message": "Unsupported protocol version", "data": data});
        (request["method"] == "initialize").then_some(Err(error))
    });
    let mut opened = client.open_with("list_tools", json!({}), answers).await?;
    opened.error().await.map(drop)
}

/// The methods of a client's requests and notifications in sessions.
const METHODS: &[&str] = &[
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
];

/// Those that came with tasks.
const TASK_METHODS: &[&str] =
    &["tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "notifications/tasks/status"];

/// Members that only some revisions have: the method, the member, and the revisions.
const MEMBERS: &[(&str, &str, &[Revision])] = &[
    ("completion/complete", "/params/context", &[Revision::Mcp20250618, Revision::Mcp20251125]),
    ("tools/call", "/params/task", &[Revision::Mcp20251125]),
    ("tools/call", "/params/requestState", &[]),
    ("tools/call", "/params/inputResponses", &[]),
    ("resources/read", "/params/requestState", &[]),
    (
        "notifications/progress",
        "/params/message",
        &[Revision::Mcp20250326, Revision::Mcp20250618, Revision::Mcp20251125],
    ),
];

fn only_what_the_revision_defines(client: &McpClient, trace: &Trace) -> Outcome {
    let revision = client.revision();
    let messages = trace.messages(Sender::Subject);
    // What comes before `notifications/initialized` is not bound to what is agreed on.
    let agreed = messages.iter().skip_while(|message| message["method"] != "notifications/initialized");
    for message in agreed {
        let Some(method) = message["method"].as_str() else {
            continue;
        };
        if method == "initialize" || method == "server/discover" {
            // Another conversation of the client begins.
            continue;
        }
        let is_known =
            METHODS.contains(&method) || revision == Revision::Mcp20251125 && TASK_METHODS.contains(&method);
        ensure!(is_known, format!("methods of {revision} only"), "`{message}`");
        for (_, member, revisions) in MEMBERS.iter().filter(|(of, ..)| *of == method) {
            let is_there = message.pointer(member).is_some();
            ensure!(
                !is_there || revisions.contains(&revision),
                format!("members of {revision} only"),
                "`{message}`"
            );
        }
    }
    Ok(())
}

/// The server has tools only. Whether the client refuses the other steps or leaves them without effect is up to it.
async fn only_declared_features_are_used(client: McpClient) -> Outcome {
    let script = client.script().capabilities(|capabilities| *capabilities = json!({"tools": {}}));
    let mut opened = client.connected(script).await?;
    let completion =
        json!({"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "name", "value": "A"}});
    let mut steps = vec![
        ("list_prompts", json!({})),
        ("get_prompt", json!({"name": "greet"})),
        ("subscribe", json!({"uri": "test://one"})),
        ("set_level", json!({"level": "info"})),
    ];
    // Completion had no capability at first.
    if client.revision() > Revision::Mcp20241105 {
        steps.push(("complete", completion));
    }
    for (step, params) in steps {
        let step = opened.then(step, params).await?;
        opened.outcome(step).await?;
    }
    let forbidden = ["prompts/", "resources/subscribe", "logging/", "completion/"];
    for request in &opened.server.asked {
        let method = request["method"].as_str().unwrap_or_default();
        // A method of completion is not bound to a capability in the first revision.
        let is_free = client.revision() == Revision::Mcp20241105 && method.starts_with("completion/");
        ensure!(
            is_free || !forbidden.iter().any(|start| method.starts_with(start)),
            "no request for what the server does not declare",
            "`{request}`"
        );
    }
    Ok(())
}
