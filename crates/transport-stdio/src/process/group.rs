use std::io;
use std::process::{self, ExitStatus};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(unix)]
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use crate::process::watch::Watch;

/// How long something that was killed may take to be gone. The kernel needs microseconds, unless the process
/// hangs in a system call that cannot be interrupted.
const REAP_LIMIT: Duration = Duration::from_secs(1);

/// A process, those that it started (as long as they stay in its group), and the guard that outlives us.
///
/// The leader is waited for last: while it is a zombie its id, which is also that of the group, cannot be
/// given to anybody else, so that no signal of ours hits a stranger.
#[derive(Debug)]
pub(super) struct Group {
    leader: process::Child,
    #[cfg(unix)]
    guard: Option<super::guard::Guard>,
    watch: Watch,
    /// Whether the watch has said that the leader has ended, which it does once.
    told: bool,
    /// Something else in our process waited for the leader, so that its id may be a stranger's by now.
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
            told: false,
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

    /// How the leader ended, after [`finish`](Self::finish). None when something else took that.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Whether nothing is left of it.
    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Waits until the leader has ended. Only [`finish`](Self::finish) waits for it in the sense of the
    /// system.
    pub(super) fn poll_ended(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.has_ended() {
                return Poll::Ready(());
            }
            std::task::ready!(self.watch.poll(self.leader.id(), cx));
        }
    }

    /// Likewise, without asking the system before it said that there is something to ask for. Where it does not
    /// say so, this never completes.
    pub(super) fn poll_told(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.told {
            std::task::ready!(self.watch.poll_told(self.leader.id(), cx));
            self.told = self.has_ended();
        }
        Poll::Ready(())
    }

    /// Asks all of them to end. Where there are no groups or no such request, the leader is killed.
    pub(super) fn terminate(&mut self) {
        #[cfg(unix)]
        self.signal(Signal::TERM);
        #[cfg(not(unix))]
        self.kill();
    }

    /// Ends all of them.
    pub(super) fn kill(&mut self) {
        #[cfg(unix)]
        self.signal(Signal::KILL);
        if !self.lost {
            // In case it is in another group by now.
            let _ = self.leader.kill();
        }
    }

    /// Kills what is left and waits for it in the sense of the system, so that no zombie remains. Blocks for
    /// as long as a killed process needs to be gone, and for a second at most.
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

/// Waits for a process that was killed.
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
