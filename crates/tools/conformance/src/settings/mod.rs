//! The settings of a run, and the description of its subject.

pub(crate) mod config;
pub(crate) mod profile;
pub(crate) mod roles;
