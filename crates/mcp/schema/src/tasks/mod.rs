//! Tasks: `core` is part of the protocol of 2025-11-25, `extension` is the extension of 2026-07-28 that replaced it.

#[macro_use]
pub(crate) mod types;

pub mod core;
pub mod extension;
pub(crate) mod status;
