//! The environment of a pair: a folder, a home and a temporary folder of its own, a deadline, and a log of standard error.
//! A process that is left over has the path of the folder in its environment.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use agentwire_test_support::process::Program;
use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use super::peers::Peers;

/// How long a process may outlive its pair. Some peers wait for seconds before they exit after their host.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Parts of the names of variables with logins and settings of agents, which the programs do not get.
const PERSONAL: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PROXY",
    "XDG_",
    "ANTHROPIC",
    "AUGMENT",
    "CLAUDE",
    "CLINE",
    "CODEX",
    "COPILOT",
    "DASHSCOPE",
    "GEMINI",
    "GITHUB",
    "GOOGLE",
    "OPENAI",
    "OPENCODE",
    "PI_",
    "QWEN",
];

/// The environment of one pair.
pub(crate) struct Scratch<'a> {
    peers: &'a Peers,
    folder: tempfile::TempDir,
    deadline: Instant,
    log: RefCell<String>,
}

/// The line at which a program is interrupted, and how.
struct Interrupt<'a> {
    text: &'a str,
    signal: fn(Pid, Signal) -> rustix::io::Result<()>,
}

/// The exit code and the outputs of a program.
pub(super) struct Outcome {
    /// The exit code; none when a signal ended the program.
    pub(super) code: Option<i32>,
    /// Standard output.
    pub(super) lines: Vec<String>,
    /// Standard error.
    pub(super) errors: String,
}

impl<'a> Scratch<'a> {
    /// A new environment for a pair that must end within `limit`.
    pub(crate) fn new(peers: &'a Peers, limit: Duration) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("agentwire-interop-").tempdir()?;
        for name in ["project", "home", "tmp"] {
            fs::create_dir(folder.path().join(name))?;
        }
        Ok(Self { peers, folder, deadline: Instant::now() + limit, log: RefCell::default() })
    }

    /// Both sides of the pair.
    pub(crate) fn peers(&self) -> &Peers {
        self.peers
    }

    /// The working directory of every program, and of its session.
    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The home of every program.
    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A file in the project.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.project().join(name)
    }

    /// Fails unless the file has this content.
    pub(super) fn expect_file(&self, name: &str, content: &str) -> Result<()> {
        let found = fs::read_to_string(self.file(name)).with_context(|| format!("{name} was not written"))?;
        ensure!(found.trim_end() == content, "{name} holds {found:?} instead of {content:?}");
        Ok(())
    }

    /// Runs a program to its end.
    pub(super) fn run(&self, command: &[String]) -> Result<Outcome> {
        self.run_until(command, None)
    }

    /// Runs a program, and interrupts its process group once it prints a line with `text`, as Ctrl-C does in a terminal.
    pub(super) fn interrupt_group_at(&self, text: &str, command: &[String]) -> Result<Outcome> {
        self.run_until(command, Some(Interrupt { text, signal: kill_process_group }))
    }

    /// Runs a program, and interrupts it alone once it prints a line with `text`.
    pub(super) fn interrupt_at(&self, text: &str, command: &[String]) -> Result<Outcome> {
        self.run_until(command, Some(Interrupt { text, signal: kill_process }))
    }

    /// A program in this environment, as the leader of a process group.
    pub(crate) fn command(&self, words: &[String]) -> Result<Command> {
        let [program, arguments @ ..] = words else { bail!("an empty command") };
        let folder = self.folder.path();
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.project()).process_group(0).stdin(Stdio::null());
        // The outcome must not depend on the keys and settings of the user who runs this.
        for (name, _) in std::env::vars_os() {
            let name_in_capitals = name.display().to_string().to_uppercase();
            if PERSONAL.iter().any(|word| name_in_capitals.contains(word)) {
                command.env_remove(name);
            }
        }
        command.env("HOME", folder.join("home")).env("TMPDIR", folder.join("tmp"));
        command.env("NO_COLOR", "1").env("PYTHONDONTWRITEBYTECODE", "1");
        Ok(command)
    }

    /// Adds the output of a program to the log.
    pub(super) fn note(&self, command: &[String], output: &str) {
        let _ = writeln!(self.log.borrow_mut(), "$ {}\n{output}", super::peers::line(command));
    }

    /// Fails unless a program that has ended printed this line on standard error.
    pub(super) fn expect_logged(&self, text: &str) -> Result<()> {
        ensure!(self.log.borrow().lines().any(|line| line == text), "no program printed {text:?}");
        Ok(())
    }

    /// Fails if a program that has ended printed this text, which the error does not show.
    pub(super) fn expect_unseen(&self, secret: &str) -> Result<()> {
        ensure!(!self.log.borrow().contains(secret), "a program printed a secret");
        Ok(())
    }

    /// The outputs and exit codes of the programs.
    pub(super) fn into_log(self) -> String {
        self.log.into_inner()
    }

    /// How many bytes the log has.
    pub(super) fn log_length(&self) -> usize {
        self.log.borrow().len()
    }

    /// The log behind the first `length` bytes.
    pub(super) fn log_from(&self, length: usize) -> String {
        self.log.borrow().get(length..).unwrap_or_default().to_owned()
    }

    /// Waits for all processes of this pair to exit. Kills those that do not, and fails.
    pub(crate) fn expect_no_processes(&self) -> Result<()> {
        let until = Instant::now() + EXIT_TIMEOUT;
        let mut left = self.left();
        while !left.is_empty() && Instant::now() < until {
            thread::sleep(Duration::from_millis(50));
            left = self.left();
        }
        for (pid, _) in &left {
            let _ = kill_process(*pid, Signal::KILL);
        }
        let names: Vec<_> = left.into_iter().map(|(_, name)| name).collect();
        ensure!(names.is_empty(), "left running: {}", names.join("; "));
        Ok(())
    }

    fn run_until(&self, command: &[String], interrupt: Option<Interrupt<'_>>) -> Result<Outcome> {
        let errors = self.folder.path().join("stderr");
        let outcome = self.finish(self.command(command)?.stderr(File::create(&errors)?), interrupt);
        let printed = fs::read(&errors).unwrap_or_default();
        let printed = String::from_utf8_lossy(&printed).trim_end().to_owned();
        self.note(command, &printed);
        let outcome = Outcome { errors: printed, ..outcome? };
        let _ = writeln!(self.log.borrow_mut(), "{}\n=> {:?}", outcome.lines.join("\n"), outcome.code);
        Ok(outcome)
    }

    /// Starts a program and waits for its end. Past the deadline it is killed.
    fn finish(&self, command: &mut Command, interrupt: Option<Interrupt<'_>>) -> Result<Outcome> {
        let mut program = Program::start_reading(command.stdout(Stdio::piped()))?;
        let due = match &interrupt {
            Some(Interrupt { text, signal }) => {
                let due = program.line(text, self.deadline).is_some();
                if due {
                    signal(Pid::from_child(&program.child), Signal::INT)?;
                }
                due
            }
            None => true,
        };
        let printed = || program.lines().join("\n");
        ensure!(program.has_closed_outputs(self.deadline), "out of time; printed so far:\n{}", printed());
        let status = program.exit(self.deadline)?;
        let status = status.context("out of time: it closed its output, but did not exit")?;
        ensure!(due, "ended before it was interrupted:\n{}", program.lines().join("\n"));
        Ok(Outcome { code: status.code(), lines: program.lines(), errors: String::new() })
    }

    /// The processes that have this folder in their environment, with their command lines. Without `/proc` none are
    /// found.
    fn left(&self) -> Vec<(Pid, String)> {
        let folder = self.folder.path().as_os_str().as_encoded_bytes();
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        processes
            .filter_map(|entry| {
                let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
                let environment = fs::read(entry.path().join("environ")).ok()?;
                environment.windows(folder.len()).any(|window| window == folder).then_some(())?;
                let words = fs::read(entry.path().join("cmdline")).ok()?;
                Some((pid, String::from_utf8_lossy(&words).replace('\0', " ")))
            })
            .collect()
    }
}

impl Outcome {
    /// The lines of standard output, each of which must be a JSON value.
    pub(super) fn json(&self) -> Result<Vec<Value>> {
        let parse =
            |line: &String| serde_json::from_str(line).with_context(|| format!("not a line of JSON: {line}"));
        self.lines.iter().map(parse).collect()
    }

    /// Fails unless the program ended with this exit code.
    pub(super) fn expect_code(&self, code: i32) -> Result<()> {
        ensure!(self.code == Some(code), "exit code {:?} instead of {code}", self.code);
        Ok(())
    }

    /// Fails unless a line of standard output contains this.
    pub(super) fn expect(&self, text: &str) -> Result<()> {
        ensure!(self.lines.iter().any(|line| line.contains(text)), "no line contains {text:?}");
        Ok(())
    }
}
