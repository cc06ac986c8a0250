//! Opening, closing and reopening sessions.

pub(super) mod list;
pub(crate) mod mcp_over_acp;
pub(super) mod options;

use serde_json::{Value, json};

use super::AcpClient;
use super::connection::jsonrpc::is_absolute;
use super::run::{ClientRun, audited};
use crate::check::{ANY, Check, audit, check};
use crate::requirements::revision::Revision;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<AcpClient>] = &[
    audit!(sessions_come_after_initialize, ANY),
    audit!(working_directories_are_absolute, ANY),
    check!(loads_only_where_advertised, ANY),
    check!(loads_with_everything, ANY),
    check!(resumes_only_where_advertised, ANY),
    check!(resumes_with_everything, ANY),
    check!(closes_only_where_advertised, ANY),
    check!(directories_are_absolute, ANY),
    check!(sends_directories_only_where_advertised, ANY),
    check!(reopens_with_all_directories, ANY),
    check!(lists_servers_only_where_advertised, ANY),
    check!(commands_are_absolute, ANY),
    check!(servers_have_the_right_type, ANY),
    check!(keeps_early_updates, ANY),
];

fn sessions_come_after_initialize(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    let mut is_initialized = false;
    let mut asked = Vec::new();
    for (from, message) in trace.exchanged() {
        if from == Sender::Suite {
            is_initialized |= asked.contains(&message["id"]) && message.get("result").is_some();
        } else if message["method"] == "initialize" {
            asked.push(message["id"].clone());
        } else if message["method"] == "session/new" && !asked.is_empty() {
            // INIT-01 is about a client that never sent `initialize`.
            ensure!(is_initialized, "the agent's answer to `initialize` before a new session", "`{message}`");
        }
    }
    Ok(())
}

fn working_directories_are_absolute(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    for message in trace.messages(Sender::Subject) {
        let opens =
            ["session/new", "session/load", "session/resume"].iter().any(|name| message["method"] == *name);
        if opens {
            let cwd = message["params"]["cwd"].as_str();
            // SES-06 and SES-11 are about sessions that are opened again without one.
            let is_right = cwd.map_or(message["method"] != "session/new", is_absolute);
            ensure!(is_right, "an absolute path as the session's `cwd`", "`{message}`");
        }
    }
    Ok(())
}

/// Tries a step with an agent that lacks a capability; the client must not send a method then.
async fn never_sends(client: AcpClient, step: &str, method: &str, pointer: &str) -> Outcome {
    let script = client.script().change("initialize", |greeting| {
        if let Some(capability) = greeting.pointer_mut(&format!("/agentCapabilities{pointer}")) {
            *capability = Value::Null;
        }
    });
    let run = client.tried(step, json!({"session": "session-1"}), script).await?;
    run.never_sent(method, &format!("the agent did not advertise {}", &pointer[1..].replace('/', ".")))
}

async fn loads_only_where_advertised(client: AcpClient) -> Outcome {
    never_sends(client, "load_session", "session/load", "/loadSession").await
}

async fn resumes_only_where_advertised(client: AcpClient) -> Outcome {
    never_sends(client, "resume_session", "session/resume", "/sessionCapabilities/resume").await
}

async fn closes_only_where_advertised(client: AcpClient) -> Outcome {
    never_sends(client, "close_session", "session/close", "/sessionCapabilities/close").await
}

/// The request that a step sends.
async fn request_of(
    client: &AcpClient,
    step: &str,
    params: Value,
    method: &'static str,
) -> Outcome<(ClientRun, Value)> {
    let (mut run, _) = client.begin(step, params, client.script().leaves(method)).await?;
    let request = run.first(method).await.map_err(Stop::while_preparing)?;
    Ok((run, request))
}

async fn loads_with_everything(client: AcpClient) -> Outcome {
    let (_run, request) =
        request_of(&client, "load_session", json!({"session": "session-1"}), "session/load").await?;
    let params = &request["params"];
    let has_all =
        params["sessionId"] == "session-1" && params["cwd"].is_string() && params["mcpServers"].is_array();
    ensure!(has_all, "the session's id, working directory and MCP servers in `session/load`", "`{request}`");
    Ok(())
}

async fn resumes_with_everything(client: AcpClient) -> Outcome {
    let params = json!({"session": "session-1"});
    let (_run, request) = request_of(&client, "resume_session", params, "session/resume").await?;
    let params = &request["params"];
    let has_all = params["sessionId"] == "session-1" && params["cwd"].is_string();
    ensure!(has_all, "the session's id and working directory in `session/resume`", "`{request}`");
    Ok(())
}

/// The items of a member of `session/new` that clients have sent.
pub(super) fn items(run: &ClientRun, name: &str) -> Vec<Value> {
    let opened = run.agent.asked.iter().filter(|message| message["method"] == "session/new");
    opened.filter_map(|message| message["params"][name].as_array().cloned()).flatten().collect()
}

async fn directories_are_absolute(client: AcpClient) -> Outcome {
    let params = json!({"additional_directories": ["/tmp"]});
    let mut run = client.tried("new_session", params, client.script()).await?;
    if run.played.driver.takes_steps() {
        let _refused = run.attempt("new_session", json!({"additional_directories": ["lib"]})).await;
    }
    for directory in items(&run, "additionalDirectories") {
        ensure!(
            directory.as_str().is_some_and(is_absolute),
            "absolute paths in `additionalDirectories`",
            "{directory}"
        );
    }
    Ok(())
}

async fn sends_directories_only_where_advertised(client: AcpClient) -> Outcome {
    let script = client.script().change("initialize", |greeting| {
        for pointer in ["/agentCapabilities/sessionCapabilities", "/capabilities/session"] {
            if let Some(session) = greeting.pointer_mut(pointer).and_then(Value::as_object_mut) {
                session.remove("additionalDirectories");
            }
        }
    });
    let run = client.tried("new_session", json!({"additional_directories": ["/tmp"]}), script).await?;
    let sent = items(&run, "additionalDirectories");
    ensure!(
        sent.is_empty(),
        "no `additionalDirectories`, because the agent did not advertise them",
        "{sent:?}"
    );
    Ok(())
}

/// Whether directories can be given to a step: always to a driver, and to a command whose arguments have a place for them.
fn takes_directories(client: &AcpClient, step: &str) -> bool {
    let has_place = |command: &Value| command.to_string().contains("{additional_directories}");
    client.has_driver() || client.setting.role(step).is_ok_and(has_place)
}

async fn reopens_with_all_directories(client: AcpClient) -> Outcome {
    let directories = json!({"additional_directories": ["/tmp", "/usr"]});
    let run = client.tried("new_session", directories, client.script()).await?;
    if items(&run, "additionalDirectories") != ["/tmp", "/usr"] {
        return Err(Stop::not_applicable("the client sends no additional directories"));
    }
    drop(run);
    let params = json!({"session": "session-1", "additional_directories": ["/tmp", "/usr"]});
    let mut steps = vec![("resume_session", "session/resume"), ("load_session", "session/load")];
    steps.truncate(if client.revision() == Revision::Acp2 { 1 } else { 2 });
    steps.retain(|(step, _)| takes_directories(&client, step));
    if steps.is_empty() {
        return Err(Stop::not_applicable(
            "the client has no step that opens a session again with directories",
        ));
    }
    for (step, method) in steps {
        let (_run, request) = request_of(&client, step, params.clone(), method).await?;
        let sent = &request["params"]["additionalDirectories"];
        ensure!(*sent == json!(["/tmp", "/usr"]), "both directories of the session again", "`{request}`");
    }
    Ok(())
}

async fn lists_servers_only_where_advertised(client: AcpClient) -> Outcome {
    let script = client
        .script()
        .change("initialize", |greeting| greeting["agentCapabilities"]["mcpCapabilities"] = json!({}));
    let mut run = client.tried("new_session", json!({"mcp_servers": [server("http")]}), script).await?;
    if run.played.driver.takes_steps() {
        let _refused = run.attempt("new_session", json!({"mcp_servers": [server("sse")]})).await;
    }
    for listed in items(&run, "mcpServers") {
        let is_remote = listed["type"] == "http" || listed["type"] == "sse";
        ensure!(!is_remote, "no HTTP or SSE servers, because the agent advertised neither", "`{listed}`");
    }
    Ok(())
}

fn server(kind: &str) -> Value {
    json!({"type": kind, "name": "remote", "url": "https://example.com/mcp", "headers": []})
}

/// A server that is a command.
fn command_server(client: &AcpClient, command: &str) -> Value {
    let mut server = json!({"name": "local", "command": command, "args": [], "env": []});
    if client.revision() == Revision::Acp2 {
        server["type"] = json!("stdio");
    }
    server
}

async fn commands_are_absolute(client: AcpClient) -> Outcome {
    let params = json!({"mcp_servers": [command_server(&client, "/usr/bin/env")]});
    let mut run = client.tried("new_session", params, client.script()).await?;
    if run.played.driver.takes_steps() {
        let _refused =
            run.attempt("new_session", json!({"mcp_servers": [command_server(&client, "env")]})).await;
    }
    for listed in items(&run, "mcpServers") {
        if let Some(command) = listed.get("command") {
            let is_right = command.as_str().is_some_and(is_absolute);
            ensure!(is_right, "an absolute path as the command of an MCP server", "`{listed}`");
        }
    }
    Ok(())
}

async fn servers_have_the_right_type(client: AcpClient) -> Outcome {
    let params = json!({"mcp_servers": [server("http"), command_server(&client, "/usr/bin/env")]});
    let run = client.tried("new_session", params, client.script()).await?;
    for listed in items(&run, "mcpServers") {
        let is_stdio = listed.get("type").is_none_or(|kind| kind == "stdio");
        ensure!(
            is_stdio == listed["command"].is_string(),
            "no type, or `stdio`, for the server that is a command alone",
            "`{listed}`"
        );
    }
    Ok(())
}

async fn keeps_early_updates(client: AcpClient) -> Outcome {
    let script = client.script().leaves("session/new").leaves("session/prompt");
    let (mut run, _) = client.begin("prompt", json!({"text": "hello"}), script).await?;
    let opened = run.first("session/new").await.map_err(Stop::while_preparing)?;
    run.update(json!({"sessionUpdate": "session_info_update", "title": "early"})).await?;
    run.agent.reply(&opened, json!({"sessionId": "session-1"})).await?;
    run.agent.call("session/prompt").await?;
    if run.played.driver.takes_steps() {
        let state = run.ok("state", json!({})).await.map_err(Stop::while_preparing)?;
        let what = "the title of an update before the response to `session/new`";
        ensure!(state["title"] == "early", what, "`{}`", state["title"]);
    }
    Ok(())
}
