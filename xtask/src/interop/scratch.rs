//! The place in which a pair runs: a folder, a home and a temporary folder of its own, a deadline, and a record of what
//! was said on standard error. Whoever still lives at the end is found by the name of this place in its environment.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use super::peers::Peers;

/// How long a peer may take to leave after its turn. Some wait for seconds until they believe that their host is gone.
const FAREWELL: Duration = Duration::from_secs(10);

/// What is in the names of variables that belong to whoever runs this: logins, and how agents are set up.
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

/// A place for one pair.
pub(super) struct Scratch<'a> {
    peers: &'a Peers,
    folder: tempfile::TempDir,
    deadline: Instant,
    log: RefCell<String>,
}

/// When a program is interrupted, and how.
struct Interrupt<'a> {
    text: &'a str,
    signal: fn(Pid, Signal) -> rustix::io::Result<()>,
}

/// How a program ended, and what it printed.
pub(super) struct Outcome {
    /// The exit code; none when a signal ended the program.
    pub(super) code: Option<i32>,
    /// Standard output.
    pub(super) lines: Vec<String>,
}

impl<'a> Scratch<'a> {
    /// A new, empty place, whose pair must be done within `limit`.
    pub(super) fn new(peers: &'a Peers, limit: Duration) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("agentwire-interop-").tempdir()?;
        for name in ["project", "home", "tmp"] {
            fs::create_dir(folder.path().join(name))?;
        }
        Ok(Self { peers, folder, deadline: Instant::now() + limit, log: RefCell::default() })
    }

    /// Both sides of the pair.
    pub(super) fn peers(&self) -> &Peers {
        self.peers
    }

    /// The working directory of every program, and of its session.
    pub(super) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The home of every program.
    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A file in the project.
    pub(super) fn file(&self, name: &str) -> PathBuf {
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

    /// Runs a program, and interrupts it once it printed a line that contains `text`. As with Ctrl-C in a terminal, its
    /// children are interrupted with it, unless it gave them a process group of their own.
    pub(super) fn interrupt_group_at(&self, text: &str, command: &[String]) -> Result<Outcome> {
        self.run_until(command, Some(Interrupt { text, signal: kill_process_group }))
    }

    /// Runs a program, and interrupts it alone once it printed a line that contains `text`.
    pub(super) fn interrupt_at(&self, text: &str, command: &[String]) -> Result<Outcome> {
        self.run_until(command, Some(Interrupt { text, signal: kill_process }))
    }

    /// A program in this place, and alone in its process group.
    pub(super) fn command(&self, words: &[String]) -> Result<Command> {
        let [program, arguments @ ..] = words else { bail!("an empty command") };
        let place = self.folder.path();
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.project()).process_group(0).stdin(Stdio::null());
        // The outcome must not depend on who runs this: neither on keys nor on configuration.
        for (name, _) in std::env::vars_os() {
            let name_in_capitals = name.display().to_string().to_uppercase();
            if PERSONAL.iter().any(|word| name_in_capitals.contains(word)) {
                command.env_remove(name);
            }
        }
        command.env("HOME", place.join("home")).env("TMPDIR", place.join("tmp"));
        command.env("NO_COLOR", "1").env("PYTHONDONTWRITEBYTECODE", "1");
        Ok(command)
    }

    /// Keeps what a program said, for the log.
    pub(super) fn note(&self, command: &[String], said: &str) {
        let _ = writeln!(self.log.borrow_mut(), "$ {}\n{said}", super::peers::line(command));
    }

    /// Fails unless a program that has ended said this on standard error.
    pub(super) fn expect_said(&self, text: &str) -> Result<()> {
        ensure!(self.log.borrow().lines().any(|line| line == text), "nobody said {text:?}");
        Ok(())
    }

    /// What the programs said, and how each of them ended.
    pub(super) fn into_log(self) -> String {
        self.log.into_inner()
    }

    /// Fails, and ends them, if processes of this pair still live.
    pub(super) fn nobody_left(&self) -> Result<()> {
        let until = Instant::now() + FAREWELL;
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
        let (child, lines) = self.spawn(command, &errors)?;
        let outcome = self.watch(child, &lines, interrupt);
        let said = fs::read(&errors).unwrap_or_default();
        self.note(command, String::from_utf8_lossy(&said).trim_end());
        let outcome = outcome?;
        let _ = writeln!(self.log.borrow_mut(), "{}\n=> {:?}", outcome.lines.join("\n"), outcome.code);
        Ok(outcome)
    }

    fn spawn(&self, words: &[String], errors: &Path) -> Result<(Child, Receiver<String>)> {
        let mut command = self.command(words)?;
        command.stdout(Stdio::piped()).stderr(File::create(errors)?);
        let mut child = command.spawn().with_context(|| format!("cannot run {}", words[0]))?;
        let stdout = child.stdout.take().context("standard output is a pipe")?;
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Ok((child, lines))
    }

    fn watch(
        &self,
        mut child: Child,
        lines: &Receiver<String>,
        mut interrupt: Option<Interrupt<'_>>,
    ) -> Result<Outcome> {
        let group = Pid::from_child(&child);
        let mut seen = Vec::new();
        loop {
            match lines.recv_timeout(self.deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    if let Some(due) = interrupt.take_if(|interrupt| line.contains(interrupt.text)) {
                        (due.signal)(group, Signal::INT)?;
                    }
                    seen.push(line);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let _ = kill_process_group(group, Signal::KILL);
                    let _ = child.wait();
                    bail!("out of time; printed so far:\n{}", seen.join("\n"));
                }
            }
        }
        let status = self.wait(&mut child)?;
        ensure!(interrupt.is_none(), "ended before it was interrupted:\n{}", seen.join("\n"));
        Ok(Outcome { code: status.code(), lines: seen })
    }

    /// Waits for a program that has closed its standard output.
    fn wait(&self, child: &mut Child) -> Result<ExitStatus> {
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if Instant::now() > self.deadline {
                let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
                let _ = child.wait();
                bail!("out of time: it closed its output, but did not end");
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The processes that have this place in their environment, with their command lines. Where there is no `/proc`,
    /// none are found.
    fn left(&self) -> Vec<(Pid, String)> {
        let place = self.folder.path().as_os_str().as_encoded_bytes();
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        processes
            .filter_map(|entry| {
                let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
                let environment = fs::read(entry.path().join("environ")).ok()?;
                environment.windows(place.len()).any(|window| window == place).then_some(())?;
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
