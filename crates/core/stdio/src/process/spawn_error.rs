//! The error of a child process that could not be started.

use std::io;
use std::path::PathBuf;

use agentwire_jsonrpc::Printable;

/// Why a process could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// Its working directory does not exist, or is not a directory.
    #[error(
        "cannot start `{}` in {}: no such directory",
        Printable::new(program),
        Printable::display(directory.display())
    )]
    #[non_exhaustive]
    Directory {
        /// The program, as the command named it.
        program: String,
        /// The directory, as the command named it.
        directory: PathBuf,
    },
    /// The system refused to start it, or its streams could not be used.
    #[error("cannot start `{}`", Printable::new(program))]
    #[non_exhaustive]
    Start {
        /// The program, as the command named it.
        program: String,
        /// The system's error.
        source: io::Error,
    },
}
