//! `agentwire agents`: finds, installs, updates and removes agents of the ACP registry.

mod arguments;
mod doctor;
mod errors;
mod find;
mod install;
mod list;
mod places;
mod update;

pub(crate) use agentwire_agent_registry::FolderGuard;
use anyhow::Result;

pub(crate) use self::arguments::Commands;
use self::arguments::{Agents, AgentsCommand};
pub(crate) use self::find::{find, names};
use self::install::Context;
use crate::output::text::Notes;
use crate::signals::Signals;

/// Runs a command on agents. A signal ends it with all programs that it has started.
pub(crate) async fn run(Commands::Agents(arguments): Commands, json: bool, notes: &Notes) -> Result<()> {
    let mut signals = Signals::listen()?;
    tokio::select! {
        done = execute(arguments, json, notes) => done,
        interrupted = signals.interrupted() => Err(interrupted.into()),
    }
}

async fn execute(arguments: Agents, json: bool, notes: &Notes) -> Result<()> {
    let Agents { places, command } = arguments;
    let context = Context { places: &places, json, notes };
    match command {
        AgentsCommand::List => list::list(&places, json, notes),
        AgentsCommand::Search(search) => list::search(&places, &search.words, json, notes).await,
        AgentsCommand::Show(one) => list::show(&places, &one.id, json, notes).await,
        AgentsCommand::Install(install) => install::install(&context, install).await,
        AgentsCommand::Update(update) => update::update(&context, update).await,
        AgentsCommand::Remove(one) => install::remove(&context, &one.id).await,
        AgentsCommand::Doctor(doctor) => doctor::doctor(&context, doctor.id.as_deref()).await,
    }
}
