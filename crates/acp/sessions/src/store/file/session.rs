//! The files of a session that this store has locked.

use std::sync::Arc;

use agentwire_acp_schema::v1::SessionId;
use agentwire_jsonrpc::RawJson;
use agentwire_sync::Mutex;

use super::directory::{Directory, failed};
use super::header::{self, HeaderError, HeaderFile};
use super::journal::Journal;
use super::location::Location;
use super::name::FileKind;
use super::reader::Reader;
use super::{aside, scan};
use crate::{SessionHeader, StoreError, StoreWarning};

/// When a [`FileStore`](super::FileStore) makes its writes durable, with `fsync`.
///
/// Appended records survive the end of the process in any case. This setting concerns a crash of the machine or a power
/// cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fsync {
    /// Never: the operating system decides when it writes. A power cut may lose the last seconds.
    Never,
    /// When sessions are created and deleted, and at the end of each turn, where
    /// [`SessionStore::sync`](crate::SessionStore::sync) is called. A power cut may lose the updates of a turn that has not
    /// ended.
    #[default]
    EveryTurn,
    /// With every append. A power cut loses nothing; an update waits for the disk before it is sent.
    Always,
}

pub(super) type Warnings = Mutex<Vec<StoreWarning>>;

/// The state of a session's files, as this store knows it. It is valid while the session is locked.
#[derive(Debug)]
pub(super) struct Files {
    location: Location,
    state: FilesState,
}

#[derive(Debug)]
enum FilesState {
    /// The files have not been read yet.
    Unknown,
    /// There is no session.
    Absent,
    Present(Box<SessionFiles>),
}

/// The files of a session that exists.
#[derive(Debug)]
pub(super) struct SessionFiles {
    location: Location,
    pub(super) header: SessionHeader,
    /// How many bytes of the journal are durable, according to the header's file.
    synced: u64,
    journal: Journal,
    /// Whether the header was replaced after the last sync of the directory.
    directory_unsynced: bool,
}

impl Files {
    pub(super) fn new(directory: Arc<Directory>, session_id: SessionId, stem: String) -> Self {
        Self { location: Location { directory, session_id, stem }, state: FilesState::Unknown }
    }

    /// Returns the session if the end of its journal is known, so that an append need not read files.
    pub(super) fn known(&mut self) -> Option<&mut SessionFiles> {
        match &mut self.state {
            FilesState::Present(present) if present.journal.is_known() => Some(present),
            _ => None,
        }
    }

    /// Returns the session, if there is one. The first call reads its files, and completes or reverts an operation of a
    /// store that was cut off.
    pub(super) fn load(&mut self, warnings: &Warnings) -> Result<Option<&mut SessionFiles>, StoreError> {
        if let FilesState::Unknown = self.state {
            self.state = match recover_and_read(&self.location, warnings)? {
                Some(stored) => {
                    FilesState::Present(Box::new(SessionFiles::new(self.location.clone(), stored)))
                }
                None => FilesState::Absent,
            };
        }
        match &mut self.state {
            FilesState::Present(present) => Ok(Some(present)),
            _ => Ok(None),
        }
    }

    /// As [`load`](Self::load). Fails if the session does not exist.
    pub(super) fn find(&mut self, warnings: &Warnings) -> Result<&mut SessionFiles, StoreError> {
        let session_id = self.location.session_id.clone();
        self.load(warnings)?.ok_or_else(|| StoreError::not_found(&session_id))
    }

    pub(super) fn create(
        &mut self,
        header: &SessionHeader,
        durable: bool,
        warnings: &Warnings,
    ) -> Result<(), StoreError> {
        let Location { directory, stem, .. } = self.location.clone();
        if self.load(warnings)?.is_some() || directory.version(&stem, FileKind::Header)?.is_some() {
            return Err(StoreError::exists(&header.session_id));
        }
        let synced = if durable { header::line(header)?.0.len() as u64 } else { 0 };
        // In this order, so that a creation that is cut off differs from a session that has lost its header.
        header::prepare(&directory, &stem, header, synced, durable)?;
        let journal = Journal::create(self.location.clone(), header, durable).inspect_err(|_| {
            let _ = directory.remove(&stem, FileKind::NewHeader);
        })?;
        header::put(&directory, &stem).inspect_err(|_| {
            // In this order: a journal alone counts as a session that has lost its header.
            let _ = directory.remove(&stem, FileKind::Journal);
            let _ = directory.remove(&stem, FileKind::NewHeader);
        })?;
        let (location, header) = (self.location.clone(), header.clone());
        let mut created = SessionFiles { location, header, synced, journal, directory_unsynced: true };
        let synced = if durable { created.sync_directory() } else { Ok(()) };
        self.state = FilesState::Present(Box::new(created));
        synced
    }

    /// Deletes the session. Returns whether there was one.
    pub(super) fn delete(&mut self, durable: bool, warnings: &Warnings) -> Result<bool, StoreError> {
        if self.load(warnings)?.is_none() {
            return Ok(false);
        }
        let Location { directory, stem, .. } = &self.location;
        // This deletes the session. If the rest fails, it is done when the store is opened next.
        header::discard(directory, stem)?;
        self.state = FilesState::Absent;
        remove_rest(directory, stem, durable)?;
        Ok(true)
    }
}

impl SessionFiles {
    fn new(location: Location, stored: HeaderFile) -> Self {
        let HeaderFile { header, synced } = stored;
        let journal = Journal::existing(location.clone());
        Self { location, header, synced: synced.unwrap_or(0), journal, directory_unsynced: false }
    }

    fn find_end(&mut self, warnings: &Warnings) -> Result<(), StoreError> {
        self.journal.find_end(&self.header, self.synced, |warning| warnings.lock().push(warning))
    }

    pub(super) fn append(
        &mut self,
        records: &[RawJson],
        durable: bool,
        warnings: &Warnings,
    ) -> Result<(), StoreError> {
        self.find_end(warnings)?;
        self.journal.append(records, durable)?;
        if durable {
            self.put_synced();
        }
        Ok(())
    }

    /// Returns whether [`sync`](Self::sync) has to wait for the disk.
    pub(super) fn is_unsynced(&self) -> bool {
        self.directory_unsynced || self.journal.is_unsynced()
    }

    pub(super) fn sync(&mut self, durable: bool, warnings: &Warnings) -> Result<(), StoreError> {
        if durable {
            self.find_end(warnings)?;
        }
        self.journal.sync(durable)?;
        if durable {
            self.put_synced();
            if self.directory_unsynced {
                self.sync_directory()?;
            }
        }
        Ok(())
    }

    pub(super) fn reader(&mut self, warnings: &Warnings) -> Result<Reader, StoreError> {
        self.find_end(warnings)?;
        self.journal.reader()
    }

    pub(super) fn update_header(&mut self, header: SessionHeader, fsync: Fsync) -> Result<(), StoreError> {
        if self.header == header {
            return Ok(());
        }
        self.replace_header(&header, self.synced, fsync != Fsync::Never)?;
        self.header = header;
        if fsync == Fsync::Always { self.sync_directory() } else { Ok(()) }
    }

    /// Records in the header's file how much of the journal is durable, after a sync.
    ///
    /// This write is not synced itself, and may fail: the earlier number stays valid, and the next sync records the new one.
    fn put_synced(&mut self) {
        let Some(synced) = self.journal.synced().filter(|synced| *synced > self.synced) else { return };
        let put = header::put_synced(&self.location.directory, &self.location.stem, synced).or_else(|_| {
            // The file may now hold half of the number.
            let header = self.header.clone();
            self.replace_header(&header, synced, true)
        });
        if put.is_ok() {
            self.synced = synced;
        }
    }

    fn replace_header(
        &mut self,
        header: &SessionHeader,
        synced: u64,
        durable: bool,
    ) -> Result<(), StoreError> {
        let Location { directory, stem, .. } = &self.location;
        header::prepare(directory, stem, header, synced, durable)?;
        header::put(directory, stem)?;
        self.directory_unsynced = true;
        Ok(())
    }

    fn sync_directory(&mut self) -> Result<(), StoreError> {
        self.location.directory.sync()?;
        self.directory_unsynced = false;
        Ok(())
    }
}

/// Removes the files of a session that has no header any more. The file that marks the deletion is removed last: while it
/// exists, the next access to the session completes the deletion.
fn remove_rest(directory: &Directory, stem: &str, durable: bool) -> Result<(), StoreError> {
    directory.remove(stem, FileKind::Journal)?;
    directory.remove(stem, FileKind::NewHeader)?;
    aside::remove_all(directory, stem)?;
    if durable {
        directory.sync()?;
    }
    directory.remove(stem, FileKind::Deleted)?;
    Ok(())
}

/// Reads the header of a locked session, after completing or reverting an operation that was cut off.
fn recover_and_read(location: &Location, warnings: &Warnings) -> Result<Option<HeaderFile>, StoreError> {
    let Location { directory, stem, .. } = location;
    let has = |kind| directory.version(stem, kind).map(|version| version.is_some());
    let (header, deleted, new) = (has(FileKind::Header)?, has(FileKind::Deleted)?, has(FileKind::NewHeader)?);
    if !header && !deleted && !new && !has(FileKind::Journal)? {
        return Ok(None);
    }
    if deleted || new {
        // With a header the session exists, and only a change of it was cut off. Without one, its deletion or its
        // creation was cut off.
        if !header && (deleted || !scan::has_records(location)?) {
            remove_rest(directory, stem, true)?;
            return Ok(None);
        }
        directory.remove(stem, FileKind::NewHeader)?;
        directory.remove(stem, FileKind::Deleted)?;
    }
    let file = directory.file(stem, FileKind::Header);
    let (reason, restored) = match header::read(directory, stem) {
        Ok(stored) if stored.synced.is_some() => return Ok(Some(stored)),
        Ok(stored) => ("damaged".to_owned(), Some(replace(location, stored.header))),
        Err(HeaderError::Io(source)) => return Err(failed("read", &file)(source)),
        Err(HeaderError::Unsupported(reason)) => (reason, None),
        Err(error) => (error.reason(), restore(location)?),
    };
    warnings.lock().push(match &restored {
        Some(stored) => {
            let session_id = stored.header.session_id.clone();
            StoreWarning::HeaderRestored { session_id, file, reason }
        }
        None => StoreWarning::LeftOut { file, reason },
    });
    Ok(restored)
}

/// Restores a session's header from the first line of its journal. Returns `None` if that is damaged too.
pub(super) fn restore(location: &Location) -> Result<Option<HeaderFile>, StoreError> {
    match header::read_first(&location.directory, &location.stem) {
        Ok(header) => Ok(Some(replace(location, header))),
        Err(HeaderError::Io(source)) => Err(failed("read", &location.journal())(source)),
        Err(_) => Ok(None),
    }
}

/// Writes the file of a header again, with no byte of the journal known to be durable.
pub(super) fn replace(location: &Location, header: SessionHeader) -> HeaderFile {
    let Location { directory, stem, .. } = location;
    // If this fails, the header is restored again the next time.
    let _ = header::prepare(directory, stem, &header, 0, true).and_then(|()| header::put(directory, stem));
    HeaderFile { header, synced: Some(0) }
}
