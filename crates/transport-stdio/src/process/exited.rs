//! The errors of a child process: it exited while its stdin was open, or it could not be started.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use agentwire_jsonrpc::Printable;

/// A process ended although its stdin was still open.
///
/// It is found inside the `TransportError` that ends the stream of a [`Child`](super::Child), by asking that for its
/// type.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Exited {
    /// The program, as the command named it.
    pub program: String,
    /// How it ended. None when something else in our own process took the status first.
    pub status: Option<ExitStatus>,
    /// The last lines of its stderr: up to 20 and up to 8 KiB, empty when there were none or they were
    /// discarded.
    pub stderr: String,
}

impl std::error::Error for Exited {}

impl fmt::Display for Exited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ", self.program)?;
        match self.status {
            Some(status) => write_status(status, f)?,
            None => f.write_str("ended")?,
        }
        match self.stderr.as_str() {
            "" => Ok(()),
            words => write!(f, "; its last words were: {}", Printable::new(words)),
        }
    }
}

fn write_status(status: ExitStatus, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return match signal_name(signal) {
            Some(name) => write!(f, "was killed by {name}"),
            None => write!(f, "was killed by signal {signal}"),
        };
    }
    match status.code() {
        Some(code) => write!(f, "exited with status {code}"),
        None => write!(f, "ended: {status}"),
    }
}

/// The name of a common signal.
#[cfg(unix)]
fn signal_name(signal: i32) -> Option<&'static str> {
    use rustix::process::Signal;
    let name = match Signal::from_named_raw(signal)? {
        Signal::HUP => "SIGHUP",
        Signal::INT => "SIGINT",
        Signal::QUIT => "SIGQUIT",
        Signal::ILL => "SIGILL",
        Signal::TRAP => "SIGTRAP",
        Signal::ABORT => "SIGABRT",
        Signal::BUS => "SIGBUS",
        Signal::FPE => "SIGFPE",
        Signal::KILL => "SIGKILL",
        Signal::USR1 => "SIGUSR1",
        Signal::SEGV => "SIGSEGV",
        Signal::USR2 => "SIGUSR2",
        Signal::PIPE => "SIGPIPE",
        Signal::ALARM => "SIGALRM",
        Signal::TERM => "SIGTERM",
        Signal::XCPU => "SIGXCPU",
        Signal::XFSZ => "SIGXFSZ",
        Signal::SYS => "SIGSYS",
        _ => return None,
    };
    Some(name)
}

/// Why a process could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The directory that it should start in is not there, or is none.
    #[error("cannot start `{program}` in {}: no such directory", directory.display())]
    #[non_exhaustive]
    Directory {
        /// The program, as the command named it.
        program: String,
        /// The directory, as the command named it.
        directory: PathBuf,
    },
    /// The system refused to start it, or to give us our ends of its streams.
    #[error("cannot start `{program}`: {source}")]
    #[non_exhaustive]
    Start {
        /// The program, as the command named it.
        program: String,
        /// The system's error.
        source: io::Error,
    },
}
