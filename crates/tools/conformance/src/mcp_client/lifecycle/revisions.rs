//! Checks of clients: the negotiated revision, and the messages that depend on it.

use serde_json::{Value, json};

use crate::check::{ANY, Check, audit, check};
use crate::mcp_client::McpClient;
use crate::mcp_client::lifecycle::end::ends;
use crate::mcp_client::opened::{Opened, QUIET};
use crate::requirements::revision::Revision;
use crate::subject::Transport;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!(the_offered_version_is_spoken, ANY),
    check!(the_newest_version_is_offered, ANY),
    check!(an_unknown_version_ends_the_session, ANY),
    audit!(only_what_the_revision_defines, ANY),
    check!(only_declared_features_are_used, ANY),
    check!(a_refused_version_is_reported, ANY),
];

/// A version that no client supports.
const UNKNOWN: &str = "1999-01-01";

/// The outcome of a client's first step when the server answers its initialize request with a version of the check's choice.
async fn outcome_in(client: &McpClient, version: &str) -> Outcome<(Opened, Value)> {
    let mut result = client.script().result("initialize");
    result["protocolVersion"] = json!(version);
    let mut opened =
        client.open("list_tools", json!({}), client.script().on_exactly("initialize", result)).await?;
    let outcome = opened.outcome(opened.step).await?;
    Ok((opened, outcome))
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
    let outcome = opened.outcome(opened.step).await?;
    let what = "a client that goes on in the version that its initialize request offers";
    ensure!(outcome.get("error").is_none(), what, "`{outcome}`");
    Ok(())
}

/// A client that goes on in a newer version than the one it offered has not offered its latest.
async fn the_newest_version_is_offered(client: McpClient) -> Outcome {
    let (opened, outcome) = outcome_in(&client, UNKNOWN).await.map_err(Stop::while_preparing)?;
    if client.setting.faults.is_none() && outcome.get("error").is_none() {
        return Err(Stop::inconclusive("the client goes on in a version that does not exist"));
    }
    let initialize = opened.server.asked.iter().find(|request| request["method"] == "initialize");
    let offered = initialize.and_then(|request| request["params"]["protocolVersion"].as_str());
    let offered = offered.ok_or_else(|| Stop::inconclusive("the client offered no version"))?;
    let sessions = Revision::MCP.iter().filter(|revision| revision.is_legacy());
    let newer: Vec<_> = sessions.filter(|revision| revision.as_str() > offered).collect();
    if newer.is_empty() {
        return Err(Stop::not_applicable("there is no newer version with sessions"));
    }
    for newer in newer {
        let (_, outcome) = outcome_in(&client, newer.as_str()).await.map_err(Stop::while_preparing)?;
        if outcome.get("error").is_none() && client.is_told_its_revision() && client.setting.faults.is_none()
        {
            return Err(Stop::inconclusive("the profile tells the client which version to offer"));
        }
        let what = format!("initialize with {newer}, which the client speaks");
        ensure!(outcome.get("error").is_some(), what, "initialize with {offered}");
    }
    Ok(())
}

async fn an_unknown_version_ends_the_session(client: McpClient) -> Outcome {
    let (mut opened, _) = outcome_in(&client, UNKNOWN).await.map_err(Stop::while_preparing)?;
    opened.server.serve(QUIET).await?;
    let is_opening = |request: &&Value| {
        ["initialize", "server/discover", "ping"].iter().any(|method| request["method"] == *method)
    };
    if let Some(request) = opened.server.asked.iter().find(|request| !is_opening(request)) {
        let what = format!("the end of the connection after the answer with the version {UNKNOWN}");
        return Err(Stop::failed(what, format!("`{request}`")));
    }
    if client.setting.transport == Transport::Stdio {
        ends(&client, &mut opened).await?;
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
    let outcome = opened.outcome(opened.step).await?;
    let what = "an error of the step whose initialize request was refused with -32602";
    ensure!(outcome.get("error").is_some(), what, "`{outcome}`");
    Ok(())
}

/// The methods that only some revisions have. A client may have methods of its own.
const METHODS: &[(&str, &[Revision])] = &[
    ("subscriptions/listen", &[]),
    ("tasks/update", &[]),
    ("tasks/get", &[Revision::Mcp20251125]),
    ("tasks/result", &[Revision::Mcp20251125]),
    ("tasks/list", &[Revision::Mcp20251125]),
    ("tasks/cancel", &[Revision::Mcp20251125]),
    ("notifications/tasks/status", &[Revision::Mcp20251125]),
];

fn only_what_the_revision_defines(client: &McpClient, trace: &Trace) -> Outcome {
    let revision = client.revision();
    let messages = trace.messages(Sender::Subject);
    // What comes before `notifications/initialized` is not bound to what is agreed on.
    for message in messages.iter().skip_while(|message| message["method"] != "notifications/initialized") {
        let known = METHODS.iter().find(|(method, _)| message["method"] == *method);
        let is_defined = known.is_none_or(|(_, revisions)| revisions.contains(&revision));
        ensure!(is_defined, format!("only methods that revision {revision} defines"), "`{message}`");
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
    let mut ended = Ok(());
    for (step, params) in steps {
        let step = opened.then(step, params).await?;
        ended = opened.outcome(step).await.map(drop).map_err(Stop::while_preparing);
        if ended.is_err() {
            // What the client has asked up to here counts.
            break;
        }
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
    ended
}
