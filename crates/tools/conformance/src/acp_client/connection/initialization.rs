//! Agreeing on a version and on capabilities.

use serde_json::{Value, json};

use crate::acp_client::AcpClient;
use crate::acp_client::run::{QUIET, audited};
use crate::acp_messages::is_count;
use crate::check::{ANY, Check, audit, check};
use crate::requirements::revision::Revision;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_client) const CHECKS: &[Check<AcpClient>] = &[
    audit!(initialize_comes_first, ANY),
    check!(sends_a_version, ANY),
    check!(sends_its_capabilities, ANY),
    check!(sends_its_name, ANY),
    check!(leaves_an_unknown_version, ANY),
    check!(refuses_a_malformed_version, ANY),
    audit!(uses_the_agreed_version, ANY),
    check!(works_with_any_capabilities, ANY),
];

fn initialize_comes_first(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    let messages = trace.messages(Sender::Subject).into_iter();
    for message in messages.take_while(|message| message["method"] != "initialize") {
        let is_early = message["method"].as_str().is_some_and(|method| method.starts_with("session/"));
        ensure!(!is_early, "`initialize` before any session request", "`{message}`");
    }
    Ok(())
}

/// The params of the client's first message.
async fn greeting(client: &AcpClient) -> Outcome<Value> {
    let begun = client.begin_silently("prompt", json!({"text": "hello"})).await;
    let (mut run, _) = begun.map_err(Stop::while_preparing)?;
    Ok(run.initialize["params"].take())
}

async fn sends_a_version(client: AcpClient) -> Outcome {
    let params = greeting(&client).await?;
    ensure!(
        is_count(&params["protocolVersion"]),
        "an integer `protocolVersion` in `initialize`",
        "`{params}`"
    );
    Ok(())
}

async fn sends_its_capabilities(client: AcpClient) -> Outcome {
    let params = greeting(&client).await?;
    ensure!(params["clientCapabilities"].is_object(), "`clientCapabilities` in `initialize`", "`{params}`");
    Ok(())
}

async fn sends_its_name(client: AcpClient) -> Outcome {
    let params = greeting(&client).await?;
    let info = &params["clientInfo"];
    let has_both = info["name"].is_string() && info["version"].is_string();
    ensure!(has_both, "`clientInfo` with a name and a version in `initialize`", "`{params}`");
    Ok(())
}

/// Answers `initialize` with a version: what the client does then.
async fn answers_version(
    client: &AcpClient,
    version: impl FnOnce(&Value) -> Value,
    why: &str,
) -> Outcome<crate::acp_client::run::ClientRun> {
    let begun = client.begin_silently("prompt", json!({"text": "hello"})).await;
    let (mut run, step) = begun.map_err(Stop::while_preparing)?;
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
    run.agent.serve(client.setting.wait).await?;
    ensure!(run.agent.is_closed(), format!("the client closes the connection, because {why}"), "it is open");
    Ok(())
}

async fn refuses_a_malformed_version(client: AcpClient) -> Outcome {
    let why = "the agent answered with the version \"1.0\"";
    answers_version(&client, |_| json!("1.0"), why).await.map(drop)
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
    // The same with an agent that has every capability.
    client.prompted(client.script()).await?;
    let name = if client.revision() == Revision::Acp2 { "capabilities" } else { "agentCapabilities" };
    for set in sets {
        let script =
            client.script().change("initialize", |greeting| greeting[name] = set).leaves("session/prompt");
        let (mut run, _) = client.begin("prompt", json!({"text": "hello"}), script).await?;
        run.first("session/prompt").await?;
    }
    Ok(())
}
