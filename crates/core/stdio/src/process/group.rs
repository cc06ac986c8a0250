//! Starts a child as the leader of a process group, signals the group, and reaps the leader last.

use std::io;
use std::process::{self, ExitStatus};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(unix)]
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus};

use crate::process::pipes::{self, ChildPipes};
use crate::process::watch::Watch;

/// How long to wait for a killed process to end. The kernel needs microseconds, unless the process hangs in a system call
/// that cannot be interrupted.
const REAP_LIMIT: Duration = Duration::from_secs(1);

/// A child that leads a process group, the processes that it started and that stay in the group, and the guard, which kills
/// the group when this process ends in any way.
///
/// The leader is reaped last. While it is a zombie, the system gives its id, which is also that of the group, to no other
/// process, so no signal of ours hits one.
///
/// Dropping it kills and reaps the group, as [`finish`](Self::finish) does. On Windows a job object is the group: it has all that
/// the leader starts, and ends with this process without a guard. On other systems without groups the leader alone is killed.
///
/// ```
/// use std::future::poll_fn;
/// use std::process::{Command, Stdio};
///
/// use agentwire_transport_stdio::ProcessGroup;
/// use futures::AsyncReadExt;
///
/// # #[cfg(unix)]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let mut command = Command::new("sh");
/// command.args(["-c", "sleep 100 & read name; echo hello $name; exit 3"]);
/// command.stdin(Stdio::piped()).stdout(Stdio::piped());
/// let mut group = ProcessGroup::spawn(command)?;
/// let mut pipes = group.take_pipes()?;
/// futures::AsyncWriteExt::write_all(&mut pipes.stdin, b"you\n").await?;
/// poll_fn(|cx| group.poll_ended(cx)).await;
/// // The `sleep` still runs. It is killed here.
/// assert_eq!(group.finish().and_then(|status| status.code()), Some(3));
/// let mut text = String::new();
/// pipes.stdout.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello you\n");
/// # Ok(())
/// # }
/// # #[cfg(not(unix))]
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct ProcessGroup {
    leader: process::Child,
    #[cfg(unix)]
    guard: Option<super::guard::Guard>,
    #[cfg(windows)]
    job: Option<super::job::Job>,
    watch: Watch,
    /// Whether the watch has reported the end of the leader, which it does once.
    is_reported: bool,
    /// Whether other code of this process has reaped the leader, so that its id may belong to another process by now.
    lost: bool,
    finished: bool,
    status: Option<ExitStatus>,
}

impl ProcessGroup {
    /// Starts `command` as the leader of a group of its own, with a guard.
    ///
    /// # Errors
    ///
    /// When the system refuses to start it.
    pub fn spawn(command: process::Command) -> io::Result<Self> {
        Self::start(command, true)
    }

    /// Starts `command` with or without a guard.
    pub(super) fn start(mut command: process::Command, guarded: bool) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        // Before the leader starts, so that little time is left in which it is in no job.
        #[cfg(windows)]
        let job = super::job::Job::new();
        let leader = command.spawn()?;
        #[cfg(unix)]
        let guard = if guarded { super::guard::Guard::spawn(leader.id()) } else { None };
        #[cfg(not(unix))]
        let _ = guarded;
        Ok(Self {
            #[cfg(windows)]
            job: job.and_then(|job| job.holding(&leader)),
            leader,
            #[cfg(unix)]
            guard,
            watch: Watch::default(),
            is_reported: false,
            lost: false,
            finished: false,
            status: None,
        })
    }

    /// The process that was started, for its streams. Only [`finish`](Self::finish) may wait for it.
    pub fn leader(&mut self) -> &mut process::Child {
        &mut self.leader
    }

    /// Takes our ends of the leader's streams, each of which must be a pipe. Its stderr may be something else.
    ///
    /// # Errors
    ///
    /// When stdin or stdout is not a pipe or was taken before, and when the system refuses to use a pipe without blocking. On
    /// Windows also outside a tokio runtime.
    pub fn take_pipes(&mut self) -> io::Result<ChildPipes> {
        pipes::take(&mut self.leader)
    }

    /// The id of the leader, which on Unix is also that of the group.
    pub fn id(&self) -> u32 {
        self.leader.id()
    }

    /// Whether the leader has ended. Processes that it started may still run.
    pub fn has_ended(&mut self) -> bool {
        self.check_leader();
        self.finished || self.lost || self.status.is_some()
    }

    /// How the leader ended. None while it runs, and where the system does not report it.
    pub fn status(&mut self) -> Option<ExitStatus> {
        self.check_leader();
        self.status
    }

    /// Whether all of it was killed and reaped.
    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Waits until the leader has ended. Only [`finish`](Self::finish) reaps it. Wakes the task of the last call. Must be called
    /// within a tokio runtime that has I/O and time enabled.
    pub fn poll_ended(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.has_ended() {
                return Poll::Ready(());
            }
            std::task::ready!(self.watch.poll(self.leader.id(), cx));
        }
    }

    /// Waits until the system reports the end of the leader. Never completes where the system has no such report.
    pub(super) fn poll_reported(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.is_reported {
            std::task::ready!(self.watch.poll_reported(self.leader.id(), cx));
            self.is_reported = self.has_ended();
        }
        Poll::Ready(())
    }

    /// Sends SIGINT to the group, as ^C does at a terminal. On systems without signals it is killed.
    pub fn interrupt(&mut self) {
        #[cfg(unix)]
        self.signal(Signal::INT);
        #[cfg(not(unix))]
        self.kill();
    }

    /// Sends SIGTERM to the group. On systems without signals it is killed.
    pub fn terminate(&mut self) {
        #[cfg(unix)]
        self.signal(Signal::TERM);
        #[cfg(not(unix))]
        self.kill();
    }

    /// Sends SIGKILL to the group. On Windows the leader and all that it has started are killed.
    pub fn kill(&mut self) {
        #[cfg(unix)]
        self.signal(Signal::KILL);
        if !self.lost {
            // The leader may have moved to another group.
            let _ = self.leader.kill();
        }
        // Last, so that the leader's exit code is that of a killed process.
        #[cfg(windows)]
        drop(self.job.take());
    }

    /// Kills and reaps the rest of the group, so that no zombie remains, and returns how the leader ended. Blocks until the
    /// killed processes have ended: usually microseconds, a second at most.
    pub fn finish(&mut self) -> Option<ExitStatus> {
        if self.finished {
            return self.status;
        }
        self.kill();
        #[cfg(unix)]
        if let Some(guard) = self.guard.take() {
            reap(&mut guard.into_process());
        }
        if !self.lost {
            self.status = reap(&mut self.leader).or(self.status);
        }
        self.finished = true;
        // It may hold a descriptor.
        self.watch = Watch::default();
        self.status
    }

    /// Checks whether the leader has ended, and how, without reaping it.
    #[cfg(unix)]
    fn check_leader(&mut self) {
        if self.finished || self.lost {
            return;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(Pid::from_child(&self.leader)), options) {
            Ok(status) => self.status = status.map(|status| exit_status(&status)),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => self.lost = true,
        }
    }

    /// Checks whether the leader has ended, and how. On systems without groups it is reaped here.
    #[cfg(not(unix))]
    fn check_leader(&mut self) {
        if self.finished || self.lost || self.status.is_some() {
            return;
        }
        match self.leader.try_wait() {
            Ok(status) => self.status = status,
            Err(_) => self.lost = true,
        }
    }

    #[cfg(unix)]
    fn signal(&mut self, signal: Signal) {
        // The group's id is safe as long as a member has not been waited for.
        if !self.finished && (!self.lost || self.guard.is_some()) {
            let _ = rustix::process::kill_process_group(Pid::from_child(&self.leader), signal);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The exit status of a process that is not reaped.
#[cfg(unix)]
fn exit_status(status: &WaitIdStatus) -> ExitStatus {
    // The form in which `wait` reports it: the signal in the lowest byte, or else the code in the next one.
    let code = || (status.exit_status().unwrap_or_default() & 0xff) << 8;
    std::os::unix::process::ExitStatusExt::from_raw(status.terminating_signal().unwrap_or_else(code))
}

/// Reaps a process that was killed.
fn reap(process: &mut process::Child) -> Option<ExitStatus> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(50);
    loop {
        match process.try_wait() {
            Ok(None) if start.elapsed() < REAP_LIMIT => {}
            Ok(status) => return status,
            Err(_) => return None,
        }
        thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(10));
    }
}
