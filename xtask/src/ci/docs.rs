//! Builds the documentation of every crate from the check results of the step `clippy`.

use std::env::consts::EXE_SUFFIX;
use std::path::Path;
use std::process::Command;

use agentwire_test_support::{cargo, process};
use anyhow::Result;

/// With an example the dependencies of tests count, so that every crate has the features with which `clippy` has checked it.
const DOC: &[&str] = &["doc", "--workspace", "--no-deps", "--lib", "--bins", "--example", "echo_agent"];

/// Clippy's driver takes the place of the compiler as `cargo clippy -- --deny warnings` sets it: otherwise cargo would check each of our
/// crates once more for those that depend on it, which costs more than the documentation.
pub(super) fn command(root: &Path) -> Result<Command> {
    let toolchain = process::output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let driver = Path::new(toolchain.trim()).join(format!("bin/clippy-driver{EXE_SUFFIX}"));
    let mut command = cargo::command(root);
    command.args(DOC).env("RUSTDOCFLAGS", "--deny warnings");
    command.env("RUSTC_WORKSPACE_WRAPPER", driver);
    command.env("CLIPPY_ARGS", "--deny__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    Ok(command)
}
