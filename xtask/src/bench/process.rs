//! A program under measurement: its pipes, its memory, its processor time, and a watchdog so that none hangs the run.

use std::fs::File;
use std::io::{Read, Seek};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::subject::Launch;
use super::wire::Lines;

/// How long one measurement may take before its program is killed.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long a program may take to leave once its input has ended.
const FAREWELL: Duration = Duration::from_secs(3);

/// A running program, spoken to over pipes. Dropping it kills the program.
pub(crate) struct Process {
    pub(crate) input: ChildStdin,
    pub(crate) lines: Lines<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
    log: File,
    // Before the watchdog: it must not fire at a process id that has been given to another.
    child: Owned,
    watchdog: Watchdog,
}

/// A child that does not outlive its owner.
struct Owned(Child);

impl Drop for Owned {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Starts a program that answers on its standard output; what it logs is kept for an error's sake.
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
        let mut child = Command::new(&launch.program)
            .args(arguments)
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .with_context(|| format!("cannot start {}", launch.program.display()))?;
        let input = child.stdin.take().context("stdin was asked for")?;
        let output = child.stdout.take().context("stdout was asked for")?;
        let stderr = child.stderr.take();
        let watchdog = Watchdog::set(&child, PATIENCE);
        Ok(Self { input, lines: Lines::new(output), stderr, log, child: Owned(child), watchdog })
    }

    /// Replaces the watchdog's patience from now on.
    pub(crate) fn be_patient_for(&mut self, patience: Duration) {
        self.watchdog = Watchdog::set(&self.child.0, patience);
    }

    /// Whether the program was killed because it did not answer in time.
    pub(crate) fn ran_out_of_time(&self) -> bool {
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
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)).context("not in its status")?;
        let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kibibytes * 1024.0)
    }

    /// The processor time that all threads of the program have used so far, user and system.
    pub(crate) fn processor_time(&self) -> Result<Duration> {
        processor_time(&format!("/proc/{}/stat", self.child.0.id()), 2)
    }

    /// Ends the program's input and waits for it to leave, so that its processor time is accounted to us.
    pub(crate) fn finish(self) -> Result<()> {
        let Self { input, lines, mut child, watchdog, .. } = self;
        drop(watchdog);
        drop(input);
        let watchdog = Watchdog::set(&child.0, FAREWELL);
        drop(lines);
        child.0.wait()?;
        drop(watchdog);
        Ok(())
    }

    /// The error, with what the program said on its standard error.
    pub(crate) fn explain(mut self, error: anyhow::Error) -> anyhow::Error {
        let late = if self.ran_out_of_time() { " (killed: no answer in time)" } else { "" };
        let _ = self.child.0.kill();
        let _ = self.child.0.wait();
        let mut said = String::new();
        if self.log.rewind().is_ok() {
            let _ = self.log.read_to_string(&mut said);
        }
        if let Some(mut stderr) = self.stderr.take() {
            let _ = stderr.read_to_string(&mut said);
        }
        let tail: Vec<&str> = said.lines().rev().take(10).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        anyhow!("{error:#}{late}; its standard error ends with: {:?}", tail.join("\n"))
    }
}

/// Kills a program that takes too long, which ends every blocking read and write of ours with an error.
struct Watchdog {
    fired: Arc<AtomicBool>,
    cancel: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    fn set(child: &Child, patience: Duration) -> Self {
        let fired = Arc::new(AtomicBool::new(false));
        let (cancel, cancelled) = mpsc::channel::<()>();
        let pid = Pid::from_child(child);
        let flag = fired.clone();
        let thread = thread::spawn(move || {
            if cancelled.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
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

/// Runs `measure` on a thread of its own that is pinned, with everything it starts, to one core.
pub(crate) fn on_one_core<T: Send>(measure: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    on_two_cores(|cores| {
        sched_setaffinity(None, &cores.subject)?;
        measure()
    })
}

/// Two cores, or one twice where there is no other: ours, and that of what is measured.
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

/// Runs `measure` on a thread of its own that is pinned to one core, while what is measured gets another.
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

/// How busy the machine was, and how busy we were, since some moment.
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

    /// The share of one core that others used since `before`, in which `wall` passed.
    pub(crate) fn others_since(self, before: Self, wall: Duration) -> f64 {
        let machine = self.machine.saturating_sub(before.machine);
        let ours = self.ours.saturating_sub(before.ours);
        machine.saturating_sub(ours).as_secs_f64() / wall.as_secs_f64()
    }
}

/// Sums `count` fields from `utime` on: two for a process alone, four with its children that have been waited for.
fn processor_time(path: &str, count: usize) -> Result<Duration> {
    let stat = std::fs::read_to_string(path)?;
    // The second field is the program's name in parentheses and may hold anything, spaces included.
    let (_, after_name) = stat.rsplit_once(')').context("no name in stat")?;
    let fields = after_name.split_whitespace().skip(11).take(count);
    Ok(ticks(fields.map(|field| field.parse::<u64>()).sum::<Result<u64, _>>()?))
}

fn ticks(count: u64) -> Duration {
    Duration::from_secs_f64(count as f64 / rustix::param::clock_ticks_per_second() as f64)
}
