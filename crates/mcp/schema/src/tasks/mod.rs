//! Tasks: those of 2025-11-25, and the extension that followed.

#[macro_use]
pub(crate) mod types;

pub mod core;
pub mod extension;
pub(crate) mod status;
