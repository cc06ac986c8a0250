//! `agents install` and `remove`.

use std::io::{self, BufRead as _, IsTerminal as _};

use agentwire_agent_registry::{
    AgentStore, Index, InstallOutcome, Plan, PlanOptions, Probe, RegistryError, RemoveOutcome,
};
use anyhow::Result;
use serde::Serialize;

use super::arguments::{Consent, Install, Places};
use super::errors::{to_failure, with_advice};
use crate::failure::{Exit, Failure};
use crate::output::text;
use crate::output::text::Notes;
use crate::output::{Member, print_json};
use crate::terminal::drop_unread_input;

/// The parts that a command on installed agents needs.
pub(super) struct Context<'a> {
    pub(super) places: &'a Places,
    pub(super) json: bool,
    pub(super) notes: &'a Notes,
}

/// The outcome of an install, as `--json` prints it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Installed<'a> {
    pub(super) id: &'a str,
    pub(super) version: &'a str,
    pub(super) status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) replaced: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<Probe>,
}

/// Installs an agent.
pub(super) async fn install(context: &Context<'_>, arguments: Install) -> Result<()> {
    let (id, version) = match arguments.agent.split_once('@') {
        Some((id, version)) => (id, Some(version)),
        None => (&*arguments.agent, None),
    };
    let store = context.places.store()?;
    let kind = arguments.kind.map(Into::into);
    if let Some(version) = version.filter(|_| !arguments.consent.allow_scripts) {
        // The person agreed to the version before the current one when it was installed.
        let registry = context.places.source()?.origin();
        let outcome = store.go_back(id, version, &registry, kind).await.map_err(to_failure)?;
        if let Some(InstallOutcome::Installed { probe, replaced, .. }) = outcome {
            return report(context, id, version, "installed", replaced, Some(probe));
        }
    }
    let index = context.places.index(&store, context.notes).await?;
    let mut options = PlanOptions::default().allow_scripts(arguments.consent.allow_scripts);
    if let Some(version) = version {
        options = options.version(version);
    }
    if let Some(kind) = kind {
        options = options.kind(kind);
    }
    install_one(context, &store, &index, id, &options, arguments.consent).await
}

/// Makes a plan, shows it, asks, and installs it.
pub(super) async fn install_one(
    context: &Context<'_>,
    store: &AgentStore,
    index: &Index,
    id: &str,
    options: &PlanOptions,
    consent: Consent,
) -> Result<()> {
    let Context { places, json, notes } = *context;
    let advice = format!("`{}` lists those that there are", places.hint("search"));
    let entry = index.entry(id).map_err(|error| with_advice(error, &advice))?;
    let mut plan = Plan::new(entry, index, options).map_err(to_failure)?;
    store.resolve(&mut plan).await.map_err(to_failure)?;
    let is_installed = matches!(store.find(id), Ok(Some(agent)) if agent.plan.is_same(&plan));
    if !is_installed {
        match json {
            true => {
                print_json(&Member("plan", &plan))?;
                for (variable, why) in plan.marked_variables() {
                    notes.add(&format!("the plan sets {variable}, which {why}"));
                }
            }
            false => {
                // Notes are left out where many are queued, but the whole plan must be shown before the question.
                notes.written().await;
                notes.add(&plan.to_string());
                notes.written().await;
            }
        }
        agree(context, consent, &plan).await?;
        notes.add(&format!("installing {} {} …", plan.id, plan.version));
    }
    let outcome = store.install(&plan).await.map_err(|error| explained(error, &plan))?;
    let (status, replaced, agent) = match outcome {
        InstallOutcome::Installed { probe, replaced, .. } => ("installed", replaced, Some(probe)),
        _ => ("already installed", None, None),
    };
    report(context, id, &plan.version, status, replaced, agent)
}

/// Prints that a version is in place.
fn report(
    context: &Context<'_>,
    id: &str,
    version: &str,
    status: &'static str,
    replaced: Option<String>,
    agent: Option<Probe>,
) -> Result<()> {
    let Context { places, json, notes } = *context;
    if json {
        return Ok(print_json(&Installed { id, version, status, replaced, agent })?);
    }
    if let Some(probe) = agent.filter(|probe| !probe.auth_methods.is_empty()) {
        notes.add(&format!("it may ask for a login: {}", probe.auth_methods.join(", ")));
    }
    let before = replaced.map_or_else(String::new, |version| format!(" (before: {version})"));
    let hint = places.chat_hint(id);
    Ok(text::print_line(&format!("{id} {version} is {status}{before}; start it with: {hint}"))?)
}

/// Adds advice to an error where scripts may be missing.
fn explained(error: RegistryError, plan: &Plan) -> anyhow::Error {
    match error {
        RegistryError::Probe(_) if !plan.allow_scripts && plan.kind.name() == "npx" => {
            with_advice(error, "if the package needs its install scripts, --allow-scripts runs them")
        }
        error => to_failure(error),
    }
}

/// Succeeds if the person agrees to the plan, by --yes or at the terminal.
async fn agree(context: &Context<'_>, consent: Consent, plan: &Plan) -> Result<()> {
    if consent.yes {
        return Ok(());
    }
    let not_permitted = |why: String| Err(Failure::new(Exit::NotPermitted, why).into());
    if context.json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let id = &plan.id;
        return not_permitted(format!(
            "{id} is not installed: nobody is at a terminal to agree to the plan; --yes agrees to it"
        ));
    }
    // Text that was typed before the question is not an answer.
    drop_unread_input();
    context.notes.add("install and run it? [y/N]");
    context.notes.written().await;
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    match answer.await??.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => not_permitted(format!("{} is not installed: you did not agree", plan.id)),
    }
}

/// Removes an agent.
pub(super) async fn remove(context: &Context<'_>, id: &str) -> Result<()> {
    let store = context.places.store()?;
    let status = match store.remove(id).await.map_err(to_failure)? {
        RemoveOutcome::NotInstalled => return Err(to_failure(RegistryError::NotInstalled(id.to_owned()))),
        RemoveOutcome::StillRuns => "removed, but an older version still runs and stays for now",
        _ => "removed",
    };
    match context.json {
        true => print_json(&serde_json::json!({ "id": id, "status": status }))?,
        false => text::print_line(&format!("{id} is {status}"))?,
    }
    Ok(())
}
