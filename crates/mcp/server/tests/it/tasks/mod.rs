//! Tools that run as tasks: by the protocol of 2025-11-25, and by the extension of 2026-07-28.

mod core_questions;
mod core_tasks;
mod extension;
mod extension_questions;
mod faults;
mod kept;
mod nodes;
mod owners;
mod stores;
mod storm;
mod subject;
