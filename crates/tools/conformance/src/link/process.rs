//! A program that is spoken to over its standard input and output.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;

use super::processes::{Place, Processes};
use super::received::{Received, deliver};
use crate::fault::{Faults, Incoming};
use crate::setting::Setting;
use crate::subject::CommandLine;
use crate::trace::{Part, Sender, Trace};
use crate::verdict::{Outcome, Stop};

/// The most bytes of a line that the suite reads.
pub(crate) const MAX_LINE: u64 = 16 << 20;
/// The most bytes of a program's standard error that are kept.
const MAX_STDERR_LINE: u64 = 16 << 10;
/// The most bytes of a command's output that are kept.
const MAX_OUTPUT: u64 = 4 << 20;
/// How long a write to a program may take that is spoken to by other means.
const WRITE_TIME: Duration = Duration::from_secs(20);
/// How long what a command has printed is read after its end.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// A running program. Dropping it kills it and what it started, and so does its own end once it was waited for.
#[derive(Debug)]
pub(crate) struct Process {
    /// `None` once it is dropped.
    child: Option<Child>,
    stdin: Option<ChildStdin>,
    group: Group,
    /// Whether the suite has ended the conversation.
    is_left: Arc<AtomicBool>,
    place: Option<Place>,
    /// How long a write may take.
    write_time: Duration,
}

/// The process group that a program leads. `ProcessGroup` of `transport-stdio` ends groups for the runtimes. This crate judges those
/// and shares none of their code.
#[derive(Debug)]
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Process {
    /// Starts a program. What it writes arrives at `received`.
    pub(crate) async fn start(
        command: &CommandLine,
        setting: &Setting,
        received: mpsc::Sender<Received>,
    ) -> Outcome<Self> {
        let Setting { trace, faults, processes, .. } = setting;
        let (mut process, Outputs { stdout, stderr }) = Self::spawn(command, processes).await?;
        process.write_time = setting.wait;
        processes.count();
        let (trace, faults, processes) = (trace.clone(), faults.clone(), processes.clone());
        tokio::spawn(read_text(stderr, trace.clone(), None));
        let (is_left, begun) = (Arc::clone(&process.is_left), Instant::now());
        tokio::spawn(async move {
            let mut is_known = false;
            let see = |_: &[u8]| processes.learn_start(begun.elapsed(), &mut is_known);
            if read_up_to_end(stdout, (&trace, &faults), &received, see).await {
                end_lines((&trace, &faults), &received).await;
            }
            if !is_left.load(Ordering::Relaxed) {
                processes.count_end(&trace).await;
            }
        });
        Ok(process)
    }

    /// Starts a program that is spoken to by other means; returns the lines of its standard output and error as well.
    pub(crate) async fn start_aside(
        command: &CommandLine,
        (trace, processes): (&Trace, &Processes),
    ) -> Outcome<(Self, mpsc::Receiver<String>)> {
        let (process, Outputs { stdout, stderr }) = Self::spawn(command, processes).await?;
        let (lines, received) = mpsc::channel(256);
        tokio::spawn(read_text(stdout, trace.clone(), Some(lines.clone())));
        tokio::spawn(read_text(stderr, trace.clone(), Some(lines)));
        Ok((process, received))
    }

    async fn spawn(command: &CommandLine, processes: &Processes) -> Outcome<(Self, Outputs)> {
        let permit = processes.permit().await?;
        let failed = |why: &dyn std::fmt::Display| {
            Stop::inconclusive(format!("`{command}` could not be started: {why}"))
        };
        let folder = temporary_folder(command).map_err(|error| failed(&error))?;
        let path = folder.as_ref().map(|folder| folder.path().to_string_lossy().into_owned());
        let filled = path.as_ref().map(|path| command.filled(&[(TEMPORARY, path)]));
        let command = filled.as_ref().unwrap_or(command);
        let mut process = Command::new(&command.program);
        process.args(&command.arguments).envs(command.env.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &command.folder {
            process.current_dir(folder);
        }
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        process.process_group(0);
        let mut child = process.spawn().map_err(|error| failed(&error))?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(failed(&"it has no pipes"));
        };
        let process = Self {
            stdin: child.stdin.take(),
            group: Group::of(&child),
            is_left: Arc::default(),
            write_time: WRITE_TIME,
            place: Some(processes.place(permit, child.id(), folder)),
            child: Some(child),
        };
        Ok((process, Outputs { stdout, stderr }))
    }

    /// Runs a command to its end, without standard input: its exit code, and what it printed on standard output and error.
    pub(crate) async fn output(
        command: &CommandLine,
        processes: &Processes,
    ) -> Outcome<(Option<i32>, String, String)> {
        let (mut process, Outputs { stdout, stderr }) = Self::spawn(command, processes).await?;
        process.close_stdin();
        let (mut printed, mut errors) = (Vec::new(), Vec::new());
        let code = {
            let reading =
                async { tokio::join!(read_all(stdout, &mut printed), read_all(stderr, &mut errors)) };
            let mut reading = std::pin::pin!(reading);
            let mut is_read = false;
            let code = loop {
                tokio::select! {
                    _ = &mut reading, if !is_read => is_read = true,
                    code = process.ended() => break code,
                }
            };
            if !is_read {
                // A program in another group may still have the pipes.
                let _read = tokio::time::timeout(LAST_OUTPUT, reading).await;
            }
            code
        };
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok((code, text(printed), text(errors)))
    }

    /// Writes bytes to its standard input.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Outcome {
        let Some(stdin) = &mut self.stdin else {
            return Err(Stop::inconclusive("its standard input was closed before"));
        };
        let written = async {
            stdin.write_all(bytes).await?;
            stdin.flush().await
        };
        match tokio::time::timeout(self.write_time, written).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Stop::failed(
                "the program reads its standard input",
                format!("writing to it failed: {error}"),
            )),
            Err(_) => {
                let seen = format!("it read nothing for {} ms", self.write_time.as_millis());
                Err(Stop::failed("the program reads its standard input", seen))
            }
        }
    }

    /// Closes its standard input.
    pub(crate) fn close_stdin(&mut self) {
        self.is_left.store(true, Ordering::Relaxed);
        self.stdin = None;
    }

    /// Waits for its end: the exit code, none if a signal ended it.
    pub(crate) async fn wait(&mut self, within: Duration) -> Option<Option<i32>> {
        tokio::time::timeout(within, self.ended()).await.ok()
    }

    async fn ended(&mut self) -> Option<i32> {
        let status = self.child.as_mut()?.wait().await;
        // Its id is the group's as long as the group has a process, so nothing else may come between.
        self.group.kill();
        status.ok().and_then(|status| status.code())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.is_left.store(true, Ordering::Relaxed);
        self.group.kill();
        let (Some(mut child), Some(mut place)) = (self.child.take(), self.place.take()) else { return };
        place.leave();
        // Where there are no process groups, nothing has killed it. It may have ended.
        let _killed = child.start_kill();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            // Its place is free when it has ended.
            runtime.spawn(async move {
                let _ended = child.wait().await;
                drop(place);
            });
        }
    }
}

/// The placeholder for a folder that each start of the program has for itself.
const TEMPORARY: &str = "tmp";

/// A new folder, if the command names one. It is removed when the program has ended.
fn temporary_folder(command: &CommandLine) -> std::io::Result<Option<TempDir>> {
    let named = |word: &String| word.contains("{tmp}");
    let is_named = command.arguments.iter().any(named);
    if is_named { tempfile::Builder::new().prefix("agentwire-check-").tempdir().map(Some) } else { Ok(None) }
}

/// The outputs of a program.
struct Outputs {
    stdout: ChildStdout,
    stderr: ChildStderr,
}

#[cfg(unix)]
impl Group {
    fn of(child: &Child) -> Self {
        Self { leader: child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())) }
    }

    /// Kills what is left of it, once.
    fn kill(&mut self) {
        if let Some(leader) = self.leader.take() {
            let _ended = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(not(unix))]
impl Group {
    fn of(_child: &Child) -> Self {
        Self {}
    }

    fn kill(&mut self) {}
}

/// Reads all, and keeps the first [`MAX_OUTPUT`] bytes.
async fn read_all(mut output: impl AsyncRead + Unpin, kept: &mut Vec<u8>) {
    // What was read before an error is all there is.
    let _read = (&mut output).take(MAX_OUTPUT).read_to_end(kept).await;
    // The rest is read and dropped, so that the program is not blocked.
    let _rest = tokio::io::copy(&mut output, &mut tokio::io::sink()).await;
}

/// Passes on the end of lines.
pub(crate) async fn end_lines(setting: (&Trace, &Faults), received: &mpsc::Sender<Received>) {
    deliver(Incoming::Closed, "standard output", setting, received).await;
}

/// Reads lines up to the end, and passes each through the fault to the trace and to the check. Shows each line as it arrives. Returns
/// whether the check goes on.
pub(crate) async fn read_up_to_end(
    output: impl AsyncRead + Unpin,
    setting: (&Trace, &Faults),
    received: &mpsc::Sender<Received>,
    mut see: impl FnMut(&[u8]),
) -> bool {
    let mut reader = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let count = (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line).await.unwrap_or(0);
        if count == 0 {
            return true;
        }
        see(&line);
        if !deliver(Incoming::Line(without_end(line)), "standard output", setting, received).await {
            return false;
        }
    }
}

fn without_end(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    line
}

/// Reads text that is not part of the protocol, so that the program is never blocked by it.
async fn read_text(output: impl AsyncRead + Unpin, trace: Trace, lines: Option<mpsc::Sender<String>>) {
    let mut reader = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        match (&mut reader).take(MAX_STDERR_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                trace.add(Sender::Subject, Part::Stderr, &line);
                if let Some(lines) = &lines {
                    // The check may have ended.
                    let _heard = lines.try_send(String::from_utf8_lossy(&line).trim_end().to_owned());
                }
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::requirements::revision::Revision;
    use crate::subject::{SubjectKind, Transport};

    fn shell(script: &str) -> CommandLine {
        CommandLine::new(["sh", "-c", script]).unwrap()
    }

    fn setting() -> Setting {
        Setting::of_test(SubjectKind::McpServer, Revision::Mcp20251125, Transport::Stdio)
    }

    async fn output_of(script: &str) -> (Option<i32>, String, String) {
        Process::output(&shell(script), &Processes::default()).await.unwrap()
    }

    /// Waits until no process has this id.
    async fn gone(id: &str) {
        let id = rustix::process::Pid::from_raw(id.trim().parse().unwrap()).unwrap();
        for _ in 0..500 {
            if rustix::process::test_kill_process(id).is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{id:?} lives on");
    }

    #[tokio::test]
    async fn a_command_that_leaves_a_helper_behind_has_ended() {
        let begun = Instant::now();
        let (code, stdout, stderr) = output_of("sleep 1000 & echo $!; echo no >&2; exit 3").await;
        assert!(begun.elapsed() < Duration::from_secs(60), "the helper has its output, and was waited for");
        assert_eq!((code, stderr.as_str()), (Some(3), "no\n"));
        gone(&stdout).await;
    }

    #[tokio::test]
    async fn processes_that_a_program_started_end_with_it() {
        let (sender, mut received) = mpsc::channel(8);
        let command = shell("sleep 1000 >/dev/null 2>&1 & echo $!; read -r line");
        let mut process = Process::start(&command, &setting(), sender).await.unwrap();
        let Some(Received::Message { message, .. }) = received.recv().await else {
            panic!("it prints an id")
        };
        process.close_stdin();
        assert!(process.wait(Duration::from_secs(60)).await.is_some());
        gone(&message.to_string()).await;
    }
}
