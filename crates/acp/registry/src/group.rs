//! Runs a program and ends all processes that it has started together with it.

use std::future::poll_fn;
use std::io;
use std::process::{Command, ExitStatus};

use agentwire_transport_stdio::ProcessGroup;
use tokio::process::{ChildStderr, ChildStdout};

/// A program in a process group. Dropping its parts kills the group, and on Linux also processes that have left the group, such
/// as daemons.
///
/// There, all processes of one program have a variable of their own in their environment. A process that leaves the group
/// and also clears its environment escapes.
pub(crate) struct Group {
    processes: ProcessGroup,
    mark: Mark,
}

impl Group {
    /// Starts a program as the leader of a new group.
    pub(crate) fn spawn(mut command: Command) -> io::Result<Self> {
        let mark = Mark::new()?;
        command.envs(mark.variable());
        Ok(Self { processes: ProcessGroup::spawn(command)?, mark })
    }

    /// Takes the outputs of the program.
    pub(crate) fn outputs(&mut self) -> io::Result<(Option<ChildStdout>, Option<ChildStderr>)> {
        let leader = self.processes.leader();
        let (stdout, stderr) = (leader.stdout.take(), leader.stderr.take());
        Ok((stdout.map(ChildStdout::from_std).transpose()?, stderr.map(ChildStderr::from_std).transpose()?))
    }

    /// Waits until the program ends, kills the remaining processes of its group, and returns how it ended.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        poll_fn(|cx| self.processes.poll_ended(cx)).await;
        let status = self.processes.finish();
        self.mark.kill();
        status.ok_or_else(|| io::Error::other("the system does not report how it ended"))
    }
}

/// A variable that all processes of one program have in their environment, by which they are found on Linux. Dropping the mark
/// kills them.
pub(crate) struct Mark(#[cfg(target_os = "linux")] String);

impl Mark {
    /// Makes a mark that no other program has.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(
            #[cfg(target_os = "linux")]
            marked::new()?,
        ))
    }

    /// The variable to start the program with. `None` if the system has no way to find processes by it.
    pub(crate) fn variable(&self) -> Option<(&'static str, &str)> {
        #[cfg(target_os = "linux")]
        return Some((marked::VARIABLE, &self.0));
        #[cfg(not(target_os = "linux"))]
        None
    }

    fn kill(&self) {
        #[cfg(target_os = "linux")]
        marked::kill(&self.0);
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Processes that are found by a variable in their environment.
#[cfg(target_os = "linux")]
mod marked {
    use std::fs::{self, File};
    use std::io::{self, Read as _};

    use ring::rand::{SecureRandom as _, SystemRandom};
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    pub(super) const VARIABLE: &str = "AGENTWIRE_INSTALL";
    /// How many times the processes are listed: a list may miss a process that forks.
    const MAX_ROUNDS: usize = 50;
    /// How many bytes of an environment are read.
    const MAX_ENVIRONMENT: u64 = 8 << 20;

    /// A value that no other program has.
    pub(super) fn new() -> io::Result<String> {
        let mut bytes = [0; 16];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|_| io::Error::other("the system has no random bytes"))?;
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Kills all processes with this value.
    pub(super) fn kill(mark: &str) {
        let variable = format!("{VARIABLE}={mark}");
        let mut killed = Vec::new();
        for _ in 0..MAX_ROUNDS {
            let before = killed.len();
            let Ok(entries) = fs::read_dir("/proc") else { return };
            for id in entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok()) {
                if !killed.contains(&id) && kill_one(id, variable.as_bytes()) == Some(()) {
                    killed.push(id);
                }
            }
            if killed.len() == before {
                return;
            }
        }
    }

    fn kill_one(id: i32, variable: &[u8]) -> Option<()> {
        // The descriptor is older than the look at the environment: a process that gets the same id later is not hit.
        let process = pidfd_open(Pid::from_raw(id)?, PidfdFlags::empty()).ok()?;
        let mut environment = Vec::new();
        let file = File::open(format!("/proc/{id}/environ")).ok()?;
        file.take(MAX_ENVIRONMENT).read_to_end(&mut environment).ok()?;
        let is_marked = environment.split(|byte| *byte == 0).any(|text| text == variable);
        is_marked.then(|| pidfd_send_signal(process, Signal::KILL).ok())?
    }
}
