//! `cargo xtask replicas`: builds the harness of `tests/replicas`, finds its engine, and runs it.

use std::path::{Path, PathBuf};
use std::process::Command;

use agentwire_test_support::{cargo, process};
use anyhow::{Result, ensure};
use lexopt::prelude::*;

use crate::{bench, redis};

const USAGE: &str = "\
cargo xtask replicas [--short | --faults | --costs] [--engine PROGRAM] [--release] [OPTION]...

                     200 kills of nodes and 20 of the engine under load, then a rolling deployment
  --short            the form for CI: few kills, few clients, a deployment, and those faults that are found at once
  --sdks             also clients on the npm and PyPI SDKs and on rmcp; without an OPTION they are there
  --faults           only the faults, and all of them: a check that finds nothing is wrong
  --costs            measure what sharing costs, in release mode
  --engine PROGRAM   Redis or Valkey (default: the `redis-server` of this machine)
  --release          programs in release mode
  OPTION             goes to the harness, which then runs once: --clients N, --kills N, --engine-kills N, --fsync WHEN,
                     --nodes N, --deploy, --seed N, --fault NAME";

/// Each fault, and the words of a violation that shows it.
const FAULTS: [(&str, &[&str], &str); 8] = [
    ("repeat", &["--kills", "2", "--engine-kills", "0"], "times"),
    ("lose-events", &["--kills", "2", "--engine-kills", "0"], "steps came"),
    ("any-principal", &["--kills", "2", "--engine-kills", "0"], "another principal"),
    ("forget-tasks", &["--kills", "2", "--engine-kills", "0"], "task is lost"),
    (
        "forget-cancels",
        &["--clients", "24", "--revision", "2026-07-28", "--kills", "2", "--engine-kills", "0"],
        "was cancelled",
    ),
    (
        "forget-cancels",
        &["--clients", "24", "--revision", "2025-11-25", "--kills", "2", "--engine-kills", "0"],
        "was cancelled",
    ),
    ("lose-messages", &["--kills", "0", "--engine-kills", "0", "--revision", "2025-06-18"], "last change"),
    ("lose-data", &["--kills", "0", "--engine-kills", "2", "--revision", "2025-06-18"], "unknown"),
];

/// The first of them are found within seconds. The others take the time in which a client waits for something that does not come.
const QUICK_FAULTS: usize = 6;

/// A short run with kills.
const SHORT: &[&str] = &["--clients", "16", "--kills", "10", "--engine-kills", "2"];

/// The programs.
struct Harness {
    path: PathBuf,
    engine: PathBuf,
}

/// Runs what the command line names.
pub(crate) fn run(root: &Path, mut arguments: lexopt::Parser) -> Result<()> {
    let (mut short, mut faults, mut costs, mut release, mut sdks) = (false, false, false, false, false);
    let mut engine = None;
    let mut rest = Vec::new();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("help") => anyhow::bail!("{USAGE}"),
            Long("short") => short = true,
            Long("faults") => faults = true,
            Long("costs") => costs = true,
            Long("release") => release = true,
            Long("sdks") => sdks = true,
            Long("engine") => engine = Some(PathBuf::from(arguments.value()?)),
            Long("deploy") => rest.push("--deploy".to_owned()),
            Long(name) => {
                let name = format!("--{name}");
                rest.extend([name, arguments.value()?.string()?]);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let engine = engine.map_or_else(redis::program, Ok)?;
    let harness = Harness::build(root, engine, release || costs)?;
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    if costs {
        return harness.run(&[&["--costs"], &rest[..]].concat());
    }
    if short {
        harness.run(SHORT)?;
        harness.run(&["--clients", "16", "--deploy"])?;
    }
    if short || faults {
        let some = if faults { &FAULTS[..] } else { &FAULTS[..QUICK_FAULTS] };
        return some
            .iter()
            .try_for_each(|(name, options, violation)| harness.expect(name, options, violation));
    }
    let peers = if sdks || rest.is_empty() { peers(root)? } else { Vec::new() };
    let peers: Vec<&str> = peers.iter().flat_map(|words| ["--peer", words]).collect();
    harness.run(&[&peers, &rest[..]].concat())?;
    if rest.is_empty() {
        harness.run(&[&["--deploy"], &peers[..]].concat())?;
    }
    Ok(())
}

/// The clients on other SDKs, each as the JSON of its command line and mode.
fn peers(root: &Path) -> Result<Vec<String>> {
    let printed = process::output(&mut bench::command(root, "sdks")?)?;
    Ok(printed.lines().filter(|line| line.starts_with('[')).map(str::to_owned).collect())
}

impl Harness {
    fn build(root: &Path, engine: PathBuf, release: bool) -> Result<Self> {
        let programs = if release {
            cargo::build(root, &["--release", "--package", "agentwire-replicas"])?;
            cargo::target(root)?.join("release")
        } else {
            cargo::programs(root)?
        };
        Ok(Self { path: programs.join("replicas"), engine })
    }

    fn command(&self, options: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command.arg("--engine").arg(&self.engine).args(options);
        command
    }

    fn run(&self, options: &[&str]) -> Result<()> {
        process::run(&mut self.command(options))
    }

    /// Runs with a fault, which must be found.
    fn expect(&self, fault: &str, options: &[&str], violation: &str) -> Result<()> {
        let mut command = self.command(&["--fault", fault, "--clients", "10"]);
        let output = command.args(options).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let found = text.lines().any(|line| line.starts_with("VIOLATION") && line.contains(violation));
        ensure!(found && output.status.code() == Some(1), "the fault `{fault}` is not found:\n{text}");
        println!("the fault `{fault}` is found");
        Ok(())
    }
}
