//! Logging in and out.

use std::time::Duration;

use serde_json::json;

use crate::acp_client::AcpClient;
use crate::acp_client::run::QUIET;
use crate::acp_client::script::Script;
use crate::check::{ANY, Check, STDIO, check};
use crate::requirements::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_client) const CHECKS: &[Check<AcpClient>] = &[
    check!(logs_out_only_where_advertised, ANY),
    check!(never_authenticates_by_terminal, ANY),
    check!(logs_in_by_terminal, STDIO),
    check!(survives_authentication_errors, ANY),
    check!(untyped_methods_are_the_agents, ANY),
];

async fn logs_out_only_where_advertised(client: AcpClient) -> Outcome {
    let run = client.tried("logout", json!({}), client.script()).await?;
    run.never_sent("logout", "the agent did not advertise `auth.logout`")?;
    let script = client
        .script()
        .change("initialize", |greeting| greeting["agentCapabilities"]["auth"] = json!({"logout": null}));
    let run = client.tried("logout", json!({}), script).await?;
    run.never_sent("logout", "`auth.logout` is null")
}

/// An agent that offers a method of the type `terminal` alone.
fn terminal_script(client: &AcpClient) -> Script {
    let is_second = client.revision() == Revision::Acp2;
    let env = if is_second {
        json!([{"name": "CONFORMANCE_LOGIN", "value": "yes"}])
    } else {
        json!({"CONFORMANCE_LOGIN": "yes"})
    };
    let id = if is_second { "methodId" } else { "id" };
    let method =
        json!({"type": "terminal", id: "terminal", "name": "Terminal", "args": ["--login"], "env": env});
    client.script().change("initialize", |greeting| greeting["authMethods"] = json!([method]))
}

async fn never_authenticates_by_terminal(client: AcpClient) -> Outcome {
    let (step, params) = match client.has_step("authenticate") {
        true => ("authenticate", json!({"method": "terminal"})),
        false => ("prompt", json!({"text": "hello"})),
    };
    let (mut run, _) = client.begin(step, params, terminal_script(&client)).await?;
    run.agent.serve(2 * QUIET).await?;
    for method in ["authenticate", "auth/login"] {
        run.never_sent(method, "the method is of the type `terminal`")?;
    }
    Ok(())
}

async fn logs_in_by_terminal(client: AcpClient) -> Outcome {
    if !client.has_step("authenticate") {
        return Err(Stop::not_applicable("the client has no step `authenticate`"));
    }
    let script = terminal_script(&client);
    let (mut run, step) = client.begin("authenticate", json!({"method": "terminal"}), script).await?;
    run.agent.serve(QUIET).await?;
    if !run.advertises("/auth/terminal") {
        return Err(Stop::not_applicable("the client does not advertise auth.terminal"));
    }
    let login = run.played.accept_within(client.setting.wait).await?;
    let seen = run.played.surroundings();
    let arguments =
        seen["arguments"].as_array().and_then(|arguments| arguments.last()).cloned().unwrap_or_default();
    let is_right = arguments == "--login" && seen["env"]["CONFORMANCE_LOGIN"] == "yes";
    ensure!(is_right, "the agent's program with the method's arguments and variables", "`{seen}`");
    // Its exit code is zero.
    drop(login);
    let mut agent = run.played.accept_within(client.setting.wait).await?;
    let again = agent.call("initialize").await?;
    if let Some(Ok(result)) = client.script().answers()(&again) {
        agent.reply(&again, result).await?;
    }
    let outcome = run.played.driver.outcome(step, Duration::from_secs(10)).await?;
    ensure!(outcome.get("result").is_some(), "the login succeeds", "`{outcome}`");
    Ok(())
}

async fn survives_authentication_errors(client: AcpClient) -> Outcome {
    let script = client.script().leaves("session/prompt");
    let (mut run, _) = client.begin("prompt", json!({"text": "hello"}), script).await?;
    if !run.played.driver.takes_steps() {
        return Err(Stop::not_applicable(
            "the client's steps are commands, each with a connection of its own",
        ));
    }
    let prompt = run.first("session/prompt").await.map_err(Stop::while_preparing)?;
    run.is_alive().await.map_err(Stop::while_preparing)?;
    run.agent.refuse(&prompt, -32000, "authentication required").await?;
    run.agent.serve(QUIET).await?;
    match run.is_alive().await {
        Err(Stop::Failed(failure)) => Err(Stop::failed("the client survives the error -32000", failure.seen)),
        other => other,
    }
}

async fn untyped_methods_are_the_agents(client: AcpClient) -> Outcome {
    if !client.has_step("authenticate") {
        return Err(Stop::not_applicable("the client has no step `authenticate`"));
    }
    let script = client.script().leaves("authenticate").change("initialize", |greeting| {
        greeting["authMethods"] = json!([{"id": "untyped", "name": "Untyped"}])
    });
    let (mut run, _) = client.begin("authenticate", json!({"method": "untyped"}), script).await?;
    let request = run.agent.call("authenticate").await?;
    ensure!(request["params"]["methodId"] == "untyped", "the method without a type", "`{request}`");
    Ok(())
}
