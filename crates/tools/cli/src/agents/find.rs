//! Finds an installed agent for `chat --agent ID`.

use agentwire_agent_registry::FolderGuard;
use agentwire_transport_stdio::Command;
use anyhow::Result;

use super::arguments::Places;
use super::errors::with_advice;
use super::places::ago;
use crate::failure::{Exit, Failure};
use crate::programs;

/// The command of an installed agent, and the guard that keeps its folder while it runs. `None` if the text is not an id, or no
/// agent of that id is installed.
///
/// # Errors
///
/// When a configured store cannot be used, when the agent is damaged, and when the text names no program but an agent of the
/// registry that is not installed.
pub(crate) fn find(text: &str) -> Result<Option<(Command, FolderGuard)>> {
    if !is_word(text) {
        return Ok(None);
    }
    let places = Places::default();
    // A configured store that cannot be used is an error: the text would name another program.
    let Some(store) = places.usable_store()? else { return Ok(None) };
    let advice = format!("`agentwire agents install {text}` installs it again");
    if let Some(agent) = store.find(text).map_err(|error| with_advice(error, &advice))? {
        let (start, guard) = agent.into_start();
        let command = Command::new(start.program()).args(start.args()).envs(start.env());
        return Ok(Some((command, guard)));
    }
    if programs::find(text).is_some() {
        return Ok(None);
    }
    let index = places.source().ok().and_then(|source| store.cached_index(&source).ok().flatten());
    let Some(index) = index.filter(|index| index.entry(text).is_ok()) else { return Ok(None) };
    let age = index.age.map_or_else(String::new, |age| format!(", as the registry said {}", ago(age)));
    let why = format!(
        "`{text}` is an agent that is not installed{age}; `agentwire agents install {text}` installs it"
    );
    Err(Failure::new(Exit::Unreachable, why).into())
}

/// The ids of the installed agents and of the agents in the cached index of the registry, to suggest one for an unknown name.
/// Empty if the store cannot be read.
pub(crate) fn names() -> Vec<String> {
    let places = Places::default();
    let Ok(Some(store)) = places.usable_store() else { return Vec::new() };
    let installed = store.installed().map(|(agents, _)| agents).unwrap_or_default();
    let mut names: Vec<_> = installed.iter().map(|agent| agent.plan.id.clone()).collect();
    let index = places.source().ok().and_then(|source| store.cached_index(&source).ok().flatten());
    names.extend(index.iter().flat_map(|index| &index.agents).map(|entry| entry.id.clone()));
    names
}

/// Whether a text is one word that can be an id, and neither a path nor a command line.
fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}
