//! Starts the program of `tests/bench`, which has the commands that need programs of other projects.

use std::path::Path;
use std::process::Command;

use agentwire_test_support::{cargo, process};
use anyhow::Result;

/// Runs a command of the debug build that the tests have.
pub(crate) fn run(root: &Path, name: &str, mut arguments: lexopt::Parser) -> Result<()> {
    process::run_instead(command(root, name)?.args(arguments.raw_args()?))
}

/// Runs a command of a release build: a generator of load must be faster than what it measures.
pub(crate) fn run_optimized(root: &Path, name: &str, mut arguments: lexopt::Parser) -> Result<()> {
    let mut command = cargo::command(root);
    command.args(["run", "--quiet", "--release", "--package", "agentwire-bench", "--", name]);
    process::run_instead(command.args(arguments.raw_args()?))
}

/// A command of the debug build, beside the other programs of the workspace.
pub(crate) fn command(root: &Path, name: &str) -> Result<Command> {
    let mut command = Command::new(cargo::programs(root)?.join("bench"));
    command.arg(name).env(cargo::PROGRAMS_ARE_BUILT, "1");
    Ok(command)
}
