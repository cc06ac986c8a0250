//! Calls that go on as tasks, which their clients leave and come back to: those of 2025-11-25, which are a part of the
//! protocol, and those of 2026-07-28, which are an extension of it.
//!
//! ```text
//!  tools/call ─▶ Plan ─▶ the function's future ─▶ run_task, under the server author's `spawn`
//!                                │                         │
//!                             Context ◀───▶ TaskHandle ◀────────┤ each change
//!                                             ▲            ▼
//!  tasks/get, update, cancel, result ─────────┴──────▶ TaskStore, notifications
//! ```
//!
//! A [handle](handle::TaskHandle) is the truth about a task for as long as it runs here; afterwards the store is. A task that runs at
//! another node is known by its record alone. Its node gets answers and cancels as messages ([`remote`]).

mod answers;
mod client;
mod config;
pub(crate) mod drain;
mod ends;
mod follow;
mod handle;
mod id;
mod memory;
mod node;
mod notifications;
mod plan;
mod record;
mod recover;
mod registry;
mod remote;
mod report;
mod requests;
mod result;
mod run;
mod store;
#[cfg(test)]
mod tests;

pub use config::Tasks;
pub use memory::MemoryTasks;
pub use record::{TaskCursor, TaskOwner, TaskRecord, TaskRun};
pub use store::{TaskStore, TaskStoreError};

pub(crate) use handle::{TaskCancelled, TaskHandle};
pub(crate) use id::new_name;
pub(crate) use notifications::{WatchedTasks, watch_tasks};
pub(crate) use plan::plan;
pub(crate) use requests::reply;
