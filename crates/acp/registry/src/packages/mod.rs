//! Packages that package managers install and run.

pub(crate) mod name;
pub(crate) mod npm;
pub(crate) mod programs;
pub(crate) mod uv;
