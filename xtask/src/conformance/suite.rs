//! The official suite as installed programs, and its runs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use super::checks::{self, Check};
use super::fixtures::Fixtures;
use super::requirements::Requirements;
use crate::npm;

/// How long all scenarios of a run may take together. It is less than a minute on two cores that have nothing else to do.
const LIMIT: Duration = Duration::from_secs(400);

/// Whom a run is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Server,
    Client,
}

/// Scenarios that the suite runs at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) side: Side,
    /// The revision of the protocol whose scenarios these are, or the version of the suite that knows no such sets.
    pub(super) spec: &'static str,
    package: Package,
}

/// Which version of the suite runs them.
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

/// What came of a run.
pub(super) struct Ran {
    /// What each scenario checked.
    pub(super) scenarios: BTreeMap<String, Vec<Check>>,
    pub(super) seconds: f32,
}

/// Where the suite is installed.
pub(super) struct Suites {
    newest: PathBuf,
    stable: PathBuf,
    node: PathBuf,
}

impl Suites {
    /// Installs what is missing or out of date.
    pub(super) fn install(sources: &Path) -> Result<Self> {
        let (newest, stable) = (sources.join("npm"), sources.join("npm-0.1.16"));
        npm::install(&newest)?;
        npm::install(&stable)?;
        // Both versions import from Node what only 22 has, though they ask for 20.
        let node = npm::node(&newest, 22)?;
        Ok(Self { newest, stable, node })
    }

    /// Which scenarios must be passed.
    pub(super) fn requirements(&self, run: &Run) -> Result<Requirements> {
        if run.package == Package::Stable {
            return Ok(Requirements::default());
        }
        let file = self.package(run).join(format!("requirements/{}.yaml", run.spec));
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        Requirements::parse(&text, run.side.word())
    }

    /// Runs all scenarios, or `only` some, and keeps in the folder `kept` what they checked.
    pub(super) fn run(&self, run: &Run, only: &[String], fixtures: &Fixtures, kept: &Path) -> Result<Ran> {
        if kept.exists() {
            fs::remove_dir_all(kept)?;
        }
        fs::create_dir_all(kept)?;
        let started = Instant::now();
        let mut target: Vec<String> = vec![run.side.word().into()];
        // Ended when this is dropped.
        let mut server = None;
        match run.side {
            Side::Server => {
                let server = server.insert(fixtures.serve(&kept.join("everything-server.log"))?);
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
            self.invoke(run, &target, &whole, kept)?;
        }
        for scenario in only {
            let mut words = vec!["--scenario", scenario];
            if run.package == Package::Newest {
                words.extend(["--spec-version", run.spec]);
            }
            self.invoke(run, &target, &words, kept)?;
        }
        let scenarios = checks::read(kept)?;
        if scenarios.is_empty() {
            let said = fs::read_to_string(kept.join("suite.log")).unwrap_or_default();
            bail!("the suite left no results of `{}`:\n{said}", run.name());
        }
        Ok(Ran { scenarios, seconds: started.elapsed().as_secs_f32() })
    }

    /// Starts the suite and waits for its end. How it ends says less than what it checked.
    fn invoke(&self, run: &Run, target: &[String], words: &[&str], kept: &Path) -> Result<()> {
        let log = File::options().create(true).append(true).open(kept.join("suite.log"))?;
        let mut command = Command::new(&self.node);
        command.arg(self.package(run).join("dist/index.js")).args(target).args(words);
        command.arg("-o").arg(kept).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        // Everything is on this machine.
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env_remove(name);
        }
        let mut child = command.spawn().context("cannot run node")?;
        let ended = wait(&mut child, LIMIT)?;
        ensure!(ended.is_some(), "`{}` took longer than {} s", run.name(), LIMIT.as_secs());
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

/// Waits for a process to end; ends it, and gives nothing, when it takes too long.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let until = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() > until {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(20));
    }
}
