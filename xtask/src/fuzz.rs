//! `cargo xtask fuzz`: runs the targets of `tests/fuzz/targets` on generated inputs.

use std::fs;
use std::path::Path;
use std::process::Command;

use agentwire_test_support::{cargo, process};
use anyhow::{Context, Result, bail, ensure};

const USAGE: &str = "\
cargo xtask fuzz [TARGET] [--seconds N] [--seed N] [--libfuzzer]

Runs a target, or each, for N seconds (default 5) on mutations of its kept inputs. The same seed (default 1) gives the same
inputs. A failing input is written to `target/fuzz`.

  --libfuzzer  run them by libFuzzer, which is guided by coverage. Needs `cargo install cargo-fuzz` and a nightly compiler, or
               a stable one with RUSTC_BOOTSTRAP=1. Inputs that it finds are kept in `target/fuzz`.

`cargo test -p agentwire-fuzz-targets` runs the kept inputs alone.";

/// The maximum length of an input, in bytes. The kept inputs are shorter.
const INPUT_LIMIT: usize = 4096;

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
    targets.iter().try_for_each(|target| run_libfuzzer(root, target, seconds, seed))
}

fn mutate(root: &Path, target: Option<&str>, seconds: u64, seed: u64) -> Result<()> {
    // A development build has debug assertions, and the tests have built it already.
    let mut command = Command::new(cargo::programs(root)?.join("fuzz"));
    command.args(target);
    command.args(["--seconds", &seconds.to_string(), "--seed", &seed.to_string()]);
    process::run(&mut command).context("a target failed")
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

fn run_libfuzzer(root: &Path, target: &str, seconds: u64, seed: u64) -> Result<()> {
    let kept = root.join("tests/fuzz/corpus").join(target);
    ensure!(kept.is_dir(), "there is no target `{target}`");
    // New inputs go to the first folder, and the kept ones stay as they are.
    let found = root.join("target/fuzz/found").join(target);
    fs::create_dir_all(&found)?;
    let artifacts = format!("-artifact_prefix={}/", root.join("target/fuzz").display());
    let limits = [
        format!("-max_total_time={seconds}"),
        format!("-seed={seed}"),
        format!("-max_len={INPUT_LIMIT}"),
        "-timeout=60".to_owned(),
        artifacts,
    ];
    let mut command = cargo::command(root);
    command.args(["fuzz", "run", "--fuzz-dir", "tests/fuzz", target]).arg(&found).arg(&kept);
    process::run(command.arg("--").args(limits))
        .with_context(|| format!("`{target}` failed; its input is in `target/fuzz`"))
}
