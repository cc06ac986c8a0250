//! The files of one session, which this store has locked.

use std::sync::Arc;

use agentwire_acp_schema::v1::SessionId;
use agentwire_jsonrpc::RawJson;
use agentwire_sync::Mutex;

use super::directory::{Directory, failed};
use super::header::{self, Stored, Unread};
use super::journal::{self, Journal, Place, Reader};
use super::name::Kind;
use super::{Fsync, aside};
use crate::{SessionHeader, StoreError, StoreWarning};

pub(super) type Warnings = Mutex<Vec<StoreWarning>>;

/// What is known of a session's files. It stays true as long as the session is locked.
#[derive(Debug)]
pub(super) struct Files {
    place: Place,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Nobody has looked yet.
    Unknown,
    /// There is no session.
    Absent,
    Present(Box<Present>),
}

/// The files of a session that there is.
#[derive(Debug)]
pub(super) struct Present {
    place: Place,
    pub(super) header: SessionHeader,
    /// How many bytes of the journal the header's file says to be durable.
    synced: u64,
    journal: Journal,
    /// Whether the header was replaced since the directory was last synced.
    directory_unsynced: bool,
}

impl Files {
    pub(super) fn new(directory: Arc<Directory>, session_id: SessionId, stem: String) -> Self {
        Self { place: Place { directory, session_id, stem }, state: State::Unknown }
    }

    /// The session, where the end of its journal is known already.
    pub(super) fn known(&mut self) -> Option<&mut Present> {
        match &mut self.state {
            State::Present(present) if present.journal.is_known() => Some(present),
            _ => None,
        }
    }

    /// The session, if there is one. Looks at its files at first, and brings to an end what was being created, changed or
    /// deleted when a store was cut off.
    pub(super) fn load(&mut self, warnings: &Warnings) -> Result<Option<&mut Present>, StoreError> {
        if let State::Unknown = self.state {
            self.state = match tidy_and_read(&self.place, warnings)? {
                Some(stored) => State::Present(Box::new(Present::new(self.place.clone(), stored))),
                None => State::Absent,
            };
        }
        match &mut self.state {
            State::Present(present) => Ok(Some(present)),
            _ => Ok(None),
        }
    }

    /// The same, for those to whom it is an error that there is no session.
    pub(super) fn find(&mut self, warnings: &Warnings) -> Result<&mut Present, StoreError> {
        let session_id = self.place.session_id.clone();
        self.load(warnings)?.ok_or_else(|| StoreError::not_found(&session_id))
    }

    pub(super) fn create(
        &mut self,
        header: &SessionHeader,
        durable: bool,
        warnings: &Warnings,
    ) -> Result<(), StoreError> {
        let Place { directory, stem, .. } = self.place.clone();
        if self.load(warnings)?.is_some() || directory.version(&stem, Kind::Header)?.is_some() {
            return Err(StoreError::exists(&header.session_id));
        }
        let synced = if durable { header::line(header)?.0.len() as u64 } else { 0 };
        // In this order, so that what is cut off here is known to be the beginning of a session and not its rest.
        header::prepare(&directory, &stem, header, synced, durable)?;
        let journal = Journal::create(self.place.clone(), header, durable).inspect_err(|_| {
            let _ = directory.remove(&stem, Kind::NewHeader);
        })?;
        header::put(&directory, &stem).inspect_err(|_| {
            // In this order, too: a journal alone would be taken for a session that has lost its header.
            let _ = directory.remove(&stem, Kind::Journal);
            let _ = directory.remove(&stem, Kind::NewHeader);
        })?;
        let (place, header) = (self.place.clone(), header.clone());
        let mut created = Present { place, header, synced, journal, directory_unsynced: true };
        let synced = if durable { created.sync_directory() } else { Ok(()) };
        self.state = State::Present(Box::new(created));
        synced
    }

    /// Removes the session. `false` where there is none.
    pub(super) fn delete(&mut self, durable: bool, warnings: &Warnings) -> Result<bool, StoreError> {
        if self.load(warnings)?.is_none() {
            return Ok(false);
        }
        let Place { directory, stem, .. } = &self.place;
        // With this the session is gone. What is left to do is done when the store is opened, if not now.
        header::discard(directory, stem)?;
        self.state = State::Absent;
        remove_rest(directory, stem, durable)?;
        Ok(true)
    }
}

impl Present {
    fn new(place: Place, stored: Stored) -> Self {
        let Stored { header, synced } = stored;
        let journal = Journal::existing(place.clone());
        Self { place, header, synced: synced.unwrap_or(0), journal, directory_unsynced: false }
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

    /// Whether [`sync`](Self::sync) has to wait for the disk.
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

    /// Says in the header's file how much of the journal is durable, after a sync.
    ///
    /// That is not synced itself, and may fail: an earlier number that stands there is as true, and the next sync says the new
    /// one. The records are durable in any case.
    fn put_synced(&mut self) {
        let Some(synced) = self.journal.synced().filter(|synced| *synced > self.synced) else { return };
        let put = header::put_synced(&self.place.directory, &self.place.stem, synced).or_else(|_| {
            // Half of a number may stand there now.
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
        let Place { directory, stem, .. } = &self.place;
        header::prepare(directory, stem, header, synced, durable)?;
        header::put(directory, stem)?;
        self.directory_unsynced = true;
        Ok(())
    }

    fn sync_directory(&mut self) -> Result<(), StoreError> {
        self.place.directory.sync()?;
        self.directory_unsynced = false;
        Ok(())
    }
}

/// Removes what is left of a session without a header. What says that it is being deleted goes last: until then the deletion is
/// brought to its end by whoever looks at the session next.
fn remove_rest(directory: &Directory, stem: &str, durable: bool) -> Result<(), StoreError> {
    directory.remove(stem, Kind::Journal)?;
    directory.remove(stem, Kind::NewHeader)?;
    aside::remove_all(directory, stem)?;
    if durable {
        directory.sync()?;
    }
    directory.remove(stem, Kind::Deleted)?;
    Ok(())
}

/// Reads the header of a session that is locked, once what was cut off is brought to its end.
fn tidy_and_read(place: &Place, warnings: &Warnings) -> Result<Option<Stored>, StoreError> {
    let Place { directory, stem, .. } = place;
    let has = |kind| directory.version(stem, kind).map(|version| version.is_some());
    let (header, deleted, new) = (has(Kind::Header)?, has(Kind::Deleted)?, has(Kind::NewHeader)?);
    if !header && !deleted && !new && !has(Kind::Journal)? {
        return Ok(None);
    }
    if deleted || new {
        // With its header a session is there, and only something about it was on the way. Without, it was being
        // deleted, or its creation had not come to its end.
        if !header && (deleted || !journal::has_records(place)?) {
            remove_rest(directory, stem, true)?;
            return Ok(None);
        }
        directory.remove(stem, Kind::NewHeader)?;
        directory.remove(stem, Kind::Deleted)?;
    }
    let file = directory.file(stem, Kind::Header);
    let (reason, restored) = match header::read(directory, stem) {
        Ok(stored) if stored.synced.is_some() => return Ok(Some(stored)),
        Ok(stored) => ("damaged".to_owned(), Some(replace(place, stored.header))),
        Err(Unread::Failed(source)) => return Err(failed("read", &file)(source)),
        Err(Unread::Closed(reason)) => (reason, None),
        Err(unread) => (unread.reason(), restore(place)?),
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

/// Takes a session's header from where its journal begins, as the header's own file is no good. `None` where the journal is
/// no good either.
pub(super) fn restore(place: &Place) -> Result<Option<Stored>, StoreError> {
    match header::read_beginning(&place.directory, &place.stem) {
        Ok(header) => Ok(Some(replace(place, header))),
        Err(Unread::Failed(source)) => Err(failed("read", &place.path())(source)),
        Err(_) => Ok(None),
    }
}

/// Writes the file of a header anew. How much of the journal is durable is not known any more.
pub(super) fn replace(place: &Place, header: SessionHeader) -> Stored {
    let Place { directory, stem, .. } = place;
    // Where it cannot be written, it is restored again the next time.
    let _ = header::prepare(directory, stem, &header, 0, true).and_then(|()| header::put(directory, stem));
    Stored { header, synced: Some(0) }
}
