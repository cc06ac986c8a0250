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
//! A [handle](handle::TaskHandle) is the truth about a task for as long as it runs here; afterwards the store is. A task
//! that runs at another node is known by its record alone. Its node gets answers and cancels as messages ([`remote`]).

pub(crate) mod answers;
pub(crate) mod config;
pub(crate) mod drain;
pub(crate) mod ends;
pub(crate) mod handle;
pub(crate) mod id;
mod memory;
pub(crate) mod record;
pub(crate) mod registry;
mod store;
#[cfg(test)]
mod tests;

pub use config::Tasks;
pub use memory::MemoryTasks;
pub use record::{TaskCursor, TaskOwner, TaskRecord, TaskRun};
pub use store::{TaskStore, TaskStoreError};

pub(crate) use crate::task_requests::notifications::{WatchedTasks, watch_tasks};
pub(crate) use crate::task_requests::plan::plan;
pub(crate) use crate::task_requests::requests::reply;
pub(crate) use handle::{TaskCancelled, TaskHandle};
pub(crate) use id::new_name;
