//! `cargo xtask fuzz`: what is in `tests/fuzz/targets`, on inputs that nobody wrote.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

const USAGE: &str = "\
cargo xtask fuzz [TARGET] [--seconds N] [--seed N] [--libfuzzer]

Runs a target, or each, for so many seconds (default 5) on mutations of its kept inputs. The same seed (default 1) gives the
same inputs. An input that fails is written to `target/fuzz`.

  --libfuzzer  run them by libFuzzer instead, which follows the branches that are taken. Needs `cargo install cargo-fuzz` and
               a nightly compiler, or a stable one with RUSTC_BOOTSTRAP=1. What it finds on the way stays in `target/fuzz`.

`cargo test -p agentwire-fuzz-targets` runs the kept inputs alone.";

/// The longest input that is tried, in bytes; the kept ones are not longer.
const LONGEST: usize = 4096;

pub(crate) fn run(root: &Path, mut arguments: lexopt::Parser) -> Result<()> {
    use lexopt::prelude::*;
    let (mut target, mut seconds, mut seed, mut libfuzzer) = (None, 5_u64, 1_u64, false);
    while let Some(argument) = arguments.next()? {
        match argument {
            Value(name) if target.is_none() => target = Some(name.string()?),
            Long("seconds") => seconds = arguments.value()?.parse()?,
            Long("seed") => seed = arguments.value()?.parse()?,
            Long("libfuzzer") => libfuzzer = true,
            Long("help") | Short('h') => bail!("{USAGE}"),
            other => return Err(other.unexpected().into()),
        }
    }
    if !libfuzzer {
        return mutate(root, target.as_deref(), seconds, seed);
    }
    let targets = match target {
        Some(target) => vec![target],
        None => corpora(root)?,
    };
    targets.iter().try_for_each(|target| follow(root, target, seconds, seed))
}

fn mutate(root: &Path, target: Option<&str>, seconds: u64, seed: u64) -> Result<()> {
    let mut command = Command::new("cargo");
    // With the checks of a development build, which the tests have made already.
    command.args(["run", "--quiet", "--package", "agentwire-fuzz-targets", "--"]).args(target);
    command.args(["--seconds", &seconds.to_string(), "--seed", &seed.to_string()]);
    let status = command.current_dir(root).status()?;
    ensure!(status.success(), "a target failed");
    Ok(())
}

/// The names of the targets: each has a corpus.
fn corpora(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("tests/fuzz/corpus");
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut names = entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

fn follow(root: &Path, target: &str, seconds: u64, seed: u64) -> Result<()> {
    let kept = root.join("tests/fuzz/corpus").join(target);
    ensure!(kept.is_dir(), "there is no target `{target}`");
    // New inputs go to the first folder, and the kept ones stay as they are.
    let found = root.join("target/fuzz/found").join(target);
    fs::create_dir_all(&found)?;
    let artifacts = format!("-artifact_prefix={}/", root.join("target/fuzz").display());
    let limits = [
        format!("-max_total_time={seconds}"),
        format!("-seed={seed}"),
        format!("-max_len={LONGEST}"),
        "-timeout=60".to_owned(),
        artifacts,
    ];
    let mut command = Command::new("cargo");
    command
        .args(["fuzz", "run", "--fuzz-dir", "tests/fuzz", target])
        .arg(&found)
        .arg(&kept)
        .arg("--")
        .args(limits);
    let status = command.current_dir(root).status().context("cargo fuzz")?;
    ensure!(status.success(), "`{target}` failed; its input is in `target/fuzz`");
    Ok(())
}
