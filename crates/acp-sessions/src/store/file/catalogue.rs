//! The headers of all sessions, for lists. Nothing is locked for them: other stores may change what is listed meanwhile.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::directory::{Directory, failed};
use super::header::{self, Unread};
use super::locks::Locks;
use super::name::{self, Kind};
use super::session::Warnings;
use super::system::Version;
use crate::{SessionHeader, StoreError, StoreWarning};

/// The headers that were read last. Only those are read again whose files were changed since.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    listed: HashMap<String, Listed>,
    /// Those that could not be read.
    failed: HashSet<String>,
}

#[derive(Debug)]
struct Listed {
    version: Option<Version>,
    /// `None` where the session is left out.
    header: Option<Arc<SessionHeader>>,
}

/// Which files there are of which session, by the stems of their names. Other files are not ours.
pub(super) fn files(directory: &Directory) -> Result<BTreeMap<String, Vec<Kind>>, StoreError> {
    let mut files = BTreeMap::<_, Vec<_>>::new();
    for name in directory.list()? {
        if let Some((stem, kind)) = Kind::parse(&name) {
            files.entry(stem.to_owned()).or_default().push(kind);
        }
    }
    // Whoever is about to create a session, or has just deleted it, has a lock and no more.
    files.retain(|stem, kinds| *kinds != [Kind::Lock] && name::session_id(stem).is_some());
    Ok(files)
}

impl Catalogue {
    /// The headers of all sessions that there are now. What was being created, changed or deleted when a store was cut off is
    /// brought to its end.
    pub(super) fn read(
        &mut self,
        directory: &Directory,
        locks: &Arc<Locks>,
        warnings: &Warnings,
    ) -> Result<Vec<Arc<SessionHeader>>, StoreError> {
        let files = files(directory)?;
        self.listed.retain(|stem, _| files.contains_key(stem));
        self.failed.retain(|stem| files.contains_key(stem));
        let mut headers = Vec::with_capacity(files.len());
        for (stem, kinds) in files {
            match self.read_one(directory, locks, &stem, &kinds, warnings) {
                Ok(header) => {
                    self.failed.remove(&stem);
                    headers.extend(header);
                }
                // The others are none the worse for it. It is told once, and tried again with the next list.
                Err(error) => {
                    if self.failed.insert(stem.clone()) {
                        let (file, reason) = (directory.file(&stem, Kind::Header), error.to_string());
                        let reason = format!("not readable: {reason}");
                        warnings.lock().push(StoreWarning::LeftOut { file, reason });
                    }
                }
            }
        }
        Ok(headers)
    }

    fn read_one(
        &mut self,
        directory: &Directory,
        locks: &Arc<Locks>,
        stem: &str,
        kinds: &[Kind],
        warnings: &Warnings,
    ) -> Result<Option<Arc<SessionHeader>>, StoreError> {
        // Asked for before it is read: what is replaced meanwhile is read again the next time.
        let version = directory.version(stem, Kind::Header)?;
        let unfinished = kinds.contains(&Kind::NewHeader) || kinds.contains(&Kind::Deleted);
        match self.listed.get(stem) {
            Some(listed) if !unfinished && listed.version == version => return Ok(listed.header.clone()),
            _ => {}
        }
        let header = match header::read(directory, stem) {
            Ok(stored) if !unfinished && stored.synced.is_some() => Some(stored.header),
            Err(Unread::Closed(reason)) => {
                let file = directory.file(stem, Kind::Header);
                warnings.lock().push(StoreWarning::LeftOut { file, reason });
                None
            }
            Err(Unread::Failed(source)) => {
                return Err(failed("read", &directory.file(stem, Kind::Header))(source));
            }
            read => {
                let plain = read.ok().map(|stored| stored.header);
                match tidied(locks, stem, warnings) {
                    Some(tidied) => tidied?,
                    None => return Ok(plain.map(Arc::new)),
                }
            }
        };
        let header = header.map(Arc::new);
        self.listed.insert(stem.to_owned(), Listed { version, header: header.clone() });
        Ok(header)
    }
}

/// The header of a session, once it is brought to an end what was under way. `None` where somebody is at work on it.
fn tidied(
    locks: &Arc<Locks>,
    stem: &str,
    warnings: &Warnings,
) -> Option<Result<Option<SessionHeader>, StoreError>> {
    let held = locks.try_lock(&name::session_id(stem)?).ok()?;
    let mut files = held.files.try_lock().ok()?;
    Some(files.load(warnings).map(|present| present.map(|present| present.header.clone())))
}
