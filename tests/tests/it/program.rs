//! A running program: its output, its end, and the processes that are left then.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agentwire_tests::Recording;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::Value;
use tempfile::TempDir;

use crate::binaries::agentwire;
use crate::family::Family;
use crate::terminal::Terminal;
use crate::wire::{self, SentLines};

/// How long to wait for an event before the test fails: far longer than it takes on a machine that is busy.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// How long an end may take that waits for no time-out of ours: the shortest that could be waited for by mistake, a
/// transport's closing, takes 10 s.
pub(crate) const PROMPT: Duration = Duration::from_millis(9900);

/// How often a signal is sent to a program that has to notice more than one. Those that arrive together are one.
const REPEATED: Duration = Duration::from_millis(300);

/// The variable with the path of the file of credentials.
pub(crate) const CREDENTIALS: &str = "AGENTWIRE_CREDENTIALS";

/// The variable with the folder of the configuration of programs.
pub(crate) const SETTINGS: &str = "XDG_CONFIG_HOME";

/// How often to look.
const STEP: Duration = Duration::from_millis(20);

/// An `agentwire` that was started, with pipes or a terminal for its streams.
///
/// Its messages are checked when it ends, and so are the recordings of the processes that it started.
pub(crate) struct Program {
    arguments: Vec<String>,
    child: Child,
    stdin: Option<Box<dyn Write + Send>>,
    pub(crate) stdout: Output,
    pub(crate) stderr: Output,
    at_terminal: bool,
    pub(crate) family: Family,
    sent: SentLines,
    recordings: TempDir,
    started: Instant,
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
    /// The most memory that was seen in use, in MiB.
    pub(crate) peak_memory: u64,
    /// The processor time that it was seen to take, without its children.
    pub(crate) cpu: Duration,
    /// How many messages were checked by the schema.
    pub(crate) checked: usize,
}

impl Program {
    /// Starts `agentwire` with these arguments.
    pub(crate) fn start<A: AsRef<str>>(arguments: &[A]) -> Self {
        Self::start_in(Path::new("/"), arguments)
    }

    /// Starts it in a folder.
    pub(crate) fn start_in<A: AsRef<str>>(folder: &Path, arguments: &[A]) -> Self {
        Self::start_command(command(folder, arguments), arguments)
    }

    /// Starts it with these variables beside those of the test.
    pub(crate) fn start_with<A: AsRef<str>>(variables: &[(&str, &OsStr)], arguments: &[A]) -> Self {
        let mut command = command(Path::new("/"), arguments);
        command.envs(variables.iter().copied());
        Self::start_command(command, arguments)
    }

    /// Starts another program, such as a script around it.
    pub(crate) fn start_other(mut command: Command) -> Self {
        command.process_group(0);
        Self::start_command::<&str>(command, &[])
    }

    fn start_command<A: AsRef<str>>(mut command: Command, arguments: &[A]) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (mut child, family, recordings) = spawn(command);
        let stdin = child.stdin.take().expect("it is a pipe");
        let stdout = Output::listen(child.stdout.take().expect("it is a pipe"));
        let stderr = Output::listen(child.stderr.take().expect("it is a pipe"));
        Self {
            arguments: words(arguments),
            child,
            stdin: Some(Box::new(stdin)),
            stdout,
            stderr,
            at_terminal: false,
            family,
            sent: SentLines::default(),
            recordings,
            started: Instant::now(),
        }
    }

    /// Starts it at a terminal: its output there is in `stdout`, and written text is typed.
    pub(crate) fn start_at<A: AsRef<str>>(terminal: &Terminal, arguments: &[A]) -> Self {
        Self::start_at_with(terminal, &[], arguments)
    }

    /// The same, with these variables beside those of the test.
    pub(crate) fn start_at_with<A: AsRef<str>>(
        terminal: &Terminal,
        variables: &[(&str, &OsStr)],
        arguments: &[A],
    ) -> Self {
        let mut command = command(Path::new("/"), arguments);
        command.envs(variables.iter().copied());
        let [stdin, stdout, stderr] = terminal.streams();
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        let (child, family, recordings) = spawn(command);
        let nothing = fs::File::open("/dev/null").expect("every system has it");
        let (stdout, stderr) = (Output::listen(terminal.screen()), Output::listen(nothing));
        Self {
            arguments: words(arguments),
            child,
            stdin: Some(Box::new(terminal.keyboard())),
            stdout,
            stderr,
            at_terminal: true,
            family,
            sent: SentLines::default(),
            recordings,
            started: Instant::now(),
        }
    }

    /// Takes away the terminal at which it runs.
    pub(crate) fn hang_up(&mut self, terminal: Terminal) {
        self.stdin = None;
        self.stdout.stop();
        drop(terminal);
    }

    /// Runs it with an empty stdin to its end, which must come in time and leave no process behind.
    pub(crate) fn run<A: AsRef<str>>(arguments: &[A], within: Duration) -> Ended {
        let mut program = Self::start(arguments);
        program.close_stdin();
        program.end(within)
    }

    /// Writes to its stdin. False if the pipe has no reader.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> bool {
        self.sent.add(self.stdout.lock().bytes.len(), bytes);
        self.stdin.as_mut().expect("stdin is open").write_all(bytes).is_ok()
    }

    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits until this runs under it, and all processes under it are guarded.
    pub(crate) fn runs(&mut self, words: &str) {
        self.family.find(words);
        self.family.guarded(Pid::from_child(&self.child).as_raw_nonzero().get());
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = Pid::from_child(&self.child);
        kill_process(id, signal).expect("it was not waited for");
    }

    /// From now on it can make no file larger than so many bytes.
    pub(crate) fn limit_files(&self, bytes: u64) {
        let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
        prlimit(Some(Pid::from_child(&self.child)), Resource::Fsize, limit).expect("it was not waited for");
    }

    /// The most memory that it ever had in use, in MiB. None once it has ended.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().expect("the kernel writes numbers");
        Some(kilobytes >> 10)
    }

    /// Sends it a signal, and again, until `done` is true, because it was taken as often as it has to be.
    pub(crate) fn signal_until(&mut self, signal: Signal, mut done: impl FnMut(&mut Self) -> bool) {
        let deadline = Instant::now() + SOON;
        while !done(self) {
            assert!(Instant::now() < deadline, "{signal:?} does nothing: {}", tail(&self.stderr.text()));
            self.signal(signal);
            thread::sleep(REPEATED);
        }
    }

    /// True once it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it is our child").is_some()
    }

    /// True while a signal such as SIGTSTP has stopped it.
    pub(crate) fn is_stopped(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        status.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('T'))
    }

    /// The processor time that it has taken, also when it has ended and was not waited for.
    fn cpu(&self) -> Option<Duration> {
        let status = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // After the name, which may hold anything: state, parent, … and in places 14 and 15 the time in user and kernel
        // mode, in hundredths of a second.
        let (_, fields) = status.rsplit_once(") ")?;
        let ticks =
            fields.split(' ').skip(11).take(2).map(|field| field.parse::<u64>().expect("it is a number"));
        Some(Duration::from_millis(10 * ticks.sum::<u64>()))
    }

    /// Closes our end of its stdout, as a reader does who is gone.
    pub(crate) fn close_stdout(&mut self) {
        self.stdout.stop();
    }

    /// Waits for its end, and then for that of everybody it started.
    pub(crate) fn end(mut self, within: Duration) -> Ended {
        let deadline = Instant::now() + within;
        let (mut peak_memory, mut cpu) = (0, Duration::ZERO);
        let status = loop {
            peak_memory = self.peak_memory().unwrap_or(peak_memory);
            cpu = self.cpu().unwrap_or(cpu);
            // Also to learn of those whom only their group gives away.
            let living = self.family.living();
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                break status;
            }
            if Instant::now() >= deadline {
                let (stdout, stderr) = (self.stdout.text(), self.stderr.text());
                let (stdout, stderr) = (tail(&stdout), tail(&stderr));
                panic!("it does not end in {within:?}\n{living:#?}\nstdout: {stdout}\nstderr: {stderr}");
            }
            thread::sleep(STEP);
        };
        let took = self.started.elapsed();
        self.family.gone(SOON);
        if self.at_terminal {
            // That has no end: it waits for the next program.
            self.stdout.stop();
        }
        let (stdout, stderr) = (self.stdout.to_end(), self.stderr.to_end());
        let checked = wire::check_program(&self.arguments, &self.sent, &stdout)
            + wire::check_recordings(self.recordings.path());
        Ended { status, stdout, stderr, took, peak_memory, cpu, checked }
    }
}

fn words<A: AsRef<str>>(arguments: &[A]) -> Vec<String> {
    arguments.iter().map(|word| word.as_ref().to_owned()).collect()
}

fn command<A: AsRef<str>>(folder: &Path, arguments: &[A]) -> Command {
    let mut command = Command::new(agentwire());
    command.args(arguments.iter().map(AsRef::as_ref)).current_dir(folder).process_group(0);
    command
}

fn spawn(mut command: Command) -> (Child, Family, TempDir) {
    let family = Family::new();
    family.mark(&mut command);
    let recordings = tempfile::tempdir().expect("there is room");
    command.env(Recording::FOLDER, recordings.path());
    // Colours and UTC, whatever the terminal and the time zone of the developer.
    for (name, value) in [("TERM", Some("xterm-256color")), ("NO_COLOR", None), ("TZ", Some("UTC"))] {
        if command.get_envs().all(|(other, _)| other != name) {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    }
    // Not the credentials and the configuration of the person who runs the tests.
    let own = [(CREDENTIALS, "credentials.json"), (SETTINGS, "settings")];
    for (name, file) in own {
        if command.get_envs().all(|(other, _)| other != name) {
            command.env(name, recordings.path().join(file));
        }
    }
    (command.spawn().expect("agentwire starts"), family, recordings)
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}

impl Ended {
    /// The exit code; `None` after a signal.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The lines of stdout, each of which must be a JSON object.
    pub(crate) fn objects(&self) -> Vec<Value> {
        let object = |line: &str| match serde_json::from_str(line) {
            Ok(Value::Object(object)) => Value::Object(object),
            other => panic!("a line of stdout is not an object: {line}: {other:?}"),
        };
        assert!(self.stdout.is_empty() || self.stdout.ends_with('\n'), "the last line has no end: {self}");
        self.stdout.lines().map(object).collect()
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn exits(&self, code: i32) -> &Self {
        assert_eq!(self.code(), Some(code), "{self}");
        self
    }

    /// Asserts that stderr contains these words.
    #[track_caller]
    pub(crate) fn reports(&self, words: &str) -> &Self {
        assert!(self.stderr.contains(words), "stderr does not contain {words:?}: {self}");
        self
    }

    /// Asserts that stdout or stderr contains these words: an answer, or an action of the agent.
    #[track_caller]
    pub(crate) fn shows(&self, words: &str) -> &Self {
        let is_shown = self.stdout.contains(words) || self.stderr.contains(words);
        assert!(is_shown, "no output contains {words:?}: {self}");
        self
    }

    /// Asserts that stdout contains these words.
    #[track_caller]
    pub(crate) fn prints(&self, words: &str) -> &Self {
        assert!(self.stdout.contains(words), "stdout does not contain {words:?}: {self}");
        self
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, stdout, stderr, took, .. } = self;
        let (code, signal) = (status.code(), status.signal());
        let (stdout, stderr) = (tail(stdout), tail(stderr));
        write!(f, "code {code:?}, signal {signal:?}, after {took:?}\nstdout: {stdout}\nstderr: {stderr}")
    }
}

/// The last part of an output, which may be very long.
fn tail(text: &str) -> &str {
    let start = text.char_indices().rev().nth(4000).map_or(0, |(start, _)| start);
    &text[start..]
}

/// The text that was read of a stream so far.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    inner: Arc<(Mutex<OutputInner>, Condvar)>,
    /// The reader stops when this is closed.
    stop: Arc<Mutex<Option<PipeWriter>>>,
}

#[derive(Debug, Default)]
struct OutputInner {
    bytes: Vec<u8>,
    ended: bool,
    paused: bool,
}

impl Output {
    fn listen(mut stream: impl Read + AsFd + Send + 'static) -> Self {
        let (no_more, stop) = pipe().expect("there are pipes");
        let output = Self { inner: Arc::default(), stop: Arc::new(Mutex::new(Some(stop))) };
        let inner = output.inner.clone();
        thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            while is_wanted(&stream, &no_more) {
                let read = stream.read(&mut buffer);
                let mut output = inner.0.lock().unwrap_or_else(PoisonError::into_inner);
                match read {
                    Ok(count) if count > 0 => output.bytes.extend_from_slice(&buffer[..count]),
                    _ => break,
                }
                inner.1.notify_all();
                while output.paused {
                    output = inner.1.wait(output).unwrap_or_else(PoisonError::into_inner);
                }
            }
            drop(stream);
            inner.0.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
            inner.1.notify_all();
        });
        output
    }

    /// Reads no more, until it is resumed.
    pub(crate) fn pause(&self) {
        self.lock().paused = true;
    }

    pub(crate) fn resume(&self) {
        self.lock().paused = false;
        self.inner.1.notify_all();
    }

    /// Reads no more and closes the stream.
    fn stop(&self) {
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn lock(&self) -> MutexGuard<'_, OutputInner> {
        self.inner.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All so far, with U+FFFD for what is not UTF-8.
    pub(crate) fn text(&self) -> String {
        let inner = self.lock();
        String::from_utf8_lossy(&inner.bytes).into_owned()
    }

    /// Waits until `found` finds something in what was read.
    pub(crate) fn until<R>(&self, what: &str, mut found: impl FnMut(&[u8]) -> Option<R>) -> R {
        let deadline = Instant::now() + SOON;
        let mut inner = self.lock();
        loop {
            if let Some(result) = found(&inner.bytes) {
                return result;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if inner.ended || left.is_zero() {
                let ended = inner.ended;
                let text = String::from_utf8_lossy(&inner.bytes).into_owned();
                drop(inner);
                panic!("{what} did not come; ended: {ended}; what came: {text}");
            }
            inner = self.inner.1.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until the stream contains these words.
    pub(crate) fn words(&self, words: &str) {
        let needle = words.as_bytes();
        self.until(words, |bytes| bytes.windows(needle.len()).any(|window| window == needle).then_some(()));
    }

    fn to_end(&self) -> String {
        let deadline = Instant::now() + SOON;
        loop {
            if self.lock().ended {
                return self.text();
            }
            assert!(Instant::now() < deadline, "a process holds the stream open: {}", self.text());
            thread::sleep(STEP);
        }
    }
}

/// Waits until there is something to read. False when the reader is gone.
fn is_wanted(stream: &impl AsFd, no_more: &PipeReader) -> bool {
    let mut watched = [PollFd::new(stream, PollFlags::IN), PollFd::new(no_more, PollFlags::IN)];
    poll(&mut watched, None).expect("descriptors can be watched");
    watched[1].revents().is_empty()
}
