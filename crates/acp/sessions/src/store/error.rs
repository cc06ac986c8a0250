//! The errors and warnings of a store.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use agentwire_acp_schema::v1::SessionId;
use agentwire_jsonrpc::Printable;

/// Why an operation of a [`SessionStore`](super::SessionStore) failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A session with this id exists already.
    #[error("there is a session {} already", Printable::display(.session_id))]
    #[non_exhaustive]
    Exists {
        /// The id.
        session_id: SessionId,
    },

    /// There is no session with this id.
    #[error("there is no session {}", Printable::display(.session_id))]
    #[non_exhaustive]
    NotFound {
        /// The id.
        session_id: SessionId,
    },

    /// The session is claimed already, such as by another connection or another process.
    #[error("session {} is in use: it is open elsewhere, in this process or another", Printable::display(.session_id))]
    #[non_exhaustive]
    InUse {
        /// The id.
        session_id: SessionId,
    },

    /// The store does not support this id.
    #[error("no session can be kept under this id of {} bytes: {reason}", .session_id.as_str().len())]
    #[non_exhaustive]
    Id {
        /// The id.
        session_id: SessionId,
        /// The fault of the id.
        reason: &'static str,
    },

    /// Other users can change the directory, so its content cannot be trusted.
    #[error("no sessions are kept in {}: {reason}", .directory.display())]
    #[non_exhaustive]
    NotPrivate {
        /// The directory.
        directory: PathBuf,
        /// Why, and what to do about it.
        reason: String,
    },

    /// The memory limit is reached, and nothing was stored. Deleting sessions frees memory.
    #[error("the sessions take {limit} bytes of memory, which is the limit")]
    #[non_exhaustive]
    Full {
        /// The limit, in bytes.
        limit: usize,
    },

    /// The journal is damaged. Nothing was changed; the records before the damage can be read.
    #[error("the records of session {} are damaged at {place}: {reason}", Printable::display(.session_id))]
    #[non_exhaustive]
    Corrupt {
        /// The session.
        session_id: SessionId,
        /// The place of the damage, such as a file and an offset in it.
        place: String,
        /// The fault at that place.
        reason: String,
    },

    /// An earlier write failed and left an unknown state, so nothing more is written to this session until it is opened again.
    #[error("session {} takes no more records until it is opened again: {reason}", Printable::display(.session_id))]
    #[non_exhaustive]
    Stopped {
        /// The session.
        session_id: SessionId,
        /// The error of the earlier write.
        reason: String,
    },

    /// An operation of the operating system failed.
    #[error("cannot {action} {}", .path.display())]
    #[non_exhaustive]
    Io {
        /// The operation, such as `open`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },

    /// Any other error of a store.
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// Returns [`StoreError::Exists`].
    pub fn exists(session_id: &SessionId) -> Self {
        Self::Exists { session_id: session_id.clone() }
    }

    /// Returns [`StoreError::NotFound`].
    pub fn not_found(session_id: &SessionId) -> Self {
        Self::NotFound { session_id: session_id.clone() }
    }

    /// Returns [`StoreError::InUse`].
    pub fn in_use(session_id: &SessionId) -> Self {
        Self::InUse { session_id: session_id.clone() }
    }

    /// Returns [`StoreError::Full`] with the limit in bytes.
    pub fn full(limit: usize) -> Self {
        Self::Full { limit }
    }

    /// Returns [`StoreError::Corrupt`] with the place and the reason.
    pub fn corrupt(session_id: &SessionId, place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Corrupt { session_id: session_id.clone(), place: place.into(), reason: reason.into() }
    }

    /// Returns [`StoreError::Other`].
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}

/// A fault that a [`SessionStore`](super::SessionStore) has found and recovered from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreWarning {
    /// The last writes to a session's journal were cut off, by the end of the process or a crash of the machine. They were not
    /// durable yet, and are dropped.
    #[error(
        "session {}: the last write was cut off; dropped {bytes} bytes behind byte {offset} of {}{}",
        Printable::display(.session_id),
        .file.display(),
        .moved.as_ref().map(|moved| format!(", which are now in {}", moved.display())).unwrap_or_default()
    )]
    #[non_exhaustive]
    TornTail {
        /// The session.
        session_id: SessionId,
        /// The journal.
        file: PathBuf,
        /// The length of the journal now, in bytes.
        offset: u64,
        /// How many bytes were dropped.
        bytes: u64,
        /// The file to which they were moved, if they include more than the beginning of a record.
        moved: Option<PathBuf>,
    },

    /// A session's header was damaged and is written again, as the session was created if the old header cannot be read.
    #[error(
        "session {}: its header is restored, and may be that of its beginning, as {} was {reason}",
        Printable::display(.session_id),
        .file.display()
    )]
    #[non_exhaustive]
    HeaderRestored {
        /// The session.
        session_id: SessionId,
        /// The file of the header.
        file: PathBuf,
        /// The fault of the header.
        reason: String,
    },

    /// Sessions that were not open were deleted, those with the oldest change first, because all sessions together exceeded the
    /// memory limit.
    #[error(
        "{sessions} sessions are forgotten, because all of them take more than {limit} bytes of memory, which is the limit"
    )]
    #[non_exhaustive]
    Forgotten {
        /// How many sessions were deleted.
        sessions: usize,
        /// The limit, in bytes.
        limit: usize,
    },

    /// A session cannot be used, because neither its header nor the first line of its journal can be read. Its files are
    /// unchanged.
    #[error("a session is left out, as {} is {reason}", .file.display())]
    #[non_exhaustive]
    LeftOut {
        /// The file that cannot be read.
        file: PathBuf,
        /// The fault of the session.
        reason: String,
    },
}
