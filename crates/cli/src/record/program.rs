//! Runs a program between our own streams, and records what passes.

use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use agentwire_recording::{EventKind, Exit, LineTap, Recorder, Side};
use agentwire_transport_stdio::{Input, Output};
use anyhow::{Context as _, Result};
use futures_util::future::join;

use super::pipe::{Compat, copy};
use crate::failure::ProgramEnded;
use crate::process_group::{Pipes, ProcessGroup};
use crate::signals::Signals;

/// How long output may come after the program has ended: from processes that it has left behind, which are killed then.
const DRAIN: Duration = Duration::from_secs(1);

/// Runs the program, and fails with its exit code unless that is 0.
pub(super) async fn run(command: &[OsString], recorder: Recorder) -> Result<()> {
    let mut signals = Signals::listen()?;
    let (mut program, Pipes { stdin, stdout, stderr }) = ProcessGroup::spawn(command, Stdio::piped())?;
    let stderr = stderr.context("stderr")?;
    let some = || Some(recorder.clone());
    let input = copy(Input::stdin()?, Compat(stdin), LineTap::messages(some(), Side::Client));
    let output = join(
        copy(Compat(stdout), Output::stdout()?, LineTap::messages(some(), Side::Server)),
        copy(Compat(stderr), Output::stderr()?, LineTap::stderr(some(), Side::Server)),
    );
    let output = async {
        let mut output = std::pin::pin!(output);
        tokio::select! {
            // The program may run on after it has closed its output.
            _ = &mut output => ended(&mut program, &mut signals).await,
            ended = ended(&mut program, &mut signals) => {
                let _drained = tokio::time::timeout(DRAIN, output).await;
                ended
            }
        }?;
        program.wait().await
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
async fn ended(program: &mut ProcessGroup, signals: &mut Signals) -> std::io::Result<()> {
    tokio::select! {
        ended = program.ended() => return ended,
        () = signals.next() => {}
    }
    program.terminate();
    tokio::select! {
        ended = program.ended() => return ended,
        () = signals.next() => {}
    }
    program.kill();
    program.ended().await
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
