//! The paths of a session's files.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use agentwire_acp_schema::v1::SessionId;
use agentwire_files::{Access, RawFile};

use super::directory::{Directory, failed};
use super::name::FileKind;
use crate::StoreError;

/// The location of a session's files.
#[derive(Debug, Clone)]
pub(super) struct Location {
    pub(super) directory: Arc<Directory>,
    pub(super) session_id: SessionId,
    /// The beginning of the names of the session's files.
    pub(super) stem: String,
}

impl Location {
    /// Returns the path of the journal.
    pub(super) fn journal(&self) -> PathBuf {
        self.directory.file(&self.stem, FileKind::Journal)
    }

    /// Opens the journal.
    pub(super) fn open_journal(&self, access: Access) -> io::Result<Box<dyn RawFile>> {
        self.directory.open_file(&self.stem, FileKind::Journal, access)
    }

    /// Returns the error of an operation on the journal that failed.
    pub(super) fn failed(&self, action: &'static str) -> impl FnOnce(io::Error) -> StoreError + use<> {
        failed(action, &self.journal())
    }

    /// Returns the error of a journal that is damaged at an offset.
    pub(super) fn damaged(&self, offset: u64, reason: impl Into<String>) -> StoreError {
        let place = format!("byte {offset} of {}", self.journal().display());
        StoreError::corrupt(&self.session_id, place, reason)
    }
}
