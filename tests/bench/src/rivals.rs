//! The programs on other libraries.

/// The folder of their workspace.
pub(crate) const RIVALS: &str = "tests/bench/rivals";
