//! The store: installed agents in versioned folders.

mod agent_store;
mod digests;
mod install;
mod layout;
mod lock;
mod record;
mod remove;

pub use agent_store::{AgentStore, DamagedAgent, InstalledAgent};
pub use install::InstallOutcome;
pub use lock::FolderGuard;
pub use remove::RemoveOutcome;
