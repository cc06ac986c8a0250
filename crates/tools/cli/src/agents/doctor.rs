//! `agents doctor`: the tools that agents need, and the state of installed agents.

use agentwire_agent_registry::{AgentStore, RegistryError};
use anyhow::Result;
use serde_json::json;

use super::errors::{probe_failure, to_failure, with_advice};
use super::install::Context;
use super::list::installed;
use super::places::ago;
use crate::failure::sentence;
use crate::output::print_json;
use crate::output::text;

/// The programs that install and run agents.
const TOOLS: [&str; 3] = ["node", "npm", "uv"];

/// Shows the versions of the tools and the installed agents, or probes one agent.
pub(super) async fn doctor(context: &Context<'_>, id: Option<&str>) -> Result<()> {
    let store = context.places.store()?;
    for name in TOOLS {
        tool(context, &store, name).await?;
    }
    match id {
        Some(id) => probe(context, &store, id).await,
        None => survey(context, &store),
    }
}

async fn tool(context: &Context<'_>, store: &AgentStore, name: &str) -> Result<()> {
    let version = store.program_version(name).await.map_err(|error| sentence(&error.into()));
    match (context.json, version) {
        (true, version) => {
            print_json(
                &json!({ "tool": name, "version": version.as_ref().ok(), "error": version.as_ref().err() }),
            )?;
        }
        (false, Ok(version)) => text::print_line(&format!("{name:5}  {version}"))?,
        (false, Err(why)) => text::print_line(&format!("{name:5}  {why}"))?,
    }
    Ok(())
}

/// The store, the cached index and the installed agents.
fn survey(context: &Context<'_>, store: &AgentStore) -> Result<()> {
    let agents = installed(store, context.notes)?;
    if context.json {
        for agent in &agents {
            let program = agent.start().program().display().to_string();
            print_json(&json!({ "id": agent.plan.id, "version": agent.plan.version, "program": program }))?;
        }
        return Ok(());
    }
    text::print_line(&format!("store  {}", store.root().display()))?;
    let source = context.places.source()?;
    let age = store.cached_index(&source).map_err(to_failure)?.and_then(|index| index.age);
    let age = age.map_or_else(String::new, |age| format!(", read {}", ago(age)));
    text::print_line(&format!("index  {}{age}", source.origin()))?;
    for agent in &agents {
        let program = agent.start().program().display();
        text::print_line(&format!("{} {}: {program}", agent.plan.id, agent.plan.version))?;
    }
    Ok(())
}

/// Starts an agent and sends it `initialize`.
async fn probe(context: &Context<'_>, store: &AgentStore, id: &str) -> Result<()> {
    let advice = format!("`{}` installs it", context.places.hint(&format!("install {id}")));
    let agent = store.find(id).map_err(|error| with_advice(error, &advice))?;
    let agent = agent.ok_or_else(|| with_advice(RegistryError::NotInstalled(id.to_owned()), &advice))?;
    let probe = store.probe(agent.start()).await.map_err(probe_failure)?;
    if context.json {
        return Ok(print_json(&json!({ "id": id, "version": agent.plan.version, "agent": probe }))?);
    }
    let name = probe.name.as_deref().unwrap_or("an agent without a name");
    let version = probe.version.as_deref().map_or_else(String::new, |version| format!(" {version}"));
    let protocol = probe.protocol_version;
    text::print_line(&format!(
        "{id} {}: {name}{version} answers, in version {protocol} of ACP",
        agent.plan.version
    ))?;
    match probe.auth_methods.is_empty() {
        true => Ok(()),
        false => Ok(text::print_line(&format!("logins: {}", probe.auth_methods.join(", ")))?),
    }
}
