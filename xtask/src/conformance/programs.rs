//! Builds the programs that both suites judge.

use std::path::Path;

use anyhow::Result;

use crate::cargo;

/// The programs, in cargo's words. The choice of all packages, and an example, give every package the features that it has in a test
/// of the workspace, so that this uses what that test has compiled.
const PROGRAMS: [&str; 9] = [
    "--workspace",
    "--bin",
    "agentwire",
    "--bin",
    "everything-*",
    "--bin",
    "script-agent",
    "--example",
    "guide_agent",
];

/// Builds the command and the fixtures.
pub(super) fn build(root: &Path) -> Result<()> {
    cargo::build(root, &PROGRAMS)
}
