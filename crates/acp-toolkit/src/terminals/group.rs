use std::io;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use agentwire_acp_schema::v1::TerminalExitStatus;

use super::signal::exit_status;

/// How long a killed process may take to end. The kernel needs microseconds, unless the process hangs in an
/// uninterruptible system call.
const REAP_LIMIT: Duration = Duration::from_secs(1);

/// A command and the processes that it started, while they stay in its process group, with the guard that outlives this
/// process.
///
/// The command is reaped last: while it is a zombie its id, which is also the group's, is not reused, so no signal
/// reaches another process.
#[derive(Debug)]
pub(super) struct Group {
    leader: Child,
    #[cfg(unix)]
    guard: Option<super::guard::Guard>,
    state: LeaderState,
}

#[derive(Clone, Debug)]
enum LeaderState {
    /// Not waited for: it runs, or is a zombie.
    Unreaped,
    /// Waited for. Nothing may be sent to its id.
    Reaped(TerminalExitStatus),
}

impl Group {
    pub(super) fn spawn(mut command: Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let leader = command.spawn()?;
        Ok(Self {
            #[cfg(unix)]
            guard: super::guard::Guard::spawn(leader.id()),
            leader,
            state: LeaderState::Unreaped,
        })
    }

    #[cfg(not(unix))]
    pub(super) fn leader(&mut self) -> &mut Child {
        &mut self.leader
    }

    pub(super) fn id(&self) -> u32 {
        self.leader.id()
    }

    /// Returns how the command ended, or none while it runs.
    #[cfg(unix)]
    pub(super) fn status(&mut self) -> Option<TerminalExitStatus> {
        use rustix::io::retry_on_intr;
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

        if let LeaderState::Reaped(status) = &self.state {
            return Some(status.clone());
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match retry_on_intr(|| waitid(WaitId::Pid(Pid::from_child(&self.leader)), options)) {
            Ok(status) => status.map(|status| exit_status(status.exit_status(), status.terminating_signal())),
            Err(_) => {
                // Something else in our process waited for it.
                self.state = LeaderState::Reaped(TerminalExitStatus::new());
                Some(TerminalExitStatus::new())
            }
        }
    }

    /// Returns how the command ended, or none while it runs.
    #[cfg(not(unix))]
    pub(super) fn status(&mut self) -> Option<TerminalExitStatus> {
        if let LeaderState::Unreaped = self.state {
            match self.leader.try_wait() {
                Ok(None) => return None,
                Ok(Some(status)) => self.state = LeaderState::Reaped(exit_status(status.code(), None)),
                Err(_) => self.state = LeaderState::Reaped(TerminalExitStatus::new()),
            }
        }
        match &self.state {
            LeaderState::Reaped(status) => Some(status.clone()),
            LeaderState::Unreaped => None,
        }
    }

    /// Kills all of them.
    pub(super) fn kill(&mut self) {
        if let LeaderState::Unreaped = self.state {
            #[cfg(unix)]
            let _ = rustix::process::kill_process_group(
                rustix::process::Pid::from_child(&self.leader),
                rustix::process::Signal::KILL,
            );
            // It may be in another group by now.
            let _ = self.leader.kill();
        }
    }

    /// Kills the processes that are left and reaps the command. Returns how it ended. Blocks until a killed process has
    /// ended, for a second at most.
    pub(super) fn finish(&mut self) -> TerminalExitStatus {
        if let LeaderState::Reaped(status) = &self.state {
            return status.clone();
        }
        // Asked first, because what has ended by itself was not killed.
        let status = self.status();
        self.kill();
        #[cfg(unix)]
        if let Some(guard) = self.guard.take() {
            reap(&mut guard.into_process());
        }
        let waited = reap(&mut self.leader);
        let status = status.or(waited).unwrap_or_default();
        self.state = LeaderState::Reaped(status.clone());
        status
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Waits for a process that was killed.
fn reap(process: &mut Child) -> Option<TerminalExitStatus> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(50);
    loop {
        match process.try_wait() {
            Ok(None) if start.elapsed() < REAP_LIMIT => {}
            Ok(None) | Err(_) => return None,
            Ok(Some(status)) => {
                #[cfg(unix)]
                let signal = std::os::unix::process::ExitStatusExt::signal(&status);
                #[cfg(not(unix))]
                let signal = None;
                return Some(exit_status(status.code(), signal));
            }
        }
        thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(10));
    }
}
