//! The official suite as installed programs, and its runs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use agentwire_test_support::{packages, process::Program};
use anyhow::{Context as _, Result, bail, ensure};

use super::checks::{self, Check, Status};
use super::fixtures::{Fixtures, Nodes};
use super::requirements::Requirements;

/// The time limit for all scenarios of a run together. On two idle cores they take less than a minute.
const TIMEOUT: Duration = Duration::from_secs(400);

/// The side of ours that a run tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Server,
    Client,
}

/// A set of scenarios, run by one start of the suite.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) side: Side,
    /// The revision of the protocol whose scenarios these are, or the version of the suite that knows no such sets.
    pub(super) spec: &'static str,
    package: Package,
}

/// The version of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Package {
    Newest,
    Stable,
}

pub(super) const RUNS: [Run; 6] = [
    Run { side: Side::Server, spec: "2025-11-25", package: Package::Newest },
    Run { side: Side::Server, spec: "2026-07-28", package: Package::Newest },
    Run { side: Side::Client, spec: "2025-11-25", package: Package::Newest },
    Run { side: Side::Client, spec: "2026-07-28", package: Package::Newest },
    Run { side: Side::Server, spec: "0.1.16", package: Package::Stable },
    Run { side: Side::Client, spec: "0.1.16", package: Package::Stable },
];

impl Side {
    /// The suite's word for it.
    fn word(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }
}

impl Run {
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.side.word(), self.spec)
    }
}

/// The checks of a run.
pub(super) struct RunResult {
    /// By the scenarios' names.
    pub(super) scenarios: BTreeMap<String, Vec<Check>>,
    pub(super) seconds: f32,
}

/// The installed suite.
pub(super) struct Suites {
    newest: PathBuf,
    stable: PathBuf,
    node: PathBuf,
}

/// Scenarios that warn when an answer is some hundred milliseconds late, which a busy machine can make it.
const TIMED: [&str; 1] = ["sse-retry"];

/// How often such a scenario is repeated until it is in time: what is always late is a fault.
const REPEATS: u32 = 3;

/// The options for one scenario.
fn alone<'a>(run: &Run, scenario: &'a str) -> Vec<&'a str> {
    let mut words = vec!["--scenario", scenario];
    if run.package == Package::Newest {
        words.extend(["--spec-version", run.spec]);
    }
    words
}

impl Suites {
    /// Installs what is missing or out of date.
    pub(super) fn install(sources: &Path) -> Result<Self> {
        let (newest, stable) = (sources.join("npm"), sources.join("npm-0.1.16"));
        packages::npm(&newest, &newest)?;
        packages::npm(&stable, &stable)?;
        // Both versions use interfaces of Node 22, though they ask for 20.
        let node = packages::node(&newest, 22)?;
        Ok(Self { newest, stable, node })
    }

    /// The scenarios that are required.
    pub(super) fn requirements(&self, run: &Run) -> Result<Requirements> {
        if run.package == Package::Stable {
            return Ok(Requirements::default());
        }
        let file = self.package(run).join(format!("requirements/{}.yaml", run.spec));
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        Requirements::parse(&text, run.side.word())
    }

    /// Runs all scenarios, or `only` some. What the suite writes is kept in the folder `results`.
    pub(super) fn run(
        &self,
        run: &Run,
        only: &[String],
        (fixtures, nodes): (&Fixtures, Nodes),
        results: &Path,
    ) -> Result<RunResult> {
        if results.exists() {
            fs::remove_dir_all(results)?;
        }
        fs::create_dir_all(results)?;
        let started = Instant::now();
        let mut target: Vec<String> = vec![run.side.word().into()];
        // Dropping it ends the server.
        let mut server = None;
        match run.side {
            Side::Server => {
                let server = server.insert(fixtures.serve(nodes, &results.join("everything-server.log"))?);
                target.extend(["--url".into(), server.url().to_owned()]);
            }
            Side::Client => target.extend(["--command".into(), fixtures.client_command()]),
        }
        if only.is_empty() {
            let whole = if run.package == Package::Stable {
                ["--suite", "all"]
            } else {
                ["--requirements", run.spec]
            };
            self.invoke(run, &target, &whole, results)?;
        }
        for scenario in only {
            self.invoke(run, &target, &alone(run, scenario), results)?;
        }
        let mut scenarios = checks::read(results)?;
        for scenario in TIMED {
            for repeat in 1..=REPEATS {
                let was_late =
                    |checks: &Vec<Check>| checks.iter().any(|check| check.status == Status::Warning);
                if !scenarios.get(scenario).is_some_and(was_late) {
                    break;
                }
                println!("  {scenario}, which measures time, once more");
                let folder = results.join(format!("repeat-{repeat}"));
                fs::create_dir_all(&folder)?;
                self.invoke(run, &target, &alone(run, scenario), &folder)?;
                let repeated = checks::read(&folder)?.remove(scenario).unwrap_or_default();
                scenarios.insert(scenario.to_owned(), repeated);
            }
        }
        if scenarios.is_empty() {
            let log = fs::read_to_string(results.join("suite.log")).unwrap_or_default();
            bail!("the suite left no results of `{}`:\n{log}", run.name());
        }
        Ok(RunResult { scenarios, seconds: started.elapsed().as_secs_f32() })
    }

    /// Starts the suite and waits for its end. Its exit code is ignored: the verdict follows from the checks.
    fn invoke(&self, run: &Run, target: &[String], words: &[&str], results: &Path) -> Result<()> {
        let log = File::options().create(true).append(true).open(results.join("suite.log"))?;
        let mut command = Command::new(&self.node);
        command.arg(self.package(run).join("dist/index.js")).args(target).args(words);
        command.arg("-o").arg(results).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        // Both sides are on this machine.
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env_remove(name);
        }
        let exit = Program::start(&mut command)?.exit(Instant::now() + TIMEOUT)?;
        ensure!(exit.is_some(), "`{}` took longer than {} s", run.name(), TIMEOUT.as_secs());
        Ok(())
    }

    fn package(&self, run: &Run) -> PathBuf {
        let folder = match run.package {
            Package::Newest => &self.newest,
            Package::Stable => &self.stable,
        };
        folder.join("node_modules/@modelcontextprotocol/conformance")
    }
}
