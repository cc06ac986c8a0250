use std::error::Error;
use std::io;
use std::path::PathBuf;

use agentwire_acp_schema::v1::SessionId;

/// Why a [`SessionStore`](super::SessionStore) did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is a session with this id already.
    #[error("there is a session {session_id} already")]
    #[non_exhaustive]
    Exists {
        /// The id.
        session_id: SessionId,
    },

    /// There is no session with this id.
    #[error("there is no session {session_id}")]
    #[non_exhaustive]
    NotFound {
        /// The id.
        session_id: SessionId,
    },

    /// Somebody else has the session for themselves, such as another connection or another process that has it open.
    #[error("session {session_id} is in use: it is open elsewhere, in this process or another")]
    #[non_exhaustive]
    InUse {
        /// The id.
        session_id: SessionId,
    },

    /// The store cannot keep a session under this id.
    #[error("no session can be kept under this id of {} bytes: {reason}", .session_id.as_str().len())]
    #[non_exhaustive]
    Id {
        /// The id.
        session_id: SessionId,
        /// What is wrong with it.
        reason: &'static str,
    },

    /// Others than the user can put files into the directory, so what is in it may not be the user's.
    #[error("no sessions are kept in {}: {reason}", .directory.display())]
    #[non_exhaustive]
    NotPrivate {
        /// The directory.
        directory: PathBuf,
        /// What is wrong with it, and what to do about that.
        reason: String,
    },

    /// There is no room for more, and nothing was kept of it. Deleting sessions makes room.
    #[error("the sessions take {limit} bytes of memory, which is the limit")]
    #[non_exhaustive]
    Full {
        /// How many bytes of memory they may take.
        limit: usize,
    },

    /// What was kept is not as it was written. Nothing was changed; what precedes the place can be read.
    #[error("the records of session {session_id} are damaged at {place}: {reason}")]
    #[non_exhaustive]
    Corrupt {
        /// The session.
        session_id: SessionId,
        /// Where, such as a file and an offset in it.
        place: String,
        /// What is wrong there.
        reason: String,
    },

    /// A write has failed in a way that leaves open what was kept of it, so nothing more is written to this session
    /// until it is opened again.
    #[error("session {session_id} takes no more records until it is opened again: {reason}")]
    #[non_exhaustive]
    Stopped {
        /// The session.
        session_id: SessionId,
        /// What had failed.
        reason: String,
    },

    /// The operating system refused.
    #[error("cannot {action} {}: {source}", .path.display())]
    #[non_exhaustive]
    Io {
        /// What was to be done, such as `open`.
        action: &'static str,
        /// To what.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },

    /// What else may go wrong in a store that is not of this crate.
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// There is a session with this id already.
    pub fn exists(session_id: &SessionId) -> Self {
        Self::Exists { session_id: session_id.clone() }
    }

    /// There is no session with this id.
    pub fn not_found(session_id: &SessionId) -> Self {
        Self::NotFound { session_id: session_id.clone() }
    }

    /// Somebody else has the session for themselves.
    pub fn in_use(session_id: &SessionId) -> Self {
        Self::InUse { session_id: session_id.clone() }
    }

    /// There is no room for more than so many bytes of memory.
    pub fn full(limit: usize) -> Self {
        Self::Full { limit }
    }

    /// The records of a session are not as they were written: where, and what is wrong there.
    pub fn corrupt(session_id: &SessionId, place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Corrupt { session_id: session_id.clone(), place: place.into(), reason: reason.into() }
    }

    /// Any other error of a store.
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}

/// What a [`SessionStore`](super::SessionStore) found wrong and got over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreWarning {
    /// What was last written to a session's journal was cut off, by the end of the process or of the machine. It is
    /// dropped: the disk had not held it yet.
    #[error(
        "session {session_id}: the last write was cut off; dropped {bytes} bytes behind byte {offset} of {}{}",
        .file.display(),
        .moved.as_ref().map(|moved| format!(", which are now in {}", moved.display())).unwrap_or_default()
    )]
    #[non_exhaustive]
    TornTail {
        /// The session.
        session_id: SessionId,
        /// Its journal.
        file: PathBuf,
        /// How long the journal is now, in bytes.
        offset: u64,
        /// How many bytes were dropped.
        bytes: u64,
        /// Where they are now, if there was more than the beginning of a record among them.
        moved: Option<PathBuf>,
    },

    /// A session's header could not be read as a whole. It is written anew: as it was where that can be told, else as the one
    /// that the session was created with.
    #[error("session {session_id}: its header is restored, and may be that of its beginning, as {} was {reason}", .file.display())]
    #[non_exhaustive]
    HeaderRestored {
        /// The session.
        session_id: SessionId,
        /// The file of the header.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// Sessions were forgotten that were not open, those in which nothing had happened for longest: all of them together took
    /// more memory than they may.
    #[error(
        "{sessions} sessions are forgotten, because all of them take more than {limit} bytes of memory, which is the limit"
    )]
    #[non_exhaustive]
    Forgotten {
        /// How many.
        sessions: usize,
        /// How many bytes of memory the sessions may take.
        limit: usize,
    },

    /// A session cannot be used, because neither its header nor the beginning of its journal can be read. Its files
    /// are left as they are.
    #[error("a session is left out, as {} is {reason}", .file.display())]
    #[non_exhaustive]
    LeftOut {
        /// The file that tells of it.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}
