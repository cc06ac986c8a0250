//! A program under measurement: its pipes, memory and processor time, and a watchdog that kills it when it hangs.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::PathBuf;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use agentwire_test_support::process::Program;
use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::lines::Lines;

/// How long one measurement may take before its program is killed.
const TIMEOUT: Duration = Duration::from_secs(120);

/// How long a program may take to exit after the end of its input.
const EXIT_TIMEOUT: Duration = Duration::from_secs(3);

/// A program and its environment.
#[derive(Clone)]
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) environment: Vec<(&'static str, String)>,
}

impl Launch {
    pub(crate) fn new(program: PathBuf) -> Self {
        Self { program, environment: Vec::new() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.environment.push((name, value.to_string()));
        self
    }
}

/// A running program with pipes for its input and output. Dropping it kills the program.
pub(crate) struct Process {
    pub(crate) input: ChildStdin,
    pub(crate) lines: Lines<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
    log: File,
    // Declared before the watchdog, which must not signal a process id that was given to another process.
    program: Program,
    watchdog: Watchdog,
}

impl Process {
    /// Starts a program that answers on its standard output. Its standard error is kept for error messages.
    pub(crate) fn start(launch: &Launch, arguments: &[String]) -> Result<Self> {
        let log = tempfile::tempfile()?;
        let stderr = Stdio::from(log.try_clone()?);
        Self::spawn(launch, arguments, log, stderr)
    }

    /// Starts a program whose standard error is part of what is measured.
    pub(crate) fn start_with_stderr(launch: &Launch, arguments: &[String]) -> Result<Self> {
        Self::spawn(launch, arguments, tempfile::tempfile()?, Stdio::piped())
    }

    fn spawn(launch: &Launch, arguments: &[String], log: File, stderr: Stdio) -> Result<Self> {
        let mut command = Command::new(&launch.program);
        command.args(arguments).envs(launch.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let mut program = Program::start(&mut command)?;
        let input = program.child.stdin.take().context("stdin is a pipe")?;
        let output = program.child.stdout.take().context("stdout is a pipe")?;
        let stderr = program.child.stderr.take();
        let watchdog = Watchdog::set(&program, TIMEOUT);
        Ok(Self { input, lines: Lines::new(output), stderr, log, program, watchdog })
    }

    /// Replaces the timeout, counted from now on.
    pub(crate) fn set_timeout(&mut self, timeout: Duration) {
        self.watchdog = Watchdog::set(&self.program, timeout);
    }

    /// Whether the program was killed by the timeout.
    pub(crate) fn has_timed_out(&self) -> bool {
        self.watchdog.fired.load(Ordering::SeqCst)
    }

    /// The most memory that the program has held so far, in bytes.
    pub(crate) fn peak_memory(&self) -> Result<f64> {
        self.status("VmHWM:")
    }

    /// The memory that the program holds, in bytes.
    pub(crate) fn memory(&self) -> Result<f64> {
        self.status("VmRSS:")
    }

    fn status(&self, name: &str) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.program.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)).context("not in its status")?;
        let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kibibytes * 1024.0)
    }

    /// The processor time that all threads of the program have used so far, user and system.
    pub(crate) fn processor_time(&self) -> Result<Duration> {
        processor_time(&format!("/proc/{}/stat", self.program.child.id()), 2)
    }

    /// Has a first conversation with the program. Its failure ends the program.
    pub(crate) fn prepare<T>(mut self, open: impl FnOnce(&mut Self) -> Result<T>) -> Result<(Self, T)> {
        match open(&mut self) {
            Ok(value) => Ok((self, value)),
            Err(error) => Err(self.explain(error)),
        }
    }

    /// Ends the program: after a measurement by the end of its input, after an error by a kill. The error gets the last
    /// lines of the program's standard error.
    pub(crate) fn finish<T>(self, measured: Result<T>) -> Result<T> {
        match measured {
            Ok(measured) => self.wait().map(|()| measured),
            Err(error) => Err(self.explain(error)),
        }
    }

    /// Ends the program's input and waits for its exit, which counts its processor time as that of our children.
    fn wait(self) -> Result<()> {
        let Self { input, lines, mut program, watchdog, .. } = self;
        drop((watchdog, input));
        let _watchdog = Watchdog::set(&program, EXIT_TIMEOUT);
        drop(lines);
        program.child.wait()?;
        Ok(())
    }

    fn explain(mut self, error: anyhow::Error) -> anyhow::Error {
        let late = if self.has_timed_out() { " (killed: no answer in time)" } else { "" };
        self.program.kill();
        let mut printed = String::new();
        if self.log.rewind().is_ok() {
            let _ = self.log.read_to_string(&mut printed);
        }
        if let Some(mut stderr) = self.stderr.take() {
            let _ = stderr.read_to_string(&mut printed);
        }
        let lines: Vec<&str> = printed.lines().collect();
        let tail = &lines[lines.len().saturating_sub(10)..];
        anyhow!("{error:#}{late}; its standard error ends with: {:?}", tail.join("\n"))
    }
}

/// Kills a program that takes too long, so that blocking reads and writes fail.
pub(crate) struct Watchdog {
    fired: Arc<AtomicBool>,
    cancel: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    pub(crate) fn set(program: &Program, timeout: Duration) -> Self {
        let fired = Arc::new(AtomicBool::new(false));
        let (cancel, cancelled) = mpsc::channel::<()>();
        let pid = Pid::from_child(&program.child);
        let flag = fired.clone();
        let thread = thread::spawn(move || {
            if cancelled.recv_timeout(timeout) == Err(RecvTimeoutError::Timeout) {
                flag.store(true, Ordering::SeqCst);
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        Self { fired, cancel: Some(cancel), thread: Some(thread) }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.cancel.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Runs `measure` on a thread of its own that is pinned to one core, with the programs that it starts.
pub(crate) fn on_one_core<T: Send>(measure: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    on_two_cores(|cores| {
        sched_setaffinity(None, &cores.subject)?;
        measure()
    })
}

/// Our core and the subject's; they are the same where there is only one.
pub(crate) struct Cores {
    ours: CpuSet,
    subject: CpuSet,
}

impl Cores {
    /// Starts a program on the subject's core.
    pub(crate) fn start(&self, launch: &Launch, arguments: &[String]) -> Result<Process> {
        sched_setaffinity(None, &self.subject)?;
        let started = Process::start(launch, arguments);
        sched_setaffinity(None, &self.ours)?;
        started
    }
}

/// Runs `measure` on a thread of its own that is pinned to one core, and gives it another core for the subject.
pub(crate) fn on_two_cores<T: Send>(measure: impl FnOnce(&Cores) -> Result<T> + Send) -> Result<T> {
    thread::scope(|scope| {
        let pinned = scope.spawn(|| {
            let allowed = sched_getaffinity(None)?;
            let mut allowed = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core));
            let first = allowed.next().context("no core to run on")?;
            let cores =
                Cores { ours: one_core(first), subject: one_core(allowed.next_back().unwrap_or(first)) };
            sched_setaffinity(None, &cores.ours)?;
            measure(&cores)
        });
        pinned.join().unwrap_or_else(|_| bail!("the measuring thread panicked"))
    })
}

fn one_core(core: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(core);
    set
}

/// Processor time used by the machine and by us.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    machine: Duration,
    ours: Duration,
}

impl Load {
    /// The processor time used so far by everything, and by us with the children we have waited for.
    pub(crate) fn now() -> Result<Self> {
        let stat = std::fs::read_to_string("/proc/stat")?;
        let line = stat.lines().next().context("/proc/stat is empty")?;
        let fields: Vec<u64> =
            line.split_whitespace().skip(1).filter_map(|field| field.parse().ok()).collect();
        // user, nice, system, idle, iowait, irq, softirq: all but idle and iowait is work.
        let busy =
            fields.iter().take(7).sum::<u64>() - fields.get(3).unwrap_or(&0) - fields.get(4).unwrap_or(&0);
        Ok(Self { machine: ticks(busy), ours: processor_time("/proc/self/stat", 4)? })
    }

    /// The share of one core that other processes used during `wall`, since `before`.
    pub(crate) fn others_since(self, before: Self, wall: Duration) -> f64 {
        let machine = self.machine.saturating_sub(before.machine);
        let ours = self.ours.saturating_sub(before.ours);
        machine.saturating_sub(ours).as_secs_f64() / wall.as_secs_f64()
    }
}

/// Sums `count` fields from `utime` on: two for a process alone, four with its children that have been waited for.
pub(crate) fn processor_time(path: &str, count: usize) -> Result<Duration> {
    let stat = std::fs::read_to_string(path)?;
    // The second field is the program's name in parentheses and may hold anything, spaces included.
    let (_, after_name) = stat.rsplit_once(')').context("no name in stat")?;
    let fields = after_name.split_whitespace().skip(11).take(count);
    Ok(ticks(fields.map(|field| field.parse::<u64>()).sum::<Result<u64, _>>()?))
}

fn ticks(count: u64) -> Duration {
    Duration::from_secs_f64(count as f64 / rustix::param::clock_ticks_per_second() as f64)
}
