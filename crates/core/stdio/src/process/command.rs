//! Describes a program to start: arguments, environment, stderr handling and limits. Parses command lines with POSIX quoting.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::Printable;
use agentwire_wire_derive::Build;

use crate::process::programs::startable_program;

/// A program to start, with its arguments, environment and limits; [`Child::spawn`](super::Child::spawn) starts it.
///
/// ```
/// use agentwire_transport_stdio::{Command, Stderr};
///
/// let agent = Command::new("my-agent").arg("--stdio").env("MY_AGENT_LOG", "debug").stderr(Stderr::Capture);
/// let server = Command::parse("my-server --root '/home/me/two words'")?;
/// # assert_eq!(server.program(), "my-server");
/// # Ok::<(), agentwire_transport_stdio::ParseCommandError>(())
/// ```
///
/// Never start a program that an untrusted configuration names without asking the user: a command line can do what the user can.
#[derive(Clone, Build)]
pub struct Command {
    program: OsString,
    /// Adds an argument.
    #[build(name = arg, push, into)]
    arguments: Vec<OsString>,
    environment: Vec<(OsString, Option<OsString>)>,
    clear: bool,
    /// Sets the directory in which the process starts (default: that of this process). A relative `program` path may be
    /// looked up from either directory, depending on the system, so use an absolute one.
    #[build(name = current_dir, into)]
    pub(super) directory: Option<PathBuf>,
    /// Sets how the process's stderr is used (default [`Stderr::Forward`]).
    pub(super) stderr: Stderr,
    /// Sets whether the process group has a guard (default true): a sleeping `/bin/sh` that kills the whole group as soon as
    /// this process has ended, even by SIGKILL. Unix only: on Windows the system itself kills it.
    pub(super) guard: bool,
    /// Sets how long each step of the shutdown waits before the next (default 2 seconds): first after closing stdin, then after
    /// SIGTERM.
    pub(super) grace: Duration,
    /// Sets how many bytes a line of the process may have (default 32 MiB). A longer one is refused with an error
    /// that names the limit, and the next line is read as usual.
    pub(super) limit: Option<usize>,
    /// Sets how many messages a batch of the process may have (default 1024).
    pub(super) batch_limit: Option<usize>,
    /// Sets a function that gets each line of stdout that begins with neither `{` nor `[`. Such a line is not JSON-RPC, but for example
    /// a log line. The function gets at most 500 bytes of it, with U+FFFD for invalid UTF-8 and with its control characters. It runs
    /// while the transport is polled, so it must not block.
    #[build(name = on_text_line, dynamic)]
    #[expect(clippy::type_complexity, reason = "the derived setter takes any such function")]
    pub(super) on_text: Option<Arc<dyn Fn(&str) + Send + Sync>>,
}

/// The treatment of a child's stderr.
///
/// Except with `Discard`, the last 20 lines (at most 8 KiB) are kept for the error that reports the end of the process. Stderr is then
/// always read as fast as the child writes it, so the child never blocks on it.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Stderr {
    /// Each line is written to this process's stderr, escaped by [`Printable`], behind the program's name: `my-server: listening`. So
    /// it cannot control the terminal, or look like a line of this process. A line of more than 8 KiB is split. If this process's
    /// stderr is slow, lines are dropped, and a line with their number is written.
    #[default]
    Forward,
    /// Only the last lines are kept.
    Capture,
    /// All lines are dropped, also the last ones.
    Discard,
    /// Each line is given to a function, without its line end, and with U+FFFD for invalid UTF-8. A line of more than 8 KiB is split.
    /// The function runs while the transport is polled, so it must not block. Control characters are not escaped: show the line as
    /// a [`Printable`].
    Lines(Arc<dyn Fn(&str) + Send + Sync>),
}

/// The error of an invalid command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseCommandError {
    /// The command line has no words.
    #[error("the command line is empty")]
    Empty,
    /// A quote is not closed.
    #[error("a quote in the command line is not closed: {}", Printable::new(.0))]
    Unclosed(String),
}

impl Command {
    /// Makes a command without arguments, with the directory and environment of this process. `program` is a path, or a name that is
    /// searched for in `PATH`. On Windows `PATHEXT` completes it, so that `npx` is `npx.cmd`.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            clear: false,
            directory: None,
            stderr: Stderr::default(),
            guard: true,
            grace: Duration::from_secs(2),
            limit: None,
            on_text: None,
            batch_limit: None,
        }
    }

    /// Parses a command line. Words, quotes and backslashes have the meaning of a POSIX shell. No shell runs, so variables, patterns,
    /// `~`, pipes and redirections have none.
    ///
    /// # Errors
    ///
    /// Fails if there is no word, or if a quote is not closed.
    pub fn parse(line: &str) -> Result<Self, ParseCommandError> {
        let words = shell_words::split(line).map_err(|_| ParseCommandError::Unclosed(line.to_owned()))?;
        let mut words = words.into_iter();
        let program = words.next().ok_or(ParseCommandError::Empty)?;
        Ok(Self::new(program).args(words))
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), Some(value.into())));
        self
    }

    /// Sets variables of the environment.
    #[must_use]
    pub fn envs<N: Into<OsString>, V: Into<OsString>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.environment.extend(variables.into_iter().map(|(name, value)| (name.into(), Some(value.into()))));
        self
    }

    /// Leaves out a variable of our own environment.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), None));
        self
    }

    /// Starts with an empty environment instead of that of this process, and removes the variables that were set before.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.clear = true;
        self.environment.clear();
        self
    }

    /// The program, as it was given.
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// The arguments, as they were given.
    pub fn arguments(&self) -> &[OsString] {
        &self.arguments
    }

    /// The command for the standard library, with this process's stdin, stdout and stderr. An agent's login runs at the terminal this
    /// way.
    pub fn at_terminal(&self) -> process::Command {
        let mut command = self.to_std();
        command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
        command
    }

    /// The variables of the environment that are set, in the order of the calls. A variable without a value is removed.
    pub fn environment(&self) -> impl Iterator<Item = (&OsStr, Option<&OsStr>)> {
        self.environment.iter().map(|(name, value)| (name.as_os_str(), value.as_deref()))
    }

    /// The directory in which the process starts. `None` for that of this process.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// The `PATH` that the last call sets. `None` if the last call removes it, or if no call sets it. The program is then searched for
    /// in the `PATH` of this process, as the standard library does on Windows.
    fn path(&self) -> Option<&OsStr> {
        let mut variables = self.environment.iter().rev();
        // Windows, where this matters, writes `Path`, and ignores case.
        let (_, value) = variables.find(|(name, _)| name.eq_ignore_ascii_case("PATH"))?;
        value.as_deref()
    }

    /// The command for the standard library.
    pub(super) fn to_std(&self) -> process::Command {
        let program = startable_program(&self.program, self.path(), self.directory.as_deref());
        let mut command = process::Command::new(program);
        command.args(&self.arguments);
        if self.clear {
            command.env_clear();
        }
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(match self.stderr {
            Stderr::Discard => Stdio::null(),
            _ => Stdio::piped(),
        });
        command
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of the environment are often secret.
        let names: Vec<_> = self.environment.iter().map(|(name, _)| name).collect();
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .field("environment", &names)
            .field("directory", &self.directory)
            .field("stderr", &self.stderr)
            .field("guard", &self.guard)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Stderr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forward => "Forward",
            Self::Capture => "Capture",
            Self::Discard => "Discard",
            Self::Lines(_) => "Lines(..)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_is_looked_for_in_the_path_of_the_last_call() {
        let command = || Command::new("x").env("PATH", "a");
        for (command, path) in [
            (Command::new("x").env("OTHER", "a"), None),
            (command(), Some("a")),
            (command().env("OTHER", "b").env_remove("ANOTHER"), Some("a")),
            (command().env("Path", "b"), Some("b")),
            (command().envs([("path", "b"), ("PATH", "c")]), Some("c")),
            (command().env_remove("PATH"), None),
            (command().env_remove("Path"), None),
            (command().env_remove("PATH").env("PATH", "b"), Some("b")),
            (command().env_clear(), None),
            (command().env_clear().env("PATH", "b"), Some("b")),
        ] {
            assert_eq!(command.path(), path.map(OsStr::new), "{:?}", command.environment);
        }
    }
}
