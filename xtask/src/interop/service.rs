//! A program that serves while others talk to it.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::scratch::Scratch;

/// How long a program may take to begin, to say what is expected of it, and to end.
const PATIENCE: Duration = Duration::from_secs(15);

/// A running program. What it says on either output is kept, and shown when the pair fails.
pub(super) struct Service<'a> {
    scratch: &'a Scratch<'a>,
    child: Child,
    command: Vec<String>,
    said: Arc<Said>,
}

#[derive(Default)]
struct Said {
    lines: Mutex<Vec<String>>,
    news: Condvar,
}

impl<'a> Service<'a> {
    /// Starts a program.
    pub(super) fn start(scratch: &'a Scratch<'a>, command: Vec<String>) -> Result<Self> {
        let mut program = scratch.command(&command)?;
        program.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = program.spawn().with_context(|| format!("cannot run {}", command[0]))?;
        let said = Arc::new(Said::default());
        listen(child.stdout.take().context("standard output is a pipe")?, said.clone());
        listen(child.stderr.take().context("standard error is a pipe")?, said.clone());
        Ok(Self { scratch, child, command, said })
    }

    /// Waits until it says this, if it has not yet, and returns the line.
    pub(super) fn expect(&self, text: &str) -> Result<String> {
        let until = Instant::now() + PATIENCE;
        let mut lines = self.said.lines();
        loop {
            if let Some(line) = lines.iter().find(|line| line.contains(text)) {
                return Ok(line.clone());
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                bail!("the server did not say {text:?}");
            }
            let waited = self.said.news.wait_timeout(lines, left);
            lines = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Where it listens, which it must say: the first address on this machine, with this path.
    pub(super) fn url(&self, path: &str) -> Result<String> {
        const HERE: &str = "http://127.0.0.1:";
        let line = self.expect(HERE)?;
        let port = line.split_once(HERE).map(|(_, rest)| rest).unwrap_or_default();
        let port = port.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        Ok(format!("{HERE}{port}{path}"))
    }

    /// Asks it to end, and returns its exit code; none when a signal ended it.
    pub(super) fn stop(mut self) -> Result<Option<i32>> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status.code());
            }
            thread::sleep(Duration::from_millis(5));
        }
        bail!("it was asked to end, and did not");
    }
}

impl Drop for Service<'_> {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
        }
        self.scratch.note(&self.command, &self.said.lines().join("\n"));
    }
}

impl Said {
    fn lines(&self) -> MutexGuard<'_, Vec<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps every line, until the end of the output.
fn listen(output: impl Read + Send + 'static, said: Arc<Said>) {
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            said.lines().push(line);
            said.news.notify_all();
        }
    });
}
