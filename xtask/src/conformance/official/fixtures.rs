//! Our side: the server and the client that the suite tests.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use agentwire_test_support::{cargo, process::Program};
use anyhow::{Context as _, Result};

use crate::redis;

/// The time limit for the server to listen.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// The line that the server prints before its URL.
const LISTENING: &str = "listening on ";

/// The number of nodes of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nodes {
    One,
    /// Three, which share an engine, behind a balancer.
    Three,
}

impl Nodes {
    /// The suffix of a run's name.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::One => "",
            Self::Three => ", three nodes",
        }
    }
}

/// The programs.
pub(super) struct Fixtures {
    target: PathBuf,
    /// The engine of several nodes.
    engine: Option<PathBuf>,
}

impl Fixtures {
    /// Builds the programs in debug mode. With `replicas` also those for several nodes.
    pub(super) fn build(root: &Path, replicas: bool) -> Result<Self> {
        cargo::programs(root)?;
        let engine = replicas.then(redis::program).transpose()?;
        Ok(Self { target: cargo::target(root)?, engine })
    }

    /// The workspace's target folder.
    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// The command that starts the client, for a shell. The suite adds a URL.
    pub(super) fn client_command(&self) -> String {
        self.program("everything-client").display().to_string()
    }

    /// Starts the server. Its standard error is written to `log` when it ends.
    pub(super) fn serve(&self, nodes: Nodes, log: &Path) -> Result<Server> {
        let mut command = match nodes {
            Nodes::One => {
                let mut command = Command::new(self.program("everything-server"));
                command.arg("127.0.0.1:0");
                command
            }
            Nodes::Three => {
                let engine = self.engine.as_ref().context("no engine was looked for")?;
                let mut command = Command::new(self.program("replicas"));
                command.arg("--engine").arg(engine).arg("--serve").arg(self.program("everything-server"));
                // The nodes end with the group.
                command.process_group(0);
                command
            }
        };
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let program = Program::start_reading(&mut command)?;
        let line = program.line(LISTENING, Instant::now() + START_TIMEOUT);
        let url = line.as_deref().and_then(|line| line.strip_prefix(LISTENING));
        let url =
            url.with_context(|| format!("the server does not listen:\n{}", program.lines().join("\n")))?;
        Ok(Server { url: url.to_owned(), log: log.to_owned(), program })
    }

    fn program(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(name)
    }
}

/// A running server. Dropping it ends the server.
pub(super) struct Server {
    url: String,
    log: PathBuf,
    program: Program,
}

impl Server {
    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The log only helps to find the cause of a failure.
        let _ = fs::write(&self.log, self.program.lines().join("\n") + "\n");
    }
}
