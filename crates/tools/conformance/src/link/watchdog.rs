//! The watchdog ends the programs under test when the suite itself is killed. It is a process that reads which process groups run,
//! and kills them at the end of its input.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::subject::CommandLine;

/// The address with which a stand-in is the watchdog.
pub(crate) const ADDRESS: &str = "watchdog";

/// A running watchdog. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Watchdog(Mutex<Child>);

impl Watchdog {
    /// Starts the stand-in as a watchdog. `None` if that fails: a run is possible without one.
    pub(super) fn start(stand_in: &CommandLine) -> Option<Self> {
        let mut command = Command::new(&stand_in.program);
        command.args(&stand_in.arguments).args([ADDRESS, "-"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // A signal from the terminal reaches the suite alone.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().ok().map(|child| Self(Mutex::new(child)))
    }

    /// Watches a process group.
    pub(super) fn add(&self, group: i32) {
        self.write(&format!("+{group}\n"));
    }

    /// Forgets a process group that has ended.
    pub(super) fn remove(&self, group: i32) {
        self.write(&format!("-{group}\n"));
    }

    fn write(&self, line: &str) {
        let mut child = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stdin) = &mut child.stdin {
            // A watchdog that has ended watches nothing.
            let _written = stdin.write_all(line.as_bytes());
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let child = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop(child.stdin.take());
        let _ended = child.wait();
    }
}

/// Reads lines `+GROUP` and `-GROUP` up to the end of standard input, and then kills the groups that are left.
pub(crate) fn watch() -> io::Result<()> {
    let mut groups = BTreeSet::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        match (line.get(..1), line.get(1..).and_then(|group| group.parse::<i32>().ok())) {
            (Some("+"), Some(group)) => drop(groups.insert(group)),
            (Some("-"), Some(group)) => drop(groups.remove(&group)),
            _ => return Err(io::Error::other("a line that names no process group")),
        }
    }
    #[cfg(unix)]
    for group in groups.into_iter().filter(|group| *group > 1).filter_map(rustix::process::Pid::from_raw) {
        // It may have ended.
        let _killed = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    Ok(())
}
