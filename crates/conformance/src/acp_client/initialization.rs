//! Agreeing on a version and on capabilities.

use serde_json::{Value, json};

use super::AcpClient;
use super::mutants;
use super::run::{QUIET, audited};
use crate::check::{ANY, Check, audit, check};
use crate::faults;
use crate::revision::Revision;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, ensure};

pub(super) const CHECKS: &[Check<AcpClient>] = &[
    audit!("INIT-01", initialize_comes_first, ANY, [
        "lists sessions at once" => mutants::adds_before("initialize", "session/list", || json!({})),
    ]),
    check!("INIT-02", sends_version_and_capabilities, ANY, [
        "leaves out its capabilities" => faults::each_call("initialize", |message| {
            message["params"] = json!({"protocolVersion": message["params"]["protocolVersion"]});
        }),
        "leaves out the version" => faults::each_call("initialize", |message| {
            message["params"]["protocolVersion"] = Value::Null;
        }),
    ]),
    check!("INIT-04", sends_its_name, ANY, [
        "leaves out its version" => faults::each_call("initialize", |message| {
            message["params"]["clientInfo"]["version"] = Value::Null;
        }),
    ]),
    check!("INIT-08", leaves_an_unknown_version, ANY, [
        "goes on" => mutants::also_requests("session/new", || json!({"cwd": "/"})),
        "stays connected" => faults::both(faults::never_closes(), faults::loses_requests(|request| request.method == "DELETE")),
    ]),
    check!("INIT-10", refuses_a_malformed_version, ANY, [
        "takes a text for a version" => mutants::also_requests("session/new", || json!({"cwd": "/"})),
        "sends its own version as text" => faults::each_call("initialize", |message| {
            message["params"]["protocolVersion"] = json!(message["params"]["protocolVersion"].to_string());
        }),
    ]),
    audit!("INIT-11", uses_the_agreed_version, ANY, [
        "calls a method of version 1" => mutants::adds_after("session/new", |_| {
            vec![json!({"jsonrpc": "2.0", "id": "forged", "method": "session/load", "params": {}})]
        }),
    ]),
    check!("INIT-12", does_without_capabilities, ANY, [
        "deletes a session" => mutants::also_requests("session/delete", || json!({"sessionId": "session-1"})),
        "links a folder" => faults::each_call("session/new", |message| {
            message["params"]["additionalDirectories"] = json!(["/tmp"]);
        }),
    ]),
    check!("INIT-13", works_with_any_capabilities, ANY, [
        "needs one of them" => faults::each_call("session/prompt", |message| *message = Value::Null),
    ]),
    check!("INIT-14", states_files_and_terminals, ANY, [
        "says nothing of terminals" => faults::each_call("initialize", |message| {
            if let Some(capabilities) = message["params"]["clientCapabilities"].as_object_mut() {
                capabilities.remove("terminal");
            }
        }),
    ]),
];

fn initialize_comes_first(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    let first = trace.messages(Sender::Subject).into_iter().find(|message| message["method"].is_string());
    if let Some(first) = first {
        ensure!(first["method"] == "initialize", "`initialize` as the first message", "`{first}`");
    }
    Ok(())
}

/// The params of the client's first message.
async fn greeting(client: &AcpClient) -> Outcome<Value> {
    let (mut run, _) = client.begin_silently("prompt", json!({"text": "hello"})).await?;
    Ok(run.initialize["params"].take())
}

async fn sends_version_and_capabilities(client: AcpClient) -> Outcome {
    let params = greeting(&client).await?;
    let has_both = params["protocolVersion"].is_u64() && params["clientCapabilities"].is_object();
    ensure!(has_both, "`protocolVersion` and `clientCapabilities` in `initialize`", "`{params}`");
    Ok(())
}

async fn sends_its_name(client: AcpClient) -> Outcome {
    let params = greeting(&client).await?;
    let info = &params["clientInfo"];
    let has_both = info["name"].is_string() && info["version"].is_string();
    ensure!(has_both, "`clientInfo` with a name and a version in `initialize`", "`{params}`");
    Ok(())
}

async fn states_files_and_terminals(client: AcpClient) -> Outcome {
    let params = greeting(&client).await?;
    let capabilities = &params["clientCapabilities"];
    let states_both = capabilities["fs"].is_object() && capabilities["terminal"].is_boolean();
    ensure!(states_both, "`fs` and `terminal` in the client's capabilities", "`{params}`");
    Ok(())
}

/// Answers `initialize` with a version: what the client does then.
async fn answers_version(
    client: &AcpClient,
    version: impl FnOnce(&Value) -> Value,
    why: &str,
) -> Outcome<super::run::ClientRun> {
    let (mut run, step) = client.begin_silently("prompt", json!({"text": "hello"})).await?;
    let initialize = run.initialize.clone();
    let version = version(&initialize["params"]["protocolVersion"]);
    let script = client.script().change("initialize", |greeting| greeting["protocolVersion"] = version);
    let mut answers = script.answers();
    if let Some(Ok(result)) = answers(&initialize) {
        run.agent.reply(&initialize, result).await?;
    }
    // A client may ask again, for another version.
    run.agent.answer_with(answers);
    let outcome = run.outcome(step).await?;
    ensure!(outcome.get("error").is_some(), format!("the client's step fails, because {why}"), "`{outcome}`");
    run.agent.serve(QUIET).await?;
    for method in ["session/new", "session/prompt"] {
        run.never_sent(method, why)?;
    }
    Ok(run)
}

async fn leaves_an_unknown_version(client: AcpClient) -> Outcome {
    let why = "the agent answered with the version 99";
    let mut run = answers_version(&client, |_| json!(99), why).await?;
    run.agent.end(client.setting.wait).await
}

async fn refuses_a_malformed_version(client: AcpClient) -> Outcome {
    let why = "the agent answered with the version \"1.0\"";
    let run = answers_version(&client, |_| json!("1.0"), why).await?;
    let version = run.initialize["params"]["protocolVersion"].clone();
    let is_right = version.as_u64().is_some_and(|version| version <= 65535);
    ensure!(is_right, "an integer from 0 to 65535 as the client's version", "{version}");
    Ok(())
}

/// The methods of one version that the other does not have.
const OF_VERSION_1: &[&str] = &["authenticate", "logout", "session/load", "session/set_mode"];
const OF_VERSION_2: &[&str] = &["auth/login", "auth/logout", "tool_call/cancel", "terminal/cancel"];

fn uses_the_agreed_version(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    let others = if client.revision() == Revision::Acp2 { OF_VERSION_1 } else { OF_VERSION_2 };
    for message in trace.messages(Sender::Subject) {
        let is_other = message["method"].as_str().is_some_and(|method| others.contains(&method));
        ensure!(!is_other, "only methods of the agreed version", "`{message}`");
    }
    Ok(())
}

async fn does_without_capabilities(client: AcpClient) -> Outcome {
    let is_second = client.revision() == Revision::Acp2;
    let script = client.script().change("initialize", |greeting| match is_second {
        true => greeting["capabilities"] = json!({"session": {}}),
        false => greeting["agentCapabilities"] = json!({}),
    });
    let mut turn = client.prompted(script).await?;
    turn.end_well().await?;
    let mut gated = vec!["session/delete"];
    if turn.run.played.driver.takes_steps() {
        let _refused = turn.run.attempt("delete_session", json!({"session": "session-1"})).await;
        if !is_second {
            gated.extend(["session/load", "session/resume", "session/close", "session/list", "logout"]);
            for step in ["load_session", "resume_session", "close_session", "list_sessions", "logout"] {
                let _refused = turn.run.attempt(step, json!({"session": "session-1"})).await;
            }
        }
    }
    for method in gated {
        turn.run.never_sent(method, "the agent did not advertise it")?;
    }
    let opened = turn.run.sent("session/new").unwrap_or_default();
    let directories = &opened["params"]["additionalDirectories"];
    let has_none = directories.as_array().is_none_or(Vec::is_empty);
    ensure!(has_none, "no `additionalDirectories`, because the agent did not advertise them", "`{opened}`");
    Ok(())
}

async fn works_with_any_capabilities(client: AcpClient) -> Outcome {
    let sets = match client.revision() {
        Revision::Acp2 => vec![
            json!({"session": {}}),
            json!({"session": {"prompt": {"audio": {}}, "mcp": {}, "delete": null}}),
            json!({"session": {"prompt": {}, "mcp": {"http": {}}, "delete": {}}, "auth": {}}),
        ],
        _ => vec![
            json!({}),
            json!({"loadSession": true, "promptCapabilities": {"audio": true}, "sessionCapabilities": {"close": {}}}),
            json!({"mcpCapabilities": {"sse": true}, "sessionCapabilities": {"list": {}, "delete": null}, "auth": {}}),
        ],
    };
    let name = if client.revision() == Revision::Acp2 { "capabilities" } else { "agentCapabilities" };
    for set in sets {
        let script =
            client.script().change("initialize", |greeting| greeting[name] = set).leaves("session/prompt");
        let (mut run, _) = client.begin("prompt", json!({"text": "hello"}), script).await?;
        run.first("session/prompt").await?;
    }
    Ok(())
}
