//! Runs the first command of the README, and checks the compiled crates, the size of the program, and its output.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use agentwire_test_support::{cargo, process};
use anyhow::{Context as _, Result, ensure};
use cargo_metadata::Message;

use super::output::Output;
use super::timings::Stopwatch;

/// The most crates that the command compiles, ours included.
const CRATE_LIMIT: usize = 150;

/// The most bytes of the program without its symbols: 20 MB. It had 50 MB when each part was in every build, and may only fall.
const SIZE_LIMIT: u64 = 20_000_000;

/// The prompt of the README's first command, and what its output has.
const PROMPT: &str = r#"/call add {"a": 2, "b": 40}"#;
const ANSWER: &str = r#"{"sum":42}"#;

/// A command that this build lacks, and the feature that its error names.
const ABSENT: (&str, &str) = ("check", "--features check");

/// Builds the command as `cargo run --release` does, measures it, and runs the README's first command with it.
pub(super) fn run(root: &Path, to: &Output<'_>, watch: &mut Stopwatch) -> Result<()> {
    let (crates, program) = watch.compile(|| build(root, to))?;
    let stripped = program.with_extension("stripped");
    to.run(Command::new("strip").arg("-o").arg(&stripped).arg(&program))?;
    let size = fs::metadata(&stripped)?.len();
    to.print(&format!(
        "{crates} crates, at most {CRATE_LIMIT}; {size} bytes without symbols, at most {SIZE_LIMIT}"
    ));
    ensure!(
        crates <= CRATE_LIMIT,
        "the first build compiles too many crates: make a part a feature of the command"
    );
    ensure!(size <= SIZE_LIMIT, "the program is too large: make a part a feature of the command");
    let output = process::output(Command::new(&stripped).args(["chat", PROMPT]).current_dir(root))?;
    ensure!(output.contains(ANSWER), "`chat` printed no {ANSWER}:\n{output}");
    let (command, feature) = ABSENT;
    let refused = Command::new(&stripped).arg(command).stdin(Stdio::null()).output()?;
    let errors = String::from_utf8_lossy(&refused.stderr);
    ensure!(
        refused.status.code() == Some(2) && errors.lines().count() == 1 && errors.contains(feature),
        "`{command}` does not say how to get it: {}\n{errors}",
        refused.status
    );
    Ok(())
}

/// Builds what `cargo run` in the root builds. Returns the number of crates and the program.
fn build(root: &Path, to: &Output<'_>) -> Result<(usize, PathBuf)> {
    let mut build = cargo::command(root);
    build.args(["build", "--release", "--bin", "agentwire", "--message-format", "json-render-diagnostics"]);
    let (status, messages) = cargo::messages(build.stderr(to.stderr()?))?;
    ensure!(status.success(), "the command cannot be compiled");
    let (mut crates, mut program) = (BTreeSet::new(), None);
    for message in messages {
        let Message::CompilerArtifact(artifact) = message else { continue };
        program = artifact.executable.filter(|_| artifact.target.name == "agentwire").or(program);
        crates.insert(artifact.package_id);
    }
    let program = program.context("cargo has built no `agentwire`")?;
    Ok((crates.len(), program.into()))
}
