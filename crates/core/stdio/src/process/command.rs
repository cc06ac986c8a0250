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
    /// Sets the directory that the process starts in (default ours). A relative `program` path may be
    /// looked up from either, depending on the system: use an absolute one.
    #[build(name = current_dir, into)]
    pub(super) directory: Option<PathBuf>,
    /// Sets how its stderr is used (default [`Stderr::Forward`]).
    pub(super) stderr: Stderr,
    /// Sets whether the process group has a guard (default true): a sleeping `/bin/sh` that kills the whole group as soon as
    /// this process has ended, even by SIGKILL. Unix only: on Windows the system itself kills it.
    pub(super) guard: bool,
    /// Sets how long each step of the shutdown waits before the next (default 2 seconds): for the end after
    /// its stdin was closed, then for the end after SIGTERM.
    pub(super) grace: Duration,
    /// Sets how many bytes a line from it may have (default 32 MiB). A longer one is refused with an error
    /// that names the limit, and the next line is read as usual.
    pub(super) limit: Option<usize>,
    /// Sets how many messages a batch from it may have (default 1024).
    pub(super) batch_limit: Option<usize>,
    /// Sets a function that gets each line of its stdout that begins with neither `{` nor `[`: not JSON-RPC, but a log in the
    /// wrong place, or the greeting of another program. Of each it gets at most 500 bytes, with U+FFFD for what is not UTF-8,
    /// and with its control characters. The function runs while the transport is polled, so it must not block.
    #[build(name = on_text_line, dynamic)]
    #[expect(clippy::type_complexity, reason = "the derived setter takes any such function")]
    pub(super) on_text: Option<Arc<dyn Fn(&str) + Send + Sync>>,
}

/// The treatment of a child's stderr.
///
/// In every case but `Discard` the last 20 lines (8 KiB at most) are kept, to say why a process ended. It is
/// always read as fast as it comes, so a child that writes much never blocks on it.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Stderr {
    /// Passed on to our own stderr a line at a time, as [`Printable`] shows it, behind the
    /// program's name: `my-server: listening`. So it cannot steer the terminal that we run at, or pass for a line of
    /// ours. A line of more than 8 KiB comes in parts. If ours does not take it fast enough, lines are dropped, and one
    /// there has their number.
    #[default]
    Forward,
    /// Only the last lines are kept.
    Capture,
    /// All of it is dropped, the last lines included.
    Discard,
    /// Each line is given to a function, without its line end, with U+FFFD for what is not UTF-8. A line of
    /// more than 8 KiB comes in parts. The function runs while the transport is polled, so it must not block.
    /// Control characters are in it as the child wrote them: show it to people as a
    /// [`Printable`].
    Lines(Arc<dyn Fn(&str) + Send + Sync>),
}

/// Why a command line could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseCommandError {
    /// It has no words.
    #[error("the command line is empty")]
    Empty,
    /// A quote is not closed.
    #[error("a quote in the command line is not closed: {}", Printable::new(.0))]
    Unclosed(String),
}

impl Command {
    /// Starts `program`, which is looked for in `PATH` unless it is a path, without arguments, in our own
    /// directory and environment. On Windows `PATHEXT` completes it, so that `npx` is `npx.cmd`.
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

    /// Reads a command line: words, quotes and backslashes mean what they mean to a POSIX shell. Nothing else
    /// does: no variable, pattern, `~`, pipe or redirection; no shell runs.
    ///
    /// # Errors
    ///
    /// When there is no word, or a quote is not closed.
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

    /// Starts with an empty environment instead of ours, and forgets what was set before.
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

    /// The command for the standard library, to run the program at our own terminal: with our stdin, stdout and stderr. An
    /// agent's program logs in so.
    pub fn at_terminal(&self) -> process::Command {
        let mut command = self.to_std();
        command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
        command
    }

    /// The variables of the environment that are set, or left out where there is no value, in the order of the calls.
    pub fn environment(&self) -> impl Iterator<Item = (&OsStr, Option<&OsStr>)> {
        self.environment.iter().map(|(name, value)| (name.as_os_str(), value.as_deref()))
    }

    /// The directory that the process starts in; none if it is ours.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// The `PATH` that the last call sets. `None` if the last call removes it, or if no call names it: then the program is looked
    /// for in our own, as the standard library does on Windows.
    fn path(&self) -> Option<&OsStr> {
        let mut variables = self.environment.iter().rev();
        // Windows, where this matters, calls it `Path`, and takes both for the same.
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
