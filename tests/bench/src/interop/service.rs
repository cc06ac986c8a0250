//! A server of a pair.

use std::process::Stdio;
use std::time::{Duration, Instant};

use agentwire_test_support::process::Program;
use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};

use super::proxy::Proxy;
use super::scratch::Scratch;

/// How long a server may take to print an expected line, or to exit.
const TIMEOUT: Duration = Duration::from_secs(15);

/// A running server. The lines of both outputs are in the log of a pair that fails.
pub(crate) struct Service<'a> {
    scratch: &'a Scratch<'a>,
    command: Vec<String>,
    program: Program,
}

impl<'a> Service<'a> {
    /// Starts a server.
    pub(crate) fn start(scratch: &'a Scratch<'a>, command: Vec<String>) -> Result<Self> {
        let mut program = scratch.command(&command)?;
        program.stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(Self { scratch, command, program: Program::start_reading(&mut program)? })
    }

    /// Starts a server that prints its address, and a proxy in front of this path of it. The proxy cuts connections after
    /// these numbers of progress notifications.
    pub(super) fn start_behind_proxy(
        scratch: &'a Scratch<'a>,
        command: Vec<String>,
        path: &str,
        cuts: &'static [usize],
    ) -> Result<(Self, Proxy)> {
        let server = Self::start(scratch, command)?;
        let proxy = Proxy::cutting(&server.url(path)?, cuts)?;
        Ok((server, proxy))
    }

    /// Waits for a line with this text, printed before or from now on, and returns it.
    pub(super) fn expect(&self, text: &str) -> Result<String> {
        let line = self.program.line(text, Instant::now() + TIMEOUT);
        line.with_context(|| format!("the server did not print {text:?}"))
    }

    /// The URL of this path at the first local address that the server prints.
    pub(crate) fn url(&self, path: &str) -> Result<String> {
        const LOCAL: &str = "http://127.0.0.1:";
        let line = self.expect(LOCAL)?;
        let port = line.split_once(LOCAL).map(|(_, rest)| rest).unwrap_or_default();
        let port = port.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        Ok(format!("{LOCAL}{port}{path}"))
    }

    /// Sends SIGTERM and returns the exit code; none when a signal ended the server.
    pub(super) fn stop(mut self) -> Result<Option<i32>> {
        kill_process(Pid::from_child(&self.program.child), Signal::TERM)?;
        let status = self.program.exit(Instant::now() + TIMEOUT)?;
        Ok(status.context("the server did not exit after SIGTERM")?.code())
    }

    /// Sends SIGTERM and returns the lines that the server has printed.
    pub(super) fn stop_and_read(self) -> Result<Vec<String>> {
        kill_process(Pid::from_child(&self.program.child), Signal::TERM)?;
        let is_over = self.program.has_closed_outputs(Instant::now() + TIMEOUT);
        ensure!(is_over, "the server did not exit after SIGTERM");
        Ok(self.program.lines())
    }
}

impl Drop for Service<'_> {
    fn drop(&mut self) {
        self.program.kill();
        self.scratch.note(&self.command, &self.program.lines().join("\n"));
    }
}
