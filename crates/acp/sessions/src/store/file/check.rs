//! Finds damaged sessions, and repairs them.

use std::fmt;
use std::sync::Arc;

use agentwire_acp_schema::v1::SessionId;
use agentwire_files::Access;
use agentwire_jsonrpc::WithCauses;

use super::directory::{Directory, failed};
use super::header::{self, HeaderError, HeaderFile};
use super::journal::Journal;
use super::location::Location;
use super::locks::Locks;
use super::name::{self, FileKind};
use super::scan::{Scan, fault, has_records, scan};
use super::session::{replace, restore};
use super::{aside, catalogue};
use crate::{SessionHeader, StoreError};

/// The result of [`FileStore::check`](super::FileStore::check) or [`FileStore::repair`](super::FileStore::repair) for a
/// session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionCheck {
    /// The session.
    pub session_id: SessionId,
    /// How many records are valid.
    pub records: u64,
    /// The damage. Empty where the session is sound.
    pub damage: Vec<Damage>,
}

impl SessionCheck {
    /// Returns whether nothing is damaged, or all damage was repaired.
    pub fn is_sound(&self) -> bool {
        self.damage.iter().all(|damage| matches!(damage.repair, Repair::Done(_)))
    }
}

/// A damaged part of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// The place: a file, or an offset in one.
    pub place: String,
    /// The fault at that place.
    pub reason: String,
    /// The outcome of the repair.
    pub repair: Repair,
}

/// The outcome of the repair of a damage.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// No repair was tried.
    NotTried,
    /// The session can be used again. The text has the kept part, and the new place of the rest.
    Done(String),
    /// The session is unchanged. The text is the reason.
    Failed(String),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// Checks all sessions.
pub(super) fn check(directory: &Arc<Directory>) -> Result<Vec<SessionCheck>, StoreError> {
    let checks = catalogue::files(directory)?.into_keys().map(|stem| check_one(&location(directory, stem)?));
    Ok(checks.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Checks all sessions, and repairs those that are damaged.
pub(super) fn repair(directory: &Arc<Directory>) -> Result<Vec<SessionCheck>, StoreError> {
    let locks = Locks::new(Arc::clone(directory));
    let mut checks = Vec::new();
    for stem in catalogue::files(directory)?.into_keys() {
        let location = location(directory, stem)?;
        let Some(check) = check_one(&location)? else { continue };
        checks.push(if check.damage.is_empty() { check } else { repair_one(&locks, &location, check)? });
    }
    Ok(checks)
}

fn location(directory: &Arc<Directory>, stem: String) -> Result<Location, StoreError> {
    let session_id =
        name::session_id(&stem).ok_or_else(|| StoreError::other("a name that is not a session's"))?;
    Ok(Location { directory: Arc::clone(directory), session_id, stem })
}

/// Checks a session. Returns `None` if there is none.
fn check_one(location: &Location) -> Result<Option<SessionCheck>, StoreError> {
    let Location { directory, session_id, stem } = location;
    let has = |kind| directory.version(stem, kind).map(|version| version.is_some());
    if !has(FileKind::Header)?
        && (has(FileKind::Deleted)?
            || !has(FileKind::Journal)?
            || has(FileKind::NewHeader)? && !has_records(location)?)
    {
        // Its deletion or its creation was cut off.
        return Ok(None);
    }
    let mut check = SessionCheck { session_id: session_id.clone(), records: 0, damage: Vec::new() };
    let mut damaged = |place, reason| check.damage.push(Damage { place, reason, repair: Repair::NotTried });
    let header = directory.file(stem, FileKind::Header).display().to_string();
    let synced = match read_header(location) {
        Ok(HeaderFile { synced: Some(synced), .. }) => synced,
        Ok(_) => {
            damaged(header, "damaged in its first line".to_owned());
            0
        }
        Err(error) => {
            damaged(header, error.reason());
            0
        }
    };
    match scan(location) {
        Ok(scan) => {
            if let Some(reason) = fault(&scan.last, scan.offset, synced) {
                damaged(format!("byte {} of {}", scan.offset, location.journal().display()), reason);
            }
            check.records = scan.records;
        }
        Err(StoreError::Corrupt { place, reason, .. }) => damaged(place, reason),
        Err(error) => damaged(location.journal().display().to_string(), WithCauses::new(&error).to_string()),
    }
    Ok(Some(check))
}

/// Reads a header. Its first line may be being overwritten, and be whole when it is read again.
fn read_header(location: &Location) -> Result<HeaderFile, HeaderError> {
    let read = || header::read(&location.directory, &location.stem);
    (0..2)
        .map(|_| read())
        .find(|read| !matches!(read, Ok(HeaderFile { synced: None, .. })))
        .unwrap_or_else(read)
}

/// Repairs a damaged session.
fn repair_one(
    locks: &Arc<Locks>,
    location: &Location,
    found: SessionCheck,
) -> Result<SessionCheck, StoreError> {
    let failed = |mut check: SessionCheck, why: String| {
        check.damage.iter_mut().for_each(|damage| damage.repair = Repair::Failed(why.clone()));
        check
    };
    let _handle = match locks.lock(&location.session_id) {
        Ok(handle) => handle,
        Err(error) => return Ok(failed(found, WithCauses::new(&error).to_string())),
    };
    // It may have been opened and changed since the first check.
    let Some(mut check) = check_one(location)? else { return Ok(found) };
    if check.damage.is_empty() {
        return Ok(check);
    }
    match repair_files(location) {
        Ok(done) => {
            check.damage.iter_mut().for_each(|damage| damage.repair = Repair::Done(done.clone()));
            Ok(check)
        }
        Err(error) => Ok(failed(check, WithCauses::new(&error).to_string())),
    }
}

/// Makes a session usable again, and returns what was done.
fn repair_files(location: &Location) -> Result<String, StoreError> {
    let Location { directory, session_id, stem } = location;
    let mut done = Vec::new();
    let header = match read_header(location) {
        Ok(HeaderFile { header, synced: Some(_) }) => header,
        Ok(HeaderFile { header, synced: None }) => {
            done.push("its header is kept".to_owned());
            replace(location, header).header
        }
        Err(error @ (HeaderError::Unsupported(_) | HeaderError::Io(_))) => {
            let file = directory.file(stem, FileKind::Header).display().to_string();
            return Err(StoreError::corrupt(session_id, file, error.reason()));
        }
        Err(_) => {
            let moved = aside::rename(directory, stem, FileKind::Header)?;
            let moved = moved.map(|moved| format!("what there was of its header is now {}", moved.display()));
            let Some(stored) = restore(location)? else {
                done.extend(moved);
                let journal = aside::rename(directory, stem, FileKind::Journal)?;
                done.extend(journal.map(|moved| format!("its journal is now {}", moved.display())));
                directory.remove(stem, FileKind::NewHeader)?;
                directory.sync()?;
                done.insert(0, "nothing of the session can be read".to_owned());
                return Ok(done.join(", "));
            };
            done.push("its title and times are those of its beginning".to_owned());
            done.extend(moved);
            stored.header
        }
    };
    done.extend(repair_journal(location, &header)?);
    directory.sync()?;
    Ok(done.join(", "))
}

fn repair_journal(location: &Location, header: &SessionHeader) -> Result<Option<String>, StoreError> {
    let Location { directory, stem, .. } = location;
    // The count of durable bytes must never exceed the journal, so it is lowered before the journal is truncated.
    let lower = |synced| {
        header::prepare(directory, stem, header, synced, true)?;
        header::put(directory, stem)?;
        directory.sync()
    };
    if directory.version(stem, FileKind::Journal)?.is_none() {
        lower(0)?;
        Journal::create(location.clone(), header, true)?;
        return Ok(Some("its records are lost, and its journal is created again".to_owned()));
    }
    let Scan { records, offset, end, last, .. } = scan(location)?;
    let synced = read_header(location).ok().and_then(|stored| stored.synced).unwrap_or(0);
    if fault(&last, offset, synced).is_none() {
        // The rest is dropped when the session is opened next.
        return Ok(None);
    }
    let path = location.journal();
    let file = directory.open_file(stem, FileKind::Journal, Access::Write).map_err(failed("open", &path))?;
    let mut done = format!("kept {records} records");
    if offset < end {
        let moved = aside::copy(directory, stem, &*file, offset)?;
        done = format!("{done}, moved {} bytes to {}", end - offset, moved.display());
    }
    lower(offset)?;
    let cut = || {
        file.set_length(offset)?;
        file.sync()
    };
    cut().map_err(failed("cut", &path))?;
    if offset == 0 {
        let (line, _) = header::line(header)?;
        file.write_all_at(&line, 0).and_then(|()| file.sync()).map_err(failed("write to", &path))?;
    }
    Ok(Some(done))
}
