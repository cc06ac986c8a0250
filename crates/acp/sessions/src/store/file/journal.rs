//! The journal of a session: the file of its records.
//!
//! The handling of its end is not in `agentwire-files`, because the stores differ: this one undoes a failed append, the store
//! of several nodes rewrites its journal.

use std::io;
use std::path::PathBuf;

use agentwire_files::line::{self, Line};
use agentwire_files::{Access, RawFile};
use agentwire_jsonrpc::RawJson;

use super::location::Location;
use super::name::FileKind;
use super::reader::{AppendFault, Reader};
use super::scan::{Scan, fault, scan};
use super::{aside, header};
use crate::{SessionHeader, StoreError, StoreWarning};

/// The journal of a session that this store has locked, so no other process writes to the file.
///
/// The file is open from the first append until [`sync`](Self::sync), so that an idle session has no open file.
#[derive(Debug)]
pub(super) struct Journal {
    location: Location,
    /// `None` until the file has been read.
    end: Option<JournalEnd>,
}

/// The end of the valid records.
#[derive(Debug)]
struct JournalEnd {
    offset: u64,
    checksum: u32,
    file: Option<Box<dyn RawFile>>,
    /// Whether records may not be durable yet.
    unsynced: bool,
    /// The offset from which the file is written again before it is synced. Another process may have written the records
    /// and failed to sync them; the operating system then marks the pages as clean, and the next sync skips them.
    rewrite: Option<u64>,
    fault: Option<AppendFault>,
}

impl Journal {
    /// Returns a journal that exists already.
    pub(super) fn existing(location: Location) -> Self {
        Self { location, end: None }
    }

    /// Creates the journal of a new session.
    pub(super) fn create(
        location: Location,
        header: &SessionHeader,
        durable: bool,
    ) -> Result<Self, StoreError> {
        let (line, checksum) = header::line(header)?;
        let file = location.open_journal(Access::Create).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => StoreError::exists(&header.session_id),
            _ => location.failed("create")(source),
        })?;
        let written = file.write_all_at(&line, 0).and_then(|()| if durable { file.sync() } else { Ok(()) });
        if let Err(source) = written {
            let _ = location.directory.remove(&location.stem, FileKind::Journal);
            return Err(location.failed("write")(source));
        }
        Ok(Self { location, end: Some(JournalEnd::at(line.len() as u64, checksum, !durable)) })
    }

    /// Returns whether records can be appended without reading the file first.
    pub(super) fn is_known(&self) -> bool {
        self.end.is_some()
    }

    /// Reads the file, unless that has happened before, and finds the end of its valid records.
    ///
    /// Damage after the first `synced` bytes comes from writes that were never durable before a power cut, and is dropped. If it
    /// includes whole lines, they are copied to an `aside` file first.
    pub(super) fn find_end(
        &mut self,
        header: &SessionHeader,
        synced: u64,
        warn: impl FnOnce(StoreWarning),
    ) -> Result<(), StoreError> {
        if self.end.is_some() {
            return Ok(());
        }
        let Scan { offset, checksum, end, last, .. } = scan(&self.location)?;
        // An earlier process may have written the rest, so it is unknown whether that is durable.
        let mut found = JournalEnd::at(offset, checksum, offset > synced);
        found.rewrite = found.unsynced.then_some(synced);
        if let Some(reason) = fault(&last, offset, synced) {
            found.fault = Some(AppendFault::Damaged(reason));
        } else if offset < end || offset == 0 {
            let moved = self.drop_rest(&mut found, header, matches!(last, Line::Damaged(_)))?;
            let (session_id, file) = (self.location.session_id.clone(), self.location.journal());
            warn(StoreWarning::TornTail { session_id, file, offset, bytes: end - offset, moved });
        }
        self.end = Some(found);
        Ok(())
    }

    /// Truncates the file after the valid records, and writes its first line again if that was lost. With `keep`, copies the
    /// rest to an `aside` file first, and returns the path.
    fn drop_rest(
        &self,
        end: &mut JournalEnd,
        header: &SessionHeader,
        keep: bool,
    ) -> Result<Option<PathBuf>, StoreError> {
        let Location { directory, stem, .. } = &self.location;
        let file = self.location.open_journal(Access::Write).map_err(self.location.failed("open"))?;
        let moved = if keep { Some(aside::copy(directory, stem, &*file, end.offset)?) } else { None };
        file.set_length(end.offset).map_err(self.location.failed("cut a torn write from"))?;
        if end.offset == 0 {
            let (line, checksum) = header::line(header)?;
            file.write_all_at(&line, 0).map_err(self.location.failed("write"))?;
            *end = JournalEnd::at(line.len() as u64, checksum, true);
            end.rewrite = Some(0);
        }
        end.unsynced = true;
        end.file = Some(file);
        Ok(moved)
    }

    /// Appends records, in one write. The end must be known.
    ///
    /// A write that fails half-way is undone.
    pub(super) fn append(&mut self, records: &[RawJson], durable: bool) -> Result<(), StoreError> {
        let Self { location, end } = self;
        let end = end.as_mut().expect("the end was found");
        if let Some(fault) = end.fault.clone() {
            return Err(fault.error(location, end.offset));
        }
        let mut lines = Vec::with_capacity(records.iter().map(|record| record.len() + 32).sum());
        let mut checksum = end.checksum;
        for record in records {
            let written = line::write(&mut lines, checksum, record.as_str().as_bytes());
            checksum = written.map_err(location.failed("write to"))?;
        }
        let offset = end.offset;
        let written = end.open(location)?.write_all_at(&lines, offset).map_err(|source| ("write to", source));
        let synced = written
            .and_then(|()| if durable { end.sync().map_err(|source| ("sync", source)) } else { Ok(()) });
        match synced {
            Ok(()) => {
                end.offset += lines.len() as u64;
                end.checksum = checksum;
                end.unsynced = !durable;
                Ok(())
            }
            Err((action, source)) => {
                end.undo_append(action == "sync", &source);
                Err(location.failed(action)(source))
            }
        }
    }

    /// Closes the file, after making its records durable where `durable` is set.
    pub(super) fn sync(&mut self, durable: bool) -> Result<(), StoreError> {
        let Self { location, end } = self;
        let Some(end) = end.as_mut() else { return Ok(()) };
        if let Some(fault @ AppendFault::Stopped(_)) = end.fault.clone() {
            return Err(fault.error(location, end.offset));
        }
        if durable && end.unsynced && end.fault.is_none() {
            end.open(location)?;
            if let Err(source) = end.sync() {
                end.stop(&source);
                return Err(location.failed("sync")(source));
            }
            end.unsynced = false;
        }
        end.file = None;
        Ok(())
    }

    /// Returns whether [`sync`](Self::sync) has to wait for the disk.
    pub(super) fn is_unsynced(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.unsynced)
    }

    /// Returns how many bytes of valid records are durable, where that is known.
    pub(super) fn synced(&self) -> Option<u64> {
        self.end.as_ref().filter(|end| !end.unsynced && end.fault.is_none()).map(|end| end.offset)
    }

    /// Returns a reader of the current records. The end must be known.
    pub(super) fn reader(&self) -> Result<Reader, StoreError> {
        let end = self.end.as_ref().expect("the end was found");
        let file = self.location.open_journal(Access::Read).map_err(self.location.failed("open"))?;
        let fault = match &end.fault {
            Some(fault @ AppendFault::Damaged(_)) => Some(fault.clone()),
            _ => None,
        };
        Ok(Reader::to_end(self.location.clone(), file, end.offset, fault))
    }
}

impl JournalEnd {
    fn at(offset: u64, checksum: u32, unsynced: bool) -> Self {
        Self { offset, checksum, file: None, unsynced, rewrite: None, fault: None }
    }

    /// Returns the file, opened for writing. It ends with the valid records.
    fn open(&mut self, location: &Location) -> Result<&dyn RawFile, StoreError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let file = location.open_journal(Access::Write).map_err(location.failed("open"))?;
                if file.length().map_err(location.failed("open"))? != self.offset {
                    let reason = "another program has changed the file".to_owned();
                    self.fault = Some(AppendFault::Damaged(reason.clone()));
                    return Err(location.damaged(self.offset, reason));
                }
                file
            }
        };
        Ok(&**self.file.insert(file))
    }

    /// Makes the open file durable, with all earlier records.
    fn sync(&mut self) -> io::Result<()> {
        let file = self.file.as_deref().expect("the file was opened");
        if let Some(mut offset) = self.rewrite {
            let mut buffer = vec![0; 64 << 10];
            while offset < self.offset {
                let most =
                    usize::try_from(self.offset - offset).map_or(buffer.len(), |left| left.min(buffer.len()));
                let read = file.read_at(&mut buffer[..most], offset)?;
                if read == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                file.write_all_at(&buffer[..read], offset)?;
                offset += read as u64;
            }
        }
        file.sync()?;
        self.rewrite = None;
        Ok(())
    }

    /// Truncates the rest of a failed append. If that fails, or a failed sync leaves the state of the disk unknown, nothing
    /// more is appended.
    fn undo_append(&mut self, unsure: bool, cause: &io::Error) {
        let cut = self.file.as_ref().map(|file| file.set_length(self.offset));
        if unsure || !matches!(cut, Some(Ok(()))) {
            self.stop(cause);
        }
    }

    /// Refuses further appends. After a failed sync the operating system may mark pages as clean that it has not written,
    /// and the next sync succeeds without them.
    fn stop(&mut self, cause: &io::Error) {
        self.fault = Some(AppendFault::Stopped(cause.to_string()));
        self.file = None;
    }
}
