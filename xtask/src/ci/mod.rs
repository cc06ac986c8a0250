//! `cargo xtask ci`: every check that a change must pass, one after the other, cheapest first.

mod fresh;
mod outcome;
mod publish;
mod valkey;

use std::iter;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use cargo_metadata::MetadataCommand;

use self::outcome::Outcome;
use crate::{cargo, process, redis};

struct Step {
    name: &'static str,
    run: Run,
    /// Takes too long for every change: runs with `--full` or by its name.
    full: bool,
}

impl Step {
    const fn new(name: &'static str, run: Run) -> Self {
        Self { name, run, full: false }
    }
}

enum Run {
    /// A cargo command, with an environment variable where it needs one.
    Cargo(&'static [&'static str], Option<(&'static str, &'static str)>),
    /// A command of ours, as a process of its own because some of them exit.
    Xtask(&'static [&'static str]),
    /// Clippy on each crate that has features, without any and with each alone. A build of the whole workspace unites the
    /// features of all members.
    Features,
    /// Installs the engine that tests of `mcp-redis` and `replicas` start, where it is missing.
    Redis,
    /// The tests of `mcp-redis` with Valkey as their engine.
    Valkey,
    /// `cargo publish` of each crate, without the upload.
    Publish,
}

const STEPS: &[Step] = &[
    Step::new("fmt", Run::Cargo(&["fmt", "--all", "--check"], None)),
    Step::new(
        "clippy",
        Run::Cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"], None),
    ),
    Step::new(
        "doc",
        Run::Cargo(&["doc", "--workspace", "--no-deps"], Some(("RUSTDOCFLAGS", "--deny warnings"))),
    ),
    Step::new("features", Run::Features),
    Step::new("tidy", Run::Xtask(&["tidy"])),
    Step::new("schema", Run::Xtask(&["schema", "--check"])),
    Step::new("site", Run::Xtask(&["site"])),
    Step::new("redis", Run::Redis),
    Step::new("test", Run::Cargo(&["test", "--workspace"], None)),
    Step::new("valkey", Run::Valkey),
    Step::new("migration", Run::Cargo(MIGRATION, None)),
    Step::new("fuzz", Run::Xtask(&["fuzz", "--seconds", "3"])),
    Step::new("publish", Run::Publish),
    Step::new("interop", Run::Xtask(&["interop"])),
    Step::new("conformance", Run::Xtask(&["conformance", "all"])),
    Step::new("upstream", Run::Xtask(&["schema", "--upstream"])),
    Step { name: "mutants", run: Run::Xtask(&["conformance", "mutants"]), full: true },
    Step { name: "long", run: Run::Cargo(LONG, None), full: true },
];

/// Compiles the code of other libraries in `docs/guide`, in the workspace that has these libraries.
const MIGRATION: &[&str] =
    &["check", "--manifest-path", "xtask/rivals/Cargo.toml", "--package", "rival-migration", "--tests"];

/// The ignored tests, one after the other. Each takes minutes; one measures the command's peak memory over hundreds of
/// hostile conversations.
const LONG: &[&str] =
    &["test", "--workspace", "--tests", "--", "--ignored", "--nocapture", "--test-threads", "1"];

const USAGE: &str = "\
cargo xtask ci [--full] [--fresh] [--list] [STEP]...

                every step that a change must pass, in order; with names, those alone
  --full        also the steps that take too long for every change
  --fresh       in a new clone of the last commit, with an empty home and no cache: only the toolchain and the machine's
                registry settings are kept
  --list        print the names of the steps, each on a line";

/// The options of the command line.
#[derive(Default)]
struct Options {
    full: bool,
    fresh: bool,
    list: bool,
    names: Vec<String>,
}

/// Runs the steps of the command line, and stops at the first that fails.
pub(crate) fn run(root: &Path, arguments: lexopt::Parser) -> Result<()> {
    let options = parse(arguments)?;
    let steps = options.steps()?;
    if options.list {
        steps.iter().for_each(|step| println!("{}", step.name));
        return Ok(());
    }
    if options.fresh {
        return fresh::run(root, &options.arguments());
    }
    let started = Instant::now();
    let mut not_run = Vec::new();
    for step in &steps {
        let step_started = Instant::now();
        println!("== {}", step.name);
        match step.run(root).with_context(|| format!("the step `{}` failed", step.name))? {
            Outcome::Passed => {
                println!("== {}: ok, {:.1} s", step.name, step_started.elapsed().as_secs_f64())
            }
            Outcome::NotRun(reason) => {
                println!("== {}: NOT RUN: {reason}", step.name);
                not_run.push(step.name);
            }
        }
    }
    let (passed, seconds) = (steps.len() - not_run.len(), started.elapsed().as_secs_f64());
    match not_run.is_empty() {
        true => println!("== all of {passed} steps passed in {seconds:.1} s"),
        false => println!("== {passed} steps passed in {seconds:.1} s, NOT RUN: {}", not_run.join(", ")),
    }
    Ok(())
}

fn parse(mut arguments: lexopt::Parser) -> Result<Options> {
    use lexopt::prelude::*;
    let mut options = Options::default();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("full") => options.full = true,
            Long("fresh") => options.fresh = true,
            Long("list") => options.list = true,
            Value(name) => options.names.push(name.string()?),
            other => bail!("{}\n\n{USAGE}", other.unexpected()),
        }
    }
    Ok(options)
}

impl Options {
    /// The named steps; without names all of them, the long ones only with `--full`.
    fn steps(&self) -> Result<Vec<&'static Step>> {
        let unknown = self.names.iter().find(|name| STEPS.iter().all(|step| step.name != *name));
        if let Some(name) = unknown {
            let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            bail!("no step `{name}`; the steps are {}", names.join(", "));
        }
        let wanted = |step: &&Step| match self.names.is_empty() {
            true => self.full || !step.full,
            false => self.names.iter().any(|name| name == step.name),
        };
        Ok(STEPS.iter().filter(wanted).collect())
    }

    /// These options as a command line for `.ci/run`.
    fn arguments(&self) -> Vec<&str> {
        let full = self.full.then_some("--full");
        full.into_iter().chain(self.names.iter().map(String::as_str)).collect()
    }
}

impl Step {
    fn run(&self, root: &Path) -> Result<Outcome> {
        match self.run {
            Run::Cargo(arguments, variable) => {
                process::run(cargo::command(root).args(arguments).envs(variable))?;
            }
            Run::Xtask(arguments) => {
                process::run(Command::new(std::env::current_exe()?).args(arguments).current_dir(root))?;
            }
            Run::Features => features(root)?,
            Run::Redis => redis::install()?,
            Run::Valkey => return valkey::run(root),
            Run::Publish => publish::run(root)?,
        }
        Ok(Outcome::Passed)
    }
}

fn features(root: &Path) -> Result<()> {
    let metadata = MetadataCommand::new().current_dir(root).no_deps().exec()?;
    for package in metadata.packages.iter().filter(|package| !package.features.is_empty()) {
        let alone = package.features.keys().filter(|name| *name != "default").map(String::as_str);
        for features in iter::once("").chain(alone) {
            let arguments = ["clippy", "--quiet", "--package", &package.name, "--no-default-features"];
            let features = ["--features", features, "--", "--deny", "warnings"];
            process::run(cargo::command(root).args(arguments).args(features))?;
        }
    }
    Ok(())
}
