//! Checks of agents: authentication.

use serde_json::{Value, json};

use crate::acp_agent::{Agent, capabilities};
use crate::check::{ANY, Check, check};
use crate::requirements::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(terminal_methods_need_the_capability, ANY),
    check!(a_login_succeeds, ANY),
    check!(a_logout_succeeds, ANY),
    check!(method_ids_are_unique, ANY),
    check!(a_login_is_wanted_only_where_one_is_offered, ANY),
    check!(unknown_methods_fail, ANY),
];

fn methods(initialized: &Value) -> &[Value] {
    initialized["authMethods"].as_array().map_or(&[], Vec::as_slice)
}

fn login(agent: &Agent) -> &'static str {
    if agent.revision() == Revision::Acp2 { "auth/login" } else { "authenticate" }
}

async fn terminal_methods_need_the_capability(agent: Agent) -> Outcome {
    let (_with, initialized) = agent.open().await?;
    let is_terminal = |method: &&Value| method["type"] == "terminal";
    if !methods(&initialized).iter().any(|method| is_terminal(&method)) {
        return Err(Stop::not_applicable("the agent offers no terminal methods"));
    }
    let mut all = capabilities(agent.revision());
    if let Some(all) = all.as_object_mut() {
        all.remove("auth");
    }
    let (_without, initialized) = agent.open_with(all).await?;
    let offered = methods(&initialized).iter().find(is_terminal);
    let what = "no terminal methods for a client without `auth.terminal`";
    ensure!(offered.is_none(), what, "`{initialized}`");
    Ok(())
}

async fn a_login_succeeds(agent: Agent) -> Outcome {
    let id = agent.setting.text("login")?.to_owned();
    let (mut conversation, _) = agent.open().await?;
    let response = conversation.request(login(&agent), json!({"methodId": id})).await;
    let response = response.map_err(Stop::while_preparing)?;
    let Some(result) = response.get("result") else {
        return Err(Stop::inconclusive(format!("the login failed: `{response}`")));
    };
    ensure!(result.is_object(), "an object as the result of a login", "`{result}`");
    let response = conversation.request("session/new", agent.session_params()).await;
    let response = response.map_err(Stop::while_preparing)?;
    let is_open = response["error"]["code"] != -32000;
    ensure!(is_open, "session/new does not ask for a login after one", "`{response}`");
    Ok(())
}

async fn a_logout_succeeds(agent: Agent) -> Outcome {
    if agent.setting.role("logout")? != &json!(true) {
        return Err(Stop::not_applicable("the profile does not allow a logout"));
    }
    let (mut conversation, initialized) = agent.open().await?;
    agent.needs(&initialized, "/agentCapabilities/auth/logout", "/capabilities/auth")?;
    let response = conversation.request("logout", json!({})).await?;
    if response.get("error").is_some_and(|error| error["code"] != -32601) {
        return Err(Stop::inconclusive(format!("the logout failed: `{response}`")));
    }
    ensure!(response["result"].is_object(), "an object as the result of logout", "`{response}`");
    Ok(())
}

async fn method_ids_are_unique(agent: Agent) -> Outcome {
    let (_conversation, initialized) = agent.open().await?;
    let name = if agent.revision() == Revision::Acp2 { "methodId" } else { "id" };
    let mut known: Vec<&Value> = Vec::new();
    for id in methods(&initialized).iter().map(|method| &method[name]).filter(|id| id.is_string()) {
        ensure!(!known.contains(&id), "authentication methods with ids of their own", "`{initialized}`");
        known.push(id);
    }
    Ok(())
}

async fn a_login_is_wanted_only_where_one_is_offered(agent: Agent) -> Outcome {
    let (mut conversation, initialized) = agent.open().await?;
    let response = conversation.request("session/new", agent.session_params()).await;
    let response = response.map_err(Stop::while_preparing)?;
    let is_wanted = response["error"]["code"] == -32000;
    let what = "the error -32000 only from agents that offer authentication methods";
    ensure!(!is_wanted || !methods(&initialized).is_empty(), what, "`{initialized}` and `{response}`");
    Ok(())
}

async fn unknown_methods_fail(agent: Agent) -> Outcome {
    let (mut conversation, initialized) = agent.open().await?;
    if methods(&initialized).is_empty() {
        return Err(Stop::not_applicable("the agent offers no authentication methods"));
    }
    conversation.error(login(&agent), json!({"methodId": "conformance-unknown"})).await?;
    Ok(())
}
