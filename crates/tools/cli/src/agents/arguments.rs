//! The arguments of `agents`.

use std::path::PathBuf;

use agentwire_agent_registry::Kind;
use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum Commands {
    /// Find, install, update and remove agents of the ACP registry.
    Agents(Agents),
}

#[derive(Debug, Args)]
pub(crate) struct Agents {
    #[command(flatten)]
    pub(crate) places: Places,
    #[command(subcommand)]
    pub(crate) command: AgentsCommand,
}

/// The places of the registry's index and of the installed agents.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Places {
    /// The index of agents [default: $AGENTWIRE_REGISTRY, else the registry of agentclientprotocol.com]
    #[arg(long, global = true, value_name = "FILE|URL")]
    pub(crate) registry: Option<String>,
    /// The folder of the installed agents [default: $AGENTWIRE_AGENTS, else agentwire/agents in $XDG_DATA_HOME or
    /// ~/.local/share]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// List the installed agents.
    List,
    /// List the agents of the registry: all, or those whose id, name or description has all words.
    Search(Search),
    /// Show an agent: what it is, how it can be installed, what is installed.
    Show(One),
    /// Install an agent into a folder of its own, and verify that it answers.
    ///
    /// Shows what is fetched and what will run, and asks. Without a person, --yes is needed. The version before it stays in place
    /// until the new one has answered `initialize`. `chat --agent ID` starts the agent, without a network.
    ///
    /// The version before it is kept. ID@VERSION makes it the current one again: without a question, the index or a network.
    Install(Install),
    /// Install the newest version of an agent, or of all installed ones. Damaged agents are installed again.
    ///
    /// The kind of package and the consent to install scripts are those of the installed version.
    Update(Update),
    /// Remove an installed agent.
    Remove(One),
    /// Show the versions of the tools that agents need, and whether the installed agents are in order.
    ///
    /// With ID, starts the agent and sends it `initialize`.
    Doctor(Doctor),
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// The words
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct One {
    /// The agent's id
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct Install {
    /// The agent's id, and a version other than that of the registry
    #[arg(value_name = "ID[@VERSION]")]
    pub(crate) agent: String,
    /// The kind of package [default: the archive for this system, else the package whose tool is installed]
    #[arg(long, value_enum)]
    pub(crate) kind: Option<PackageKind>,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

#[derive(Debug, Args)]
pub(crate) struct Update {
    /// The agent's id [default: all installed agents]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// The agent's id
    pub(crate) id: Option<String>,
}

/// The change that the person agrees to.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Consent {
    /// Install without a question
    #[arg(long)]
    pub(crate) yes: bool,
    /// Let npm run install scripts of the package and its dependencies, and uv build packages: both run code of theirs. Also lets uv
    /// download a Python
    #[arg(long)]
    pub(crate) allow_scripts: bool,
}

/// The kinds of packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PackageKind {
    /// A package of npm.
    Npx,
    /// A package of PyPI, for uv.
    Uvx,
    /// An archive with an executable.
    Binary,
}

impl From<PackageKind> for Kind {
    fn from(kind: PackageKind) -> Self {
        match kind {
            PackageKind::Npx => Self::Npx,
            PackageKind::Uvx => Self::Uvx,
            PackageKind::Binary => Self::Binary,
        }
    }
}
