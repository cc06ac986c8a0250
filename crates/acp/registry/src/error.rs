//! The errors of this crate.

use std::io;
use std::path::PathBuf;

use agentwire_jsonrpc::Printable;

use crate::changed::ChangedVersion;
use crate::fetch::FetchError;
use crate::packages::programs::RunError;
use crate::probe::ProbeError;

/// Why an operation on the registry or the store failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// A file or folder cannot be read or written.
    #[error("{}", .path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The store's folder may be changed by others, or is a relative path.
    #[error("the store {} {why}", .path.display())]
    UnsafeStore {
        /// The folder.
        path: PathBuf,
        /// The fault.
        why: String,
    },
    /// A download failed.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The index is not one.
    #[error("{} is not an index of agents: {}", Printable::one_line(.origin), Printable::one_line(.why))]
    InvalidIndex {
        /// The URL or file.
        origin: String,
        /// The reason.
        why: String,
    },
    /// The registry has no such agent.
    #[error("the registry {} has no agent `{}`", Printable::one_line(.origin), Printable::one_line(.id))]
    UnknownAgent {
        /// The id that was asked for.
        id: String,
        /// The URL or file of the index.
        origin: String,
    },
    /// No agent of this id is installed.
    #[error("`{}` is not installed", Printable::one_line(.0))]
    NotInstalled(String),
    /// The agent has no distribution of the wanted kind for this system.
    #[error("`{id}` has no {wanted}; it has {available}")]
    NoDistribution {
        /// The agent.
        id: String,
        /// The wanted entry.
        wanted: String,
        /// The kinds of distribution that the agent has.
        available: String,
    },
    /// The registry has another version of this distribution.
    #[error("the registry has only version {available} of the {kind} of `{id}`, not {}", Printable::one_line(.wanted))]
    NoVersion {
        /// The agent.
        id: String,
        /// The kind of distribution.
        kind: &'static str,
        /// The version that was asked for.
        wanted: String,
        /// The version of the index.
        available: String,
    },
    /// The entry asks for something that is never done.
    #[error("`{id}` is refused: {}", Printable::one_line(.why))]
    Refused {
        /// The agent.
        id: String,
        /// The reason.
        why: String,
    },
    /// The digest differs from that of the plan.
    #[error("{} has the digest {found}, but the plan says {expected}", Printable::one_line(.what))]
    OtherDigest {
        /// The package or URL.
        what: String,
        /// The digest of what was downloaded.
        found: String,
        /// The digest of the plan.
        expected: String,
    },
    /// The registry, or the server of the archive, gives another file for a version that was installed before.
    #[error("{0}")]
    Changed(Box<ChangedVersion>),
    /// The file with the digests of what was installed cannot be read.
    #[error(
        "the digests of the installed versions cannot be read ({}); remove {} to install without them: then nothing says whether a \
         version is the same as when it was installed before",
        Printable::one_line(.why),
        Printable::one_line(&.path.display().to_string())
    )]
    UnreadableDigests {
        /// The file.
        path: PathBuf,
        /// The fault.
        why: String,
    },
    /// A program of the package manager failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The package manager's output, or a package, is not what it should be.
    #[error("{}: {}", Printable::one_line(.what), Printable::one_line(.why))]
    InvalidPackage {
        /// The package or archive.
        what: String,
        /// The reason.
        why: String,
    },
    /// The agent does not answer `initialize`.
    #[error("the installed agent does not work, so nothing is changed")]
    Probe(#[source] ProbeError),
    /// Another process installs or removes the agent.
    #[error("another process has been changing `{0}` for 30 s")]
    Busy(String),
    /// The agent runs.
    #[error("`{0}` is running; end it first")]
    Running(String),
}

impl RegistryError {
    /// An error of a file, for `map_err`.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }
}
