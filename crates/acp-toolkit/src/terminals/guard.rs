use std::io::{PipeWriter, pipe};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// A process in the group of a command that kills the group when this process ends.
///
/// However this process ends, the system closes the pipe that the guard reads, and the guard kills its group. It ignores the
/// signals that ask a command to end.
#[derive(Debug)]
pub(super) struct Guard {
    process: Child,
    /// The writing end of a pipe. Nothing is written to it, and no other process has it.
    #[expect(dead_code, reason = "it is held for the moment when it closes")]
    line: PipeWriter,
}

/// `kill` with the process 0 signals the caller's whole group.
const SCRIPT: &str = "trap '' TERM INT HUP QUIT; read _; kill -KILL 0";

impl Guard {
    /// Puts a guard into the group of `leader`. None when the group is gone or there is no shell.
    pub(super) fn spawn(leader: u32) -> Option<Self> {
        let group = i32::try_from(leader).ok()?;
        let (reader, line) = pipe().ok()?;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT]).env_clear().current_dir("/").process_group(group);
        command.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null());
        Some(Self { process: command.spawn().ok()?, line })
    }

    pub(super) fn into_process(self) -> Child {
        self.process
    }
}
