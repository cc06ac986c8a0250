//! What a user sets for a run, and what the suite is told of a subject.

pub(crate) mod config;
pub(crate) mod profile;
pub(crate) mod roles;
