//! Runs a program between our own streams, and records what passes.

use std::ffi::OsString;
use std::future::poll_fn;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use agentwire_recording::{EventKind, Exit, LineTap, Recorder, Side};
use agentwire_transport_stdio::{ChildPipes, Input, Output, ProcessGroup};
use anyhow::{Context as _, Result};
use futures_util::future::join;

use super::super::process_group::spawn;
use super::pipe::copy;
use crate::failure::ProgramEnded;
use crate::signals::Signals;

/// How long output may come after the program has ended: from processes that it has left behind, which are killed then.
const DRAIN: Duration = Duration::from_secs(1);

/// Runs the program, and fails with its exit code unless that is 0.
pub(super) async fn run(command: &[OsString], recorder: Recorder) -> Result<()> {
    let mut signals = Signals::listen()?;
    let (mut program, ChildPipes { stdin, stdout, stderr }) = spawn(command, Stdio::piped())?;
    let stderr = stderr.context("stderr")?;
    let some = || Some(recorder.clone());
    let input = copy(Input::stdin()?, stdin, LineTap::messages(some(), Side::Client));
    let output = join(
        copy(stdout, Output::stdout()?, LineTap::messages(some(), Side::Server)),
        copy(stderr, Output::stderr()?, LineTap::stderr(some(), Side::Server)),
    );
    let output = async {
        let mut output = std::pin::pin!(output);
        tokio::select! {
            // The program may run on after it has closed its output.
            _ = &mut output => ended(&mut program, &mut signals).await,
            () = ended(&mut program, &mut signals) => {
                let _drained = tokio::time::timeout(DRAIN, output).await;
            }
        }
        // What the program has left behind is killed, before the program is reaped.
        program.finish()
    };
    let mut output = std::pin::pin!(output);
    let status = tokio::select! {
        status = &mut output => status,
        () = input => output.await,
    };
    let status = status.context("the system does not say how the program ended")?;
    recorder.record(Side::Server, EventKind::Exit(exit_of(status)));
    match exit_code(status) {
        0 => Ok(()),
        code => Err(ProgramEnded(code).into()),
    }
}

/// Waits for the end of the program. The first signal is passed on to it, the second kills it.
async fn ended(program: &mut ProcessGroup, signals: &mut Signals) {
    tokio::select! {
        () = poll_fn(|cx| program.poll_ended(cx)) => return,
        _ = signals.interrupted() => {}
    }
    program.terminate();
    tokio::select! {
        () = poll_fn(|cx| program.poll_ended(cx)) => return,
        _ = signals.interrupted() => {}
    }
    program.kill();
    poll_fn(|cx| program.poll_ended(cx)).await;
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
