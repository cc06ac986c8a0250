//! Error types that determine the exit code of the program.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use agentwire_mcp_auth::client::AuthError;
use agentwire_mcp_client::HandshakeError;
use agentwire_mcp_hub::ConnectError;
use agentwire_peer::{BoxError, CallError};
use agentwire_transport_http::client::CertificateError;
use agentwire_transport_stdio::SpawnError;

/// The meaning of a failure for a script. Success is 0; a signal and a recorded program have codes of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum Exit {
    /// The other side failed or refused: 1.
    Failed,
    /// The command line is wrong: 2.
    Usage,
    /// The other side asks for a login, or refuses the one that there is: 3.
    Unauthorized,
    /// The other side cannot be started or reached, or ended before it answered: 4.
    Unreachable,
    /// The tool reports an error: 5.
    ToolFailed,
    /// A rule or a person does not permit it, or no person can be asked: 6.
    NotPermitted,
    /// The time limit is over: 124, as with `timeout` of the coreutils.
    TimedOut,
    /// A signal has ended the command, with this exit code: 130 for SIGINT, 143 for SIGTERM.
    Interrupted(u8),
    /// The recorded program has ended with this exit code.
    ProgramEnded(u8),
}

impl Exit {
    /// The exit code of the process.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Unauthorized => 3,
            Self::Unreachable => 4,
            Self::ToolFailed => 5,
            Self::NotPermitted => 6,
            Self::TimedOut => 124,
            Self::Interrupted(code) | Self::ProgramEnded(code) => code,
        }
    }
}

/// A failure whose exit code is known where it occurs. Its text and its causes are those of the error inside.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    error: Box<dyn Error + Send + Sync>,
}

impl Failure {
    /// `error` may be a text.
    pub(crate) fn new(exit: Exit, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { exit, error: error.into() }
    }

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.error)
    }
}

/// An error of the command line that is found after its arguments were parsed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// A failure that is already printed on stdout as JSON.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct AlreadyPrinted(pub(crate) anyhow::Error);

/// The tool reports that it failed. Its result is printed already.
#[derive(Debug, thiserror::Error)]
#[error("the tool failed")]
pub(crate) struct ToolFailed;

/// The recorded program has ended with this exit code.
#[derive(Debug, thiserror::Error)]
#[error("the program ended with code {0}")]
pub(crate) struct ProgramEnded(pub(crate) u8);

/// A signal has ended the command. It has the exit code that a shell reports for a program which that signal kills: 130 for
/// SIGINT, 143 for SIGTERM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted(pub(crate) u8);

impl Interrupted {
    /// By SIGINT, or by ^C as a key.
    pub(crate) const BY_KEY: Self = Self(130);

    /// The failure with an explanation as its text.
    pub(crate) fn explained(self, text: &'static str) -> Failure {
        Failure::new(Exit::Interrupted(self.0), text)
    }
}

/// A command has reached the time limit of `--timeout`.
#[derive(Debug, thiserror::Error)]
#[error("no answer within {0:?}")]
pub(crate) struct Overdue(pub(crate) Duration);

/// A failed call, with a hint for the person.
#[derive(Debug)]
pub(crate) struct ErrorWithHint {
    error: CallError,
    hint: String,
}

impl ErrorWithHint {
    pub(crate) fn new(error: CallError, hint: String) -> Self {
        Self { error, hint }
    }

    pub(super) fn error(&self) -> &CallError {
        &self.error
    }

    pub(super) fn hint(&self) -> &str {
        &self.hint
    }
}

impl fmt::Display for ErrorWithHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.error, self.hint)
    }
}

impl Error for ErrorWithHint {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

/// Converts a boxed error. The known types are unboxed first, so that `downcast_ref` finds them later.
pub(crate) fn to_anyhow(error: BoxError) -> anyhow::Error {
    fn known<E: Error + Send + Sync + 'static>(error: BoxError) -> Result<anyhow::Error, BoxError> {
        error.downcast::<E>().map(anyhow::Error::new)
    }
    known::<CallError>(error)
        .or_else(known::<ErrorWithHint>)
        .or_else(known::<HandshakeError>)
        .or_else(known::<ConnectError>)
        .or_else(known::<ToolFailed>)
        .or_else(known::<Failure>)
        .or_else(known::<Interrupted>)
        .or_else(known::<Usage>)
        .or_else(known::<SpawnError>)
        .or_else(known::<AuthError>)
        .or_else(known::<CertificateError>)
        .or_else(known::<io::Error>)
        .unwrap_or_else(|error| anyhow::Error::from_boxed(error.into_boxed()))
}
