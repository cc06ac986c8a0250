//! Runs a program between our own streams, and records the messages.

use std::ffi::OsString;
use std::future::poll_fn;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use agentwire_recording::{EventKind, Exit, LineTap, Recorder, Side};
use agentwire_transport_stdio::{ChildPipes, Input, Output, ProcessGroup};
use anyhow::{Context as _, Result};
use futures_util::FutureExt as _;
use futures_util::future::join;
use tokio::sync::watch;
use tokio::time::sleep;

use super::super::process_group::spawn;
use super::pipe::{EndedBy, copy};
use crate::failure::{Interrupted, ProgramEnded};
use crate::signals::Signals;

/// The time for output after the program has ended, from processes that it left behind. After it, these are killed.
const DRAIN: Duration = Duration::from_secs(1);

/// The time for the program to end after its client has gone, before it gets SIGTERM, and the time after that before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// Runs the program, and fails with its exit code unless that is 0.
pub(super) async fn run(command: &[OsString], recorder: Recorder) -> Result<()> {
    let mut signals = Signals::listen()?;
    let (mut program, ChildPipes { stdin, stdout, stderr }) = spawn(command, Stdio::piped())?;
    let stderr = stderr.context("stderr")?;
    let some = || Some(recorder.clone());
    let input = copy(Input::stdin()?, stdin, LineTap::messages(some(), Side::Client));
    // A client that no longer reads our stdout has gone, even if it has left our stdin open.
    let (gone, is_gone) = watch::channel(false);
    let to_client = copy(stdout, Output::stdout()?, LineTap::messages(some(), Side::Server));
    let output = join(
        to_client.map(|ended_by| _ = gone.send(ended_by == EndedBy::Reader)),
        copy(stderr, Output::stderr()?, LineTap::stderr(some(), Side::Server)),
    );
    let output = async {
        let mut output = std::pin::pin!(output);
        tokio::select! {
            // The program may continue after it has closed its output.
            _ = &mut output => ended(&mut program, &mut signals, &is_gone).await,
            () = ended(&mut program, &mut signals, &is_gone) => {
                let _drained = tokio::time::timeout(DRAIN, output).await;
            }
        }
        // Kills the processes that the program left behind, before the program is reaped.
        program.finish()
    };
    let mut output = std::pin::pin!(output);
    let status = tokio::select! {
        status = &mut output => status,
        _ = input => output.await,
        // Closes the program's stdin.
        () = client_gone(&is_gone) => output.await,
    };
    let status = status.context("the system does not say how the program ended")?;
    recorder.record(Side::Server, EventKind::Exit(exit_of(status)));
    match exit_code(status) {
        0 => Ok(()),
        code => Err(ProgramEnded(code).into()),
    }
}

/// Waits for the end of the program. Passes the first signal on to it, ^C as SIGINT and any other as SIGTERM. The second kills it.
/// Once the client has gone, each [`GRACE`] that passes counts as SIGTERM.
async fn ended(program: &mut ProcessGroup, signals: &mut Signals, is_gone: &watch::Receiver<bool>) {
    for is_first in [true, false] {
        let overdue = async {
            client_gone(is_gone).await;
            sleep(GRACE).await;
        };
        let is_key = tokio::select! {
            () = poll_fn(|cx| program.poll_ended(cx)) => return,
            interrupted = signals.interrupted() => interrupted == Interrupted::BY_KEY,
            () = overdue => false,
        };
        match (is_first, is_key) {
            (true, true) => program.interrupt(),
            (true, false) => program.terminate(),
            (false, _) => program.kill(),
        }
    }
    poll_fn(|cx| program.poll_ended(cx)).await;
}

/// Completes when the client has gone.
async fn client_gone(is_gone: &watch::Receiver<bool>) {
    if is_gone.clone().wait_for(|is_gone| *is_gone).await.is_err() {
        std::future::pending().await
    }
}

/// The exit code of a program: its own, or 128 plus the number of the signal that ended it.
fn exit_code(status: ExitStatus) -> u8 {
    let exit = exit_of(status);
    let code = exit.code.unwrap_or_else(|| 128 + exit.signal.unwrap_or_default());
    // Keeps the lowest byte, as the system does.
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
