//! Installs ACP agents from the agent registry, and finds them again without a network.
//!
//! `agentwire_agent_registry` here is `agentwire::acp::registry` in the crate `agentwire`, with its feature `agent-registry`.
//!
//! A client that starts an agent with `npx` asks the network at every start, and breaks when a cache is half written. This crate
//! installs an agent once, into a folder of its own version, and returns the command that starts its executable directly.
//!
//! ```text
//!  Index ──▶ Entry ──▶ Plan ──▶ the person agrees ──▶ AgentStore::install ──▶ a folder, verified with `initialize`
//!                                                                                 │
//!                                       InstalledAgent, with a FolderGuard ◀── AgentStore::find (no network)
//! ```
//!
//! ```no_run
//! use agentwire_agent_registry::{AgentStore, IndexSource, Limits, Plan, PlanOptions};
//!
//! # async fn example() -> Result<(), agentwire_agent_registry::RegistryError> {
//! let store = AgentStore::open("/home/me/.local/share/agentwire/agents", Limits::default())?;
//! let index = store.index(&IndexSource::official()).await?;
//! let entry = index.entry("claude-acp")?;
//! let mut plan = Plan::new(entry, &index, &PlanOptions::default())?;
//! store.resolve(&mut plan).await?; // asks npm which executable the package has
//! println!("{plan}"); // show it, and ask
//! store.install(&plan).await?;
//! let agent = store.find("claude-acp")?.expect("it was just installed");
//! println!("{}", agent.start().program().display());
//! # Ok(())
//! # }
//! ```
//!
//! # What it will not do
//!
//! The crate asks no questions: the program shows a [`Plan`] and installs it after a yes. It runs no install scripts of a
//! package unless [`PlanOptions::allow_scripts`] is set. It speaks no more of ACP than `initialize`.
//!
//! # Invariants
//!
//! - The record of an agent names a folder only after the folder was verified and synced. A failed install changes nothing.
//! - A folder whose [`FolderGuard`] is held is never removed.
//! - The index, archives and outputs of programs are read up to [`Limits`].
//! - No relative path of the environment chooses a program. Programs run in an empty folder, in a process group of their own.
//! - Processes that a package manager or a probed agent leaves running are killed: its group, and on Linux all processes
//!   that have its environment.
//! - An index cannot set a variable that is known to load code, change trust, set a proxy or give permissions. A plan marks
//!   every other one, unless it is known to be harmless.
//! - An archive or a package of npm whose digest differs from that of the same version when it was installed before is refused.
//!   uv reports no digest.

// circle: variables/mod.rs, variables/table.rs: the table has rows of the types that its reader defines.

mod archive;
mod changed;
mod digest;
mod direct;
mod error;
mod executable;
mod fetch;
mod files;
mod group;
mod index;
mod limits;
mod packages;
mod plan;
mod platform;
mod probe;
mod store;
mod variables;
mod version;

pub use archive::unpack;
pub use changed::ChangedVersion;
pub use digest::Digest;
pub use error::RegistryError;
pub use fetch::FetchError;
pub use index::{Archive, Entry, Index, IndexSource, Package};
pub use limits::Limits;
pub use packages::programs::{RunError, SearchPath};
pub use plan::{Kind, Plan, PlanOptions};
pub use platform::platform;
pub use probe::{Probe, ProbeError, StartCommand};
pub use store::{AgentStore, DamagedAgent, FolderGuard, InstallOutcome, InstalledAgent, RemoveOutcome};
pub use version::is_newer;
