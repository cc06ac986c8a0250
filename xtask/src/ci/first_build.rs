//! The first command of the README, and the size of its program.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use super::timings::Stopwatch;
use crate::{cargo, process};

/// The most bytes of the program without its symbols: 20 MB.
const SIZE_LIMIT: u64 = 20_000_000;

/// The prompt of the README's first command, and what its output has.
const PROMPT: &str = r#"/call add {"a": 2, "b": 40}"#;
const ANSWER: &str = r#"{"sum":42}"#;

/// Builds the command in release mode with its default features, measures it, and runs the README's first command with it.
pub(super) fn run(root: &Path, watch: &mut Stopwatch) -> Result<()> {
    watch.compile(|| cargo::build(root, &["--release", "--package", "agentwire-cli"]))?;
    let program = cargo::target(root)?.join("release/agentwire");
    let stripped = program.with_extension("stripped");
    process::run(Command::new("strip").arg("-o").arg(&stripped).arg(&program))?;
    let size = fs::metadata(&stripped)?.len();
    println!("{size} bytes without symbols, at most {SIZE_LIMIT}");
    ensure!(size <= SIZE_LIMIT, "the program is too large: see `docs/dependencies.md`");
    let output = process::output(Command::new(&stripped).args(["chat", PROMPT]).current_dir(root))?;
    ensure!(output.contains(ANSWER), "`chat` printed no {ANSWER}:\n{output}");
    Ok(())
}
