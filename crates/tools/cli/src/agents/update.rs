//! `agents update`: newer versions, and repair of damaged agents.

use agentwire_agent_registry::{AgentStore, DamagedAgent, Index, Plan, PlanOptions, RegistryError, is_newer};
use anyhow::Result;

use super::arguments::{Consent, Update};
use super::errors::{to_failure, with_advice};
use super::install::{Context, Installed, install_one};
use crate::failure::sentence;
use crate::output::print_json;
use crate::output::text;

/// Installs newer versions, and damaged agents again. A failure of one agent does not stop the others.
pub(super) async fn update(context: &Context<'_>, arguments: Update) -> Result<()> {
    let Context { places, notes, .. } = *context;
    let store = places.store()?;
    let (mut agents, mut damaged) = store.installed().map_err(to_failure)?;
    if let Some(id) = &arguments.id {
        agents.retain(|agent| agent.plan.id == *id);
        damaged.retain(|agent| agent.id == *id);
        if agents.is_empty() && damaged.is_empty() {
            let advice = format!("`{}` installs it", places.hint(&format!("install {id}")));
            return Err(with_advice(RegistryError::NotInstalled(id.clone()), &advice));
        }
    }
    let index = places.index(&store, notes).await?;
    let mut failure = None;
    let mut report = |outcome: Result<()>| {
        let earlier = outcome.err().and_then(|error| failure.replace(error));
        if let Some(earlier) = earlier {
            text::print_error(&format!("error: {}", sentence(&earlier)));
        }
    };
    // Drops the guards, so that the replaced versions do not count as in use.
    let plans: Vec<Plan> = agents.into_iter().map(|agent| agent.plan).collect();
    for plan in &plans {
        report(update_one(context, &store, &index, plan, arguments.consent).await);
    }
    for agent in damaged {
        report(repair(context, &store, &index, agent, arguments.consent).await);
    }
    failure.map_or(Ok(()), Err)
}

async fn update_one(
    context: &Context<'_>,
    store: &AgentStore,
    index: &Index,
    plan: &Plan,
    consent: Consent,
) -> Result<()> {
    let Plan { id, version, .. } = plan;
    let Ok(entry) = index.entry(id) else {
        context.notes.add(&format!("{id} {version}: the registry does not have it"));
        return Ok(());
    };
    if is_newer(&entry.version, version) {
        return install_one(context, store, index, id, &options(plan, consent), consent).await;
    }
    match context.json {
        true => Ok(print_json(&Installed { id, version, status: "newest", replaced: None, agent: None })?),
        false => Ok(text::print_line(&format!("{id} {version} is the newest"))?),
    }
}

/// Installs a damaged agent again, by its record. Without a record, only the person knows the kind of package.
async fn repair(
    context: &Context<'_>,
    store: &AgentStore,
    index: &Index,
    agent: DamagedAgent,
    consent: Consent,
) -> Result<()> {
    let DamagedAgent { id, error, plan, .. } = agent;
    let Some(plan) = plan else {
        let advice = format!("`{}` installs it again", context.places.hint(&format!("install {id}")));
        return Err(with_advice(error, &format!("the record of `{id}` is damaged; {advice}")));
    };
    context.notes.add(&format!("{id} is damaged and is installed again: {}", sentence(&error.into())));
    install_one(context, store, index, &id, &options(&plan, consent), consent).await
}

/// The kind and the consent to scripts of the installed version.
fn options(plan: &Plan, consent: Consent) -> PlanOptions {
    PlanOptions::default().kind(plan.kind).allow_scripts(plan.allow_scripts || consent.allow_scripts)
}
