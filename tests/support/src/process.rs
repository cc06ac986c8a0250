//! Starts programs, reads what they print and ends them.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio, exit};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

/// How often the end of a program is looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Runs a program to its end, on the streams of this process.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {}", name(command)))?;
    ensure!(status.success(), "{} ended with {status}", line(command));
    Ok(())
}

/// Runs a program in the place of this one: on its streams, and with its exit code when that is not 0.
pub fn run_instead(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {}", name(command)))?;
    if !status.success() {
        exit(status.code().unwrap_or(1));
    }
    Ok(())
}

/// Runs a program to its end and returns its standard output. An error includes its standard error.
pub fn output(command: &mut Command) -> Result<String> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {}", name(command)))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{} ended with {}:\n{errors}", line(command), output.status);
    Ok(String::from_utf8(output.stdout)?)
}

fn name(command: &Command) -> String {
    command.get_program().display().to_string()
}

fn line(command: &Command) -> String {
    let arguments = command.get_args().map(|argument| format!(" {}", argument.display()));
    name(command) + &arguments.collect::<String>()
}

/// A running program. Dropping it kills the program and the process group that it leads, if it leads one.
#[derive(Debug)]
#[non_exhaustive]
pub struct Program {
    /// The process.
    pub child: Child,
    printed: Arc<Printed>,
}

/// The lines that a program has printed.
#[derive(Debug, Default)]
struct Printed {
    state: Mutex<Lines>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Lines {
    all: Vec<String>,
    /// Outputs that have not ended.
    open: usize,
}

impl Program {
    /// Starts a program.
    pub fn start(command: &mut Command) -> Result<Self> {
        let child = command.spawn().with_context(|| format!("cannot run {}", name(command)))?;
        Ok(Self { child, printed: Arc::default() })
    }

    /// Starts a program and reads the lines of those outputs that the command made pipes.
    pub fn start_reading(command: &mut Command) -> Result<Self> {
        let mut this = Self::start(command)?;
        let outputs: [Option<Box<dyn Read + Send>>; 2] = [
            this.child.stdout.take().map(|output| Box::new(output) as _),
            this.child.stderr.take().map(|output| Box::new(output) as _),
        ];
        for output in outputs.into_iter().flatten() {
            this.printed.state().open += 1;
            let printed = this.printed.clone();
            thread::spawn(move || printed.read(output));
        }
        Ok(this)
    }

    /// Waits for a line with this text, printed before or from now on. None: the time is up, or the outputs have ended.
    pub fn line(&self, text: &str, until: Instant) -> Option<String> {
        self.printed.wait(until, |lines| lines.all.iter().find(|line| line.contains(text)).cloned())
    }

    /// Waits for the end of the outputs; false when the time is up.
    pub fn has_closed_outputs(&self, until: Instant) -> bool {
        self.printed.wait(until, |lines| (lines.open == 0).then_some(())).is_some()
    }

    /// The lines printed so far.
    pub fn lines(&self) -> Vec<String> {
        self.printed.state().all.clone()
    }

    /// Waits for the program to exit; none when the time is up.
    pub fn exit(&mut self, until: Instant) -> Result<Option<ExitStatus>> {
        loop {
            let status = self.child.try_wait()?;
            if status.is_some() || Instant::now() > until {
                return Ok(status);
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Kills the program and waits for it.
    pub fn kill(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            #[cfg(unix)]
            let _ = rustix::process::kill_process_group(
                rustix::process::Pid::from_child(&self.child),
                rustix::process::Signal::KILL,
            );
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Printed {
    fn state(&self) -> MutexGuard<'_, Lines> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, output: Box<dyn Read + Send>) {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            self.state().all.push(line);
            self.changed.notify_all();
        }
        self.state().open -= 1;
        self.changed.notify_all();
    }

    /// Waits until `find` gives a value. None: the time is up, or the outputs have ended without one.
    fn wait<T>(&self, until: Instant, find: impl Fn(&Lines) -> Option<T>) -> Option<T> {
        let mut lines = self.state();
        loop {
            let found = find(&lines);
            let left = until.saturating_duration_since(Instant::now());
            if found.is_some() || lines.open == 0 || left.is_zero() {
                return found;
            }
            lines = self.changed.wait_timeout(lines, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped());
        command
    }

    #[test]
    fn lines_are_waited_for_and_kept() {
        let until = Instant::now() + Duration::from_secs(10);
        let mut program = Program::start_reading(&mut shell("echo one; echo two; exit 3")).unwrap();
        assert_eq!(program.line("w", until).as_deref(), Some("two"));
        assert_eq!(program.line("three", until), None, "the output has ended");
        assert!(program.has_closed_outputs(until));
        assert_eq!(program.exit(until).unwrap().and_then(|status| status.code()), Some(3));
        assert_eq!(program.lines(), ["one", "two"]);
    }

    #[test]
    fn a_program_that_goes_on_is_not_waited_for() {
        let mut program = Program::start_reading(&mut shell("exec sleep 60")).unwrap();
        assert!(!program.has_closed_outputs(Instant::now()));
        assert_eq!(program.exit(Instant::now()).unwrap(), None);
        program.kill();
        assert!(program.exit(Instant::now()).unwrap().is_some());
    }

    #[test]
    fn errors_contain_the_command_and_its_output() {
        let error = output(&mut shell("echo why >&2; exit 1")).unwrap_err().to_string();
        assert!(error.starts_with("sh -c") && error.ends_with("why\n"), "{error}");
    }
}
