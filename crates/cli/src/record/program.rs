//! Runs a program between our own streams, and records what passes.

use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use agentwire_recording::{EventKind, Exit, LineTap, Recorder, Side};
use agentwire_transport_stdio::{Input, Output};
use anyhow::{Context as _, Result};
use futures_util::future::join;
use tokio::process::{Child, Command};

use super::pipe::{Compat, copy};
use crate::failure::ProgramEnded;
use crate::signals::Signals;

/// How long output may come after the program has ended: from processes that it has left behind.
const DRAIN: Duration = Duration::from_secs(1);

/// Runs the program, and fails with its exit code unless that is 0.
pub(super) async fn run(command: &[OsString], recorder: Recorder) -> Result<()> {
    let mut signals = Signals::listen()?;
    let (program, arguments) = command.split_first().context("there is no program")?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .with_context(|| program.to_string_lossy().into_owned())?;
    let (stdin, stdout, stderr) = (
        child.stdin.take().context("stdin")?,
        child.stdout.take().context("stdout")?,
        child.stderr.take().context("stderr")?,
    );
    let some = || Some(recorder.clone());
    let input = copy(Input::stdin()?, Compat(stdin), LineTap::messages(some(), Side::Client));
    let output = join(
        copy(Compat(stdout), Output::stdout()?, LineTap::messages(some(), Side::Server)),
        copy(Compat(stderr), Output::stderr()?, LineTap::stderr(some(), Side::Server)),
    );
    let output = async {
        let mut output = std::pin::pin!(output);
        let status = tokio::select! {
            // The program may run on after it has closed its output.
            _ = &mut output => return wait(&mut child, &mut signals).await,
            status = wait(&mut child, &mut signals) => status,
        };
        let _drained = tokio::time::timeout(DRAIN, output).await;
        status
    };
    let mut output = std::pin::pin!(output);
    let status = tokio::select! {
        status = &mut output => status,
        () = input => output.await,
    };
    let status = status?;
    recorder.record(Side::Server, EventKind::Exit(exit_of(status)));
    match exit_code(status) {
        0 => Ok(()),
        code => Err(ProgramEnded(code).into()),
    }
}

/// Waits for the end of the program. The first signal is passed on to it, the second kills it.
async fn wait(child: &mut Child, signals: &mut Signals) -> std::io::Result<ExitStatus> {
    tokio::select! {
        status = child.wait() => return status,
        () = signals.next() => {}
    }
    terminate(child);
    tokio::select! {
        status = child.wait() => return status,
        () = signals.next() => {}
    }
    child.start_kill()?;
    child.wait().await
}

#[cfg(unix)]
fn terminate(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process};
    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(id) = id {
        // It has not been waited for, so the id is still its own.
        let _ended = kill_process(id, Signal::TERM);
    }
}

#[cfg(not(unix))]
fn terminate(child: &mut Child) {
    let _ended = child.start_kill();
}

/// The exit code of a program: its own, or 128 and the signal that ended it.
fn exit_code(status: ExitStatus) -> u8 {
    let exit = exit_of(status);
    let code = exit.code.unwrap_or_else(|| 128 + exit.signal.unwrap_or_default());
    // As the system does, which keeps the lowest byte.
    (code & 0xff).try_into().unwrap_or(1)
}

#[cfg(unix)]
fn exit_of(status: ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt as _;
    Exit::new(status.code(), status.signal())
}

#[cfg(not(unix))]
fn exit_of(status: ExitStatus) -> Exit {
    Exit::new(status.code(), None)
}
