//! Starts a shell in the child's process group that kills the group when this process ends, even by SIGKILL.

use std::io::{PipeWriter, pipe};
use std::os::unix::process::CommandExt;
use std::process::{self, Command, Stdio};

/// A process in the group of a child that kills the group when this process has ended.
///
/// However this process ends, the system closes its end of the pipe that the guard reads from. The guard ignores the signals
/// that ask a group to end, so it lives until the group is killed.
#[derive(Debug)]
pub(super) struct Guard {
    process: process::Child,
    /// Nothing is ever written to it. It is closed on exec, so no other child of ours keeps it open.
    #[expect(dead_code, reason = "it is held for the moment when it closes")]
    line: PipeWriter,
}

/// `kill … 0` signals the whole group of the shell that runs it.
const SCRIPT: &str = "trap '' TERM INT HUP QUIT; read _; kill -KILL 0";

impl Guard {
    /// Puts a guard into the group of `leader`, unless the group is gone or there is no shell.
    pub(super) fn spawn(leader: u32) -> Option<Self> {
        let group = i32::try_from(leader).ok()?;
        let (reader, line) = pipe().ok()?;
        let process = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .env_clear()
            .current_dir("/")
            .stdin(reader)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(group)
            .spawn()
            .ok()?;
        Some(Self { process, line })
    }

    pub(super) fn into_process(self) -> process::Child {
        self.process
    }
}
