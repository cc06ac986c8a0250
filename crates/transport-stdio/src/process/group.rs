//! Starts a child as the leader of a process group, signals the group, and reaps the leader last.

use std::io;
use std::process::{self, ExitStatus};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(unix)]
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use crate::process::watch::Watch;

/// How long to wait for a killed process to end. The kernel needs microseconds, unless the process hangs in a system call
/// that cannot be interrupted.
const REAP_LIMIT: Duration = Duration::from_secs(1);

/// A process group: the child as its leader, the processes that it started and that stay in the group, and the guard.
///
/// The leader is reaped last. While it is a zombie, the system gives its id, which is also that of the group, to no other
/// process, so no signal of ours hits one.
#[derive(Debug)]
pub(super) struct Group {
    leader: process::Child,
    #[cfg(unix)]
    guard: Option<super::guard::Guard>,
    watch: Watch,
    /// Whether the watch has reported the end of the leader, which it does once.
    is_reported: bool,
    /// Whether other code of this process has reaped the leader, so that its id may belong to another process by now.
    lost: bool,
    finished: bool,
    status: Option<ExitStatus>,
}

impl Group {
    /// Starts `command` as the leader of a group of its own.
    pub(super) fn spawn(mut command: process::Command, guarded: bool) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let leader = command.spawn()?;
        #[cfg(unix)]
        let guard = if guarded { super::guard::Guard::spawn(leader.id()) } else { None };
        #[cfg(not(unix))]
        let _ = guarded;
        Ok(Self {
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

    /// The process that was started, for its streams and its id.
    pub(super) fn leader(&mut self) -> &mut process::Child {
        &mut self.leader
    }

    pub(super) fn id(&self) -> u32 {
        self.leader.id()
    }

    /// How the leader ended, after [`finish`](Self::finish). None if other code of this process has reaped it.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Whether all of it was killed and reaped.
    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Waits until the leader has ended. Only [`finish`](Self::finish) reaps it.
    pub(super) fn poll_ended(&mut self, cx: &mut Context<'_>) -> Poll<()> {
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

    /// Sends SIGTERM to the group. On systems without groups the leader is killed.
    pub(super) fn terminate(&mut self) {
        #[cfg(unix)]
        self.signal(Signal::TERM);
        #[cfg(not(unix))]
        self.kill();
    }

    /// Kills the group.
    pub(super) fn kill(&mut self) {
        #[cfg(unix)]
        self.signal(Signal::KILL);
        if !self.lost {
            // In case it is in another group by now.
            let _ = self.leader.kill();
        }
    }

    /// Kills and reaps what is left, so that no zombie remains. Blocks until the killed processes have ended, for
    /// [`REAP_LIMIT`] at most.
    pub(super) fn finish(&mut self) {
        if self.finished {
            return;
        }
        self.kill();
        #[cfg(unix)]
        if let Some(guard) = self.guard.take() {
            reap(&mut guard.into_process());
        }
        if !self.lost {
            self.status = reap(&mut self.leader);
        }
        self.finished = true;
    }

    #[cfg(unix)]
    fn has_ended(&mut self) -> bool {
        if self.finished || self.lost {
            return true;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(Pid::from_child(&self.leader)), options) {
            Ok(status) => status.is_some(),
            Err(rustix::io::Errno::INTR) => false,
            Err(_) => {
                self.lost = true;
                true
            }
        }
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        self.finished || !matches!(self.leader.try_wait(), Ok(None))
    }

    #[cfg(unix)]
    fn signal(&mut self, signal: Signal) {
        // The group's id is safe as long as a member has not been waited for.
        if !self.finished && (!self.lost || self.guard.is_some()) {
            let _ = rustix::process::kill_process_group(Pid::from_child(&self.leader), signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.finish();
    }
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
