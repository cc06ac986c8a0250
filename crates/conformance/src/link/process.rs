//! A program that is spoken to over its standard input and output.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;

use super::received::{Received, deliver};
use crate::fault::{Faults, Incoming};
use crate::subject::CommandLine;
use crate::trace::{Part, Sender, Trace};
use crate::verdict::{Outcome, Stop};

/// The most bytes of a line that the suite reads.
pub(crate) const MAX_LINE: u64 = 16 << 20;
/// The most bytes of a program's standard error that are kept.
const MAX_STDERR_LINE: u64 = 16 << 10;

/// A running program. Dropping it kills it and what it started.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
}

impl Process {
    /// Starts a program. What it writes arrives at `received`.
    pub(crate) fn start(
        command: &CommandLine,
        trace: &Trace,
        faults: &Faults,
        received: mpsc::Sender<Received>,
    ) -> Outcome<Self> {
        let mut child = spawn(command)?;
        let stdin = child.stdin.take();
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(read_lines(stdout, trace.clone(), faults.clone(), received));
        }
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(read_stderr(stderr, trace.clone(), None));
        }
        Ok(Self { child, stdin })
    }

    /// Starts a program that is spoken to by other means; returns the lines of its standard output and error as well.
    pub(crate) fn start_aside(
        command: &CommandLine,
        trace: &Trace,
    ) -> Outcome<(Self, mpsc::Receiver<String>)> {
        let mut child = spawn(command)?;
        let stdin = child.stdin.take();
        let (lines, received) = mpsc::channel(256);
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(read_stderr(stdout, trace.clone(), Some(lines.clone())));
        }
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(read_stderr(stderr, trace.clone(), Some(lines)));
        }
        Ok((Self { child, stdin }, received))
    }

    /// Writes bytes to its standard input.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Outcome {
        let Some(stdin) = &mut self.stdin else {
            return Err(Stop::inconclusive("its standard input was closed before"));
        };
        let written = async {
            stdin.write_all(bytes).await?;
            stdin.flush().await
        };
        match tokio::time::timeout(Duration::from_secs(20), written).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Stop::failed(
                "the program reads its standard input",
                format!("writing to it failed: {error}"),
            )),
            Err(_) => Err(Stop::failed("the program reads its standard input", "it read nothing for 20 s")),
        }
    }

    /// Closes its standard input.
    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for its end: the exit code, none if a signal ended it.
    pub(crate) async fn wait(&mut self, within: Duration) -> Option<Option<i32>> {
        match tokio::time::timeout(within, self.child.wait()).await {
            Ok(Ok(status)) => Some(status.code()),
            Ok(Err(_)) => Some(None),
            Err(_) => None,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())) {
            // The program leads a process group of its own, so what it started ends as well.
            let _ended = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

pub(crate) fn spawn(command: &CommandLine) -> Outcome<Child> {
    let mut process = Command::new(&command.program);
    process.args(&command.arguments).envs(command.env.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = &command.folder {
        process.current_dir(folder);
    }
    process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    process.process_group(0);
    process.spawn().map_err(|error| Stop::inconclusive(format!("`{command}` could not be started: {error}")))
}

/// Reads lines up to the end, and passes each through the fault to the trace and to the check.
pub(crate) async fn read_lines(
    output: impl AsyncRead + Unpin,
    trace: Trace,
    faults: Faults,
    received: mpsc::Sender<Received>,
) {
    let mut reader = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let count = (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line).await.unwrap_or(0);
        let arrived = if count == 0 { Incoming::Closed } else { Incoming::Line(without_end(line)) };
        let goes_on = deliver(arrived, "standard output", (&trace, &faults), &received).await;
        if !goes_on || count == 0 {
            return;
        }
    }
}

fn without_end(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    line
}

/// Reads text that is no protocol, so that the program is never blocked by it.
async fn read_stderr(output: impl AsyncRead + Unpin, trace: Trace, lines: Option<mpsc::Sender<String>>) {
    let mut reader = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        match (&mut reader).take(MAX_STDERR_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                trace.add(Sender::Subject, Part::Stderr, &line);
                if let Some(lines) = &lines {
                    // The check may have heard enough.
                    let _heard = lines.try_send(String::from_utf8_lossy(&line).trim_end().to_owned());
                }
            }
        }
    }
}
