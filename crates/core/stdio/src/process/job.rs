//! Ends a process and all that it starts on Windows, by a job object.

use std::os::windows::io::AsRawHandle as _;
use std::process::Child;

/// A process and all that it starts. The system kills them when the job is dropped, or when this process ends in any way.
#[derive(Debug)]
pub(super) struct Job(win32job::Job);

impl Job {
    /// An empty job. `None` if the system refuses.
    pub(super) fn new() -> Option<Self> {
        let mut limits = win32job::ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        win32job::Job::create_with_limit_info(&limits).ok().map(Self)
    }

    /// Puts a process that was just started into the job. Processes that it starts from then on are in the job too. `None` if
    /// the system refuses, as it does for a process that has ended.
    pub(super) fn holding(self, leader: &Child) -> Option<Self> {
        self.0.assign_process(leader.as_raw_handle() as isize).ok()?;
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::process::{Command, Stdio};
    use std::sync::mpsc;
    use std::time::Duration;

    use super::super::ProcessGroup;

    /// Set for the program that the batch file starts.
    const IS_PROGRAM: &str = "AGENTWIRE_TEST_IS_PROGRAM";

    /// The program, which runs until it is killed; nothing in the process of the tests.
    #[test]
    fn program() {
        while std::env::var_os(IS_PROGRAM).is_some() {
            std::thread::park();
        }
    }

    /// The program of a `.cmd` file is a child of `cmd.exe`. It holds the pipe to the test as long as it lives.
    #[test]
    fn program_of_a_batch_file_ends_with_its_group() {
        let folder = tempfile::tempdir().unwrap();
        let tool = folder.path().join("tool.cmd");
        let program = std::env::current_exe().unwrap();
        let line = format!("@\"{}\" process::job::tests::program --exact --nocapture\r\n", program.display());
        std::fs::write(&tool, line).unwrap();
        let kills: [fn(&mut ProcessGroup); 3] = [ProcessGroup::kill, ProcessGroup::terminate, |group| {
            group.finish();
        }];
        for kill in kills {
            let mut command = Command::new(&tool);
            command.env(IS_PROGRAM, "1").stdin(Stdio::null()).stdout(Stdio::piped());
            let mut group = ProcessGroup::spawn(command).unwrap();
            let mut stdout = BufReader::new(group.leader().stdout.take().unwrap());
            assert!(!stdout.fill_buf().unwrap().is_empty(), "the program has started");
            kill(&mut group);
            let (sender, ended) = mpsc::channel();
            std::thread::spawn(move || sender.send(stdout.read_to_end(&mut Vec::new())));
            ended.recv_timeout(Duration::from_secs(20)).expect("no process holds the pipe").unwrap();
        }
    }
}
