//! The errors of reading and writing a file.

use std::io;
use std::path::Path;

use agentwire_acp_schema::v1::error_code::RESOURCE_NOT_FOUND;
use agentwire_jsonrpc::ErrorObject;

/// The error of a path or of its file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("the path is relative, and must be absolute")]
    Relative,
    #[error("the path leads outside the directories of the session")]
    Outside,
    #[error("the client keeps agents out of this path")]
    Denied,
    /// The text is the system's: some agents recognize by it that they may create the file.
    #[error("No such file or directory")]
    Missing,
    #[error("a component of the path is not a directory")]
    NotADirectory,
    #[error("this is a directory, not a text file")]
    Directory,
    #[error("this is not a regular file")]
    NotRegular,
    #[error("the file is not UTF-8 text, from byte {at} on")]
    NotText { at: usize },
    #[error("the file is larger than the limit, which is {limit} bytes")]
    TooLarge { limit: u64 },
    #[error(
        "an answer with this text would be {bytes} bytes long, and the limit is {limit}; ask for fewer lines of it"
    )]
    TooLong { bytes: u64, limit: u64 },
    #[cfg(unix)]
    #[error("the path goes through more than {limit} links")]
    Links { limit: usize },
    /// A component was replaced while the path was followed. The caller tries again.
    #[cfg(unix)]
    #[error("the path changes faster than it can be followed")]
    Changed,
    #[error(transparent)]
    System(#[from] io::Error),
}

impl FileError {
    /// Converts the error into the answer to the agent.
    pub(crate) fn of(self, path: &Path) -> ErrorObject {
        let message = format!("{}: {self}", path.display());
        match self {
            Self::Missing => ErrorObject::new(RESOURCE_NOT_FOUND, message),
            #[cfg(unix)]
            Self::Changed => ErrorObject::internal_error(message),
            Self::System(_) => ErrorObject::internal_error(message),
            _ => ErrorObject::invalid_params(message),
        }
    }
}

#[cfg(unix)]
impl From<rustix::io::Errno> for FileError {
    fn from(errno: rustix::io::Errno) -> Self {
        Self::System(errno.into())
    }
}
