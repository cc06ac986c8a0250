//! `agents list`, `search` and `show`.

use agentwire_agent_registry::{AgentStore, Entry, InstalledAgent, Kind, Plan, is_newer};
use anyhow::Result;
use serde::Serialize;

use super::arguments::Places;
use super::errors::{to_failure, with_advice};
use crate::output::print_json;
use crate::output::text;
use crate::output::text::Notes;

/// The greatest width of the column of ids, in characters.
const MAX_WIDTH: usize = 24;

/// An agent of the registry, as `--json` prints it.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    entry: &'a Entry,
    /// The installed version.
    installed: Option<&'a str>,
}

/// An installed agent, as `--json` prints it.
#[derive(Serialize)]
struct InstalledLine<'a> {
    id: &'a str,
    name: &'a str,
    version: &'a str,
    kind: Kind,
    program: String,
    /// The version before it, if that is still in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<&'a str>,
    /// A newer version in the cached index of the registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    newer: Option<&'a str>,
}

/// Lists the installed agents, without a network.
pub(super) fn list(places: &Places, json: bool, notes: &Notes) -> Result<()> {
    let store = places.store()?;
    let agents = installed(&store, notes)?;
    // The list does not need the registry, so other commands report its errors.
    let index = places.source().ok().and_then(|source| store.cached_index(&source).ok().flatten());
    let width = agents.iter().map(|agent| agent.plan.id.len()).max().unwrap_or(0).min(MAX_WIDTH);
    for agent in &agents {
        let plan = &agent.plan;
        let entry = index.as_ref().and_then(|index| index.entry(&plan.id).ok());
        let newer = entry.map(|entry| &*entry.version).filter(|version| is_newer(version, &plan.version));
        if json {
            let program = agent.start().program().display().to_string();
            let Plan { id, name, version, kind, .. } = plan;
            let previous = previous(agent);
            print_json(&InstalledLine { id, name, version, kind: *kind, program, previous, newer })?;
        } else {
            let there = previous(agent).map(|version| format!("still there: {version}"));
            let marks: Vec<String> =
                there.into_iter().chain(newer.map(|version| format!("newer: {version}"))).collect();
            let mark = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
            text::print_line(&format!("{:width$}  {:10}  {}{mark}", plan.id, plan.version, plan.name))?;
        }
    }
    if agents.is_empty() && !json {
        notes.add(&format!("no agent is installed; `{}` lists those of the registry", places.hint("search")));
    }
    Ok(())
}

/// Lists the agents of the registry that have all words.
pub(super) async fn search(places: &Places, words: &[String], json: bool, notes: &Notes) -> Result<()> {
    let store = places.store()?;
    let index = places.index(&store, notes).await?;
    let installed = installed(&store, notes)?;
    let found = index.search(words);
    let width = found.iter().map(|entry| entry.id.len()).max().unwrap_or(0).min(MAX_WIDTH);
    for entry in &found {
        let version = version_of(&installed, &entry.id);
        if json {
            print_json(&Line { entry, installed: version })?;
        } else {
            let mark = version.map_or_else(String::new, |version| format!(" (installed: {version})"));
            text::print_line(&format!("{:width$}  {:10}  {}{mark}", entry.id, entry.version, entry.name))?;
        }
    }
    if found.is_empty() && !json {
        notes.add("no agent of the registry has all these words");
    }
    Ok(())
}

/// Shows an agent.
pub(super) async fn show(places: &Places, id: &str, json: bool, notes: &Notes) -> Result<()> {
    let store = places.store()?;
    let index = places.index(&store, notes).await?;
    let advice = format!("`{}` lists those that there are", places.hint("search"));
    let entry = index.entry(id).map_err(|error| with_advice(error, &advice))?;
    let installed = installed(&store, notes)?;
    let version = version_of(&installed, id);
    if json {
        return Ok(print_json(&Line { entry, installed: version })?);
    }
    text::print_line(&format!("{} {}: {}", entry.id, entry.version, entry.name))?;
    let authors = (!entry.authors.is_empty()).then(|| entry.authors.join(", "));
    let rows = [
        ("about", (!entry.description.is_empty()).then_some(&entry.description)),
        ("by", authors.as_ref()),
        ("licence", entry.license.as_ref()),
        ("source", entry.repository.as_ref()),
        ("page", entry.website.as_ref()),
    ];
    for (name, value) in rows.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        row(name, value)?;
    }
    let packages = [("npx", &entry.npx), ("uvx", &entry.uvx)];
    for (name, package) in packages.into_iter().filter_map(|(name, package)| Some((name, package.as_ref()?)))
    {
        row(name, &package.package)?;
    }
    for (system, archive) in &entry.binary {
        row("binary", &format!("{system}: {}", archive.archive))?;
    }
    match installed.iter().find(|agent| agent.plan.id == id) {
        Some(agent) => {
            let there =
                previous(agent).map_or_else(String::new, |version| format!("; {version} is still there"));
            row("installed", &format!("{} as {}{there}", agent.plan.version, agent.plan.kind.name()))
        }
        None => row("installed", &format!("no; `{}` installs it", places.hint(&format!("install {id}")))),
    }
}

fn row(name: &str, value: &str) -> Result<()> {
    Ok(text::print_line(&format!("  {name:9}  {value}"))?)
}

/// The installed agents. Notes name the damaged ones.
pub(super) fn installed(store: &AgentStore, notes: &Notes) -> Result<Vec<InstalledAgent>> {
    let (agents, damaged) = store.installed().map_err(to_failure)?;
    for agent in damaged {
        let why = crate::failure::sentence(&agent.error.into());
        notes.add(&format!("warning: the installed `{}` is damaged; install it again: {why}", agent.id));
    }
    Ok(agents)
}

/// The version before the current one, if it is still in the store.
fn previous(agent: &InstalledAgent) -> Option<&str> {
    agent.previous_version.as_deref().filter(|version| *version != agent.plan.version)
}

fn version_of<'a>(installed: &'a [InstalledAgent], id: &str) -> Option<&'a str> {
    installed.iter().find(|agent| agent.plan.id == id).map(|agent| &*agent.plan.version)
}
