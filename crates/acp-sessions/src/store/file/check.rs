//! Finds damaged sessions, and makes them usable again.

use std::fmt;
use std::sync::Arc;

use agentwire_acp_schema::v1::SessionId;

use super::directory::{Directory, failed};
use super::header::{self, Stored, Unread};
use super::journal::{self, Journal, Place, Scan};
use super::locks::Locks;
use super::name::{self, Kind};
use super::session::{replace, restore};
use super::system::Access;
use super::{aside, catalogue};
use crate::{SessionHeader, StoreError};

/// What [`FileStore::check`](super::FileStore::check) or [`FileStore::repair`](super::FileStore::repair) found of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionCheck {
    /// Names the session.
    pub session_id: SessionId,
    /// How many records can be read.
    pub records: u64,
    /// What is damaged. Nothing where the session is sound.
    pub damage: Vec<Damage>,
}

impl SessionCheck {
    /// Whether nothing is damaged, or all of it was repaired.
    pub fn is_sound(&self) -> bool {
        self.damage.iter().all(|damage| matches!(damage.repair, Repair::Done(_)))
    }
}

/// Something that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// Where: a file, or an offset in one.
    pub place: String,
    /// What is wrong there.
    pub reason: String,
    /// What was done about it.
    pub repair: Repair,
}

/// What was done about something damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// Nothing was to be done.
    NotTried,
    /// The session can be used again: what was kept of it, and where the rest is.
    Done(String),
    /// It is as it was, and this is why.
    Failed(String),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// Examines all sessions.
pub(super) fn check(directory: &Arc<Directory>) -> Result<Vec<SessionCheck>, StoreError> {
    let examined = catalogue::files(directory)?.into_keys().map(|stem| examine(&place(directory, stem)?));
    Ok(examined.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Examines all sessions, and repairs those that are damaged.
pub(super) fn repair(directory: &Arc<Directory>) -> Result<Vec<SessionCheck>, StoreError> {
    let locks = Locks::new(Arc::clone(directory));
    let mut checks = Vec::new();
    for stem in catalogue::files(directory)?.into_keys() {
        let place = place(directory, stem)?;
        let Some(check) = examine(&place)? else { continue };
        checks.push(if check.damage.is_empty() { check } else { repair_one(&locks, &place, check)? });
    }
    Ok(checks)
}

fn place(directory: &Arc<Directory>, stem: String) -> Result<Place, StoreError> {
    let session_id =
        name::session_id(&stem).ok_or_else(|| StoreError::other("a name that is no session's"))?;
    Ok(Place { directory: Arc::clone(directory), session_id, stem })
}

/// What there is of a session, and what is wrong with it.
fn examine(place: &Place) -> Result<Option<SessionCheck>, StoreError> {
    let Place { directory, session_id, stem } = place;
    let has = |kind| directory.version(stem, kind).map(|version| version.is_some());
    if !has(Kind::Header)?
        && (has(Kind::Deleted)?
            || !has(Kind::Journal)?
            || has(Kind::NewHeader)? && !journal::has_records(place)?)
    {
        // It was being deleted or created.
        return Ok(None);
    }
    let mut check = SessionCheck { session_id: session_id.clone(), records: 0, damage: Vec::new() };
    let mut damaged = |place, reason| check.damage.push(Damage { place, reason, repair: Repair::NotTried });
    let header = directory.file(stem, Kind::Header).display().to_string();
    let synced = match read_header(place) {
        Ok(Stored { synced: Some(synced), .. }) => synced,
        Ok(_) => {
            damaged(header, "damaged in its first line".to_owned());
            0
        }
        Err(unread) => {
            damaged(header, unread.reason());
            0
        }
    };
    match journal::scan(place) {
        Ok(scan) => {
            if let Some(reason) = scan.last.fault(scan.offset, synced) {
                damaged(format!("byte {} of {}", scan.offset, place.path().display()), reason);
            }
            check.records = scan.records;
        }
        Err(StoreError::Corrupt { place, reason, .. }) => damaged(place, reason),
        Err(error) => damaged(place.path().display().to_string(), error.to_string()),
    }
    Ok(Some(check))
}

/// Reads a header. Its first line may be replaced right now, and be whole when it is looked at again.
fn read_header(place: &Place) -> Result<Stored, Unread> {
    let read = || header::read(&place.directory, &place.stem);
    (0..2).map(|_| read()).find(|read| !matches!(read, Ok(Stored { synced: None, .. }))).unwrap_or_else(read)
}

/// Repairs a session that is damaged.
fn repair_one(locks: &Arc<Locks>, place: &Place, found: SessionCheck) -> Result<SessionCheck, StoreError> {
    let failed = |mut check: SessionCheck, why: String| {
        check.damage.iter_mut().for_each(|damage| damage.repair = Repair::Failed(why.clone()));
        check
    };
    let _held = match locks.lock(&place.session_id) {
        Ok(held) => held,
        Err(error) => return Ok(failed(found, error.to_string())),
    };
    // It may have been opened, and changed, since it was examined.
    let Some(mut check) = examine(place)? else { return Ok(found) };
    if check.damage.is_empty() {
        return Ok(check);
    }
    match mend(place) {
        Ok(done) => {
            check.damage.iter_mut().for_each(|damage| damage.repair = Repair::Done(done.clone()));
            Ok(check)
        }
        Err(error) => Ok(failed(check, error.to_string())),
    }
}

/// Makes a session usable again, and says what became of it.
fn mend(place: &Place) -> Result<String, StoreError> {
    let Place { directory, session_id, stem } = place;
    let mut done = Vec::new();
    let header = match read_header(place) {
        Ok(Stored { header, synced: Some(_) }) => header,
        Ok(Stored { header, synced: None }) => {
            done.push("its header is kept".to_owned());
            replace(place, header).header
        }
        Err(unread @ (Unread::Closed(_) | Unread::Failed(_))) => {
            let file = directory.file(stem, Kind::Header).display().to_string();
            return Err(StoreError::corrupt(session_id, file, unread.reason()));
        }
        Err(_) => {
            let moved = aside::rename(directory, stem, Kind::Header)?;
            let moved = moved.map(|moved| format!("what there was of its header is now {}", moved.display()));
            let Some(stored) = restore(place)? else {
                done.extend(moved);
                let journal = aside::rename(directory, stem, Kind::Journal)?;
                done.extend(journal.map(|moved| format!("its journal is now {}", moved.display())));
                directory.remove(stem, Kind::NewHeader)?;
                directory.sync()?;
                done.insert(0, "nothing of the session can be read".to_owned());
                return Ok(done.join(", "));
            };
            done.push("its title and times are those of its beginning".to_owned());
            done.extend(moved);
            stored.header
        }
    };
    done.extend(mend_journal(place, &header)?);
    directory.sync()?;
    Ok(done.join(", "))
}

fn mend_journal(place: &Place, header: &SessionHeader) -> Result<Option<String>, StoreError> {
    let Place { directory, stem, .. } = place;
    // How much is durable is to be no more than what is left, before anything is taken away.
    let lower = |synced| {
        header::prepare(directory, stem, header, synced, true)?;
        header::put(directory, stem)?;
        directory.sync()
    };
    if directory.version(stem, Kind::Journal)?.is_none() {
        lower(0)?;
        Journal::create(place.clone(), header, true)?;
        return Ok(Some("its records are lost, and it is begun anew".to_owned()));
    }
    let Scan { records, offset, end, last, .. } = journal::scan(place)?;
    let synced = read_header(place).ok().and_then(|stored| stored.synced).unwrap_or(0);
    if last.fault(offset, synced).is_none() {
        // What else is behind the records is dropped when the session is next opened.
        return Ok(None);
    }
    let path = place.path();
    let file = directory.open_file(stem, Kind::Journal, Access::Write).map_err(failed("open", &path))?;
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
