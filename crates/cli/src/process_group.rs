//! A program whose raw bytes we pass on: it leads a process group, and what it started ends with it.

use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};

use anyhow::{Context as _, Result};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// A running program. Dropping it kills its group.
pub(crate) struct ProcessGroup {
    child: Child,
}

/// The pipes of a program. There is no `stderr` where it is discarded.
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: Option<ChildStderr>,
}

impl ProcessGroup {
    /// Starts a program with pipes.
    pub(crate) fn spawn(command: &[OsString], stderr: Stdio) -> Result<(Self, Pipes)> {
        let (program, arguments) = command.split_first().context("there is no program")?;
        let mut process = Command::new(program);
        process
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .kill_on_drop(true);
        #[cfg(unix)]
        process.process_group(0);
        let mut child = process.spawn().with_context(|| program.to_string_lossy().into_owned())?;
        let (stdin, stdout) = (child.stdin.take().context("stdin")?, child.stdout.take().context("stdout")?);
        let stderr = child.stderr.take();
        Ok((Self { child }, Pipes { stdin, stdout, stderr }))
    }

    /// Waits for the end of the program itself. What it started may run on.
    pub(crate) async fn ended(&mut self) -> io::Result<()> {
        #[cfg(unix)]
        {
            use rustix::process::{WaitId, WaitIdOptions, waitid};
            use tokio::signal::unix::{SignalKind, signal};
            // From before the check, so that no end is missed.
            let mut ends = signal(SignalKind::child())?;
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            while let Some(id) = self.id()
                && waitid(WaitId::Pid(id), options)?.is_none()
            {
                ends.recv().await;
            }
            Ok(())
        }
        #[cfg(not(unix))]
        self.child.wait().await.map(drop)
    }

    /// Waits for the end of the program itself, and then kills what it has left behind.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.ended().await?;
        // The program is still a process, without which the id could be that of another group.
        self.kill();
        self.child.wait().await
    }

    /// Asks the group to end: SIGTERM.
    pub(crate) fn terminate(&mut self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::TERM);
        #[cfg(not(unix))]
        self.kill();
    }

    /// Kills the group.
    pub(crate) fn kill(&mut self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
        #[cfg(not(unix))]
        let _ended = self.child.start_kill();
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(id) = self.id() {
            let _ended = rustix::process::kill_process_group(id, signal);
        }
    }

    /// The id of the program and of its group. None once the system may give it to another.
    #[cfg(unix)]
    fn id(&self) -> Option<rustix::process::Pid> {
        rustix::process::Pid::from_raw(i32::try_from(self.child.id()?).ok()?)
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
