//! Calls that go on as tasks, which their clients leave and come back to: those of 2025-11-25, which are a part of the
//! protocol, and those of 2026-07-28, which are an extension of it.
//!
//! ```text
//!  tools/call ─▶ Plan ─▶ the function's future ─▶ carry, under the server author's `spawn`
//!                                │                         │
//!                             Context ◀───▶ Board ◀────────┤ each change
//!                                             ▲            ▼
//!  tasks/get, update, cancel, result ─────────┴──────▶ TaskStore, notifications
//! ```
//!
//! A [board](board::Board) is the truth about a task for as long as it runs here; afterwards the store is.

mod board;
mod boards;
mod carry;
mod config;
mod memory;
mod news;
mod owner;
mod plan;
mod record;
mod report;
mod requests;
mod result;
mod store;
#[cfg(test)]
mod tests;

pub use config::Tasks;
pub use memory::MemoryTasks;
pub use record::{TaskOwner, TaskPlace, TaskRecord};
pub use store::{TaskStore, TaskStoreError};

pub(crate) use board::{Board, TaskCancelled};
pub(crate) use news::{Followed, follow};
pub(crate) use owner::new_name;
pub(crate) use plan::plan;
pub(crate) use requests::reply;

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_schema::code::MissingCapabilities;
use agentwire_mcp_schema::{ClientCapabilities, task_extension};

use crate::ask::{AskError, Kind, Question};
use crate::era::Caller;

/// Whether who makes a request that stands alone takes tasks.
fn has_opted_in(caller: &Caller) -> bool {
    caller.capabilities().extensions.as_ref().is_some_and(|names| names.contains_key(task_extension::NAME))
}

/// It takes none, and that will not do.
fn not_opted_in() -> ErrorObject {
    MissingCapabilities::new(ClientCapabilities::default().extensions(task_extension::extensions())).into()
}

/// Asks what a task wants to know.
pub(crate) async fn ask<Q: Question>(board: &Board, key: &str, question: Q) -> Result<Q::Response, AskError> {
    let answer = board.ask(key, question.into()).await?;
    let wrong =
        |why: serde_json::Error| Kind::Wrong { key: key.to_owned(), why: why.to_string(), in_params: false };
    answer.decode().map_err(|why| AskError(wrong(why)))
}
