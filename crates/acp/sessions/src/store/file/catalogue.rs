//! A cache of the headers of all sessions, for lists. A list locks no session, so other stores may change the files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use agentwire_files::Version;
use agentwire_jsonrpc::WithCauses;

use super::directory::{Directory, failed};
use super::header::{self, HeaderError};
use super::locks::Locks;
use super::name::{self, FileKind};
use super::session::Warnings;
use crate::{SessionHeader, StoreError, StoreWarning};

/// A cache of the headers. A list reads only those whose files have changed.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    entries: HashMap<String, CatalogueEntry>,
    /// The sessions whose headers could not be read.
    failed: HashSet<String>,
}

#[derive(Debug)]
struct CatalogueEntry {
    version: Option<Version>,
    /// `None` if the session is left out.
    header: Option<Arc<SessionHeader>>,
}

/// Returns the files of each session, by the stems of their names. Ignores other files.
pub(super) fn files(directory: &Directory) -> Result<BTreeMap<String, Vec<FileKind>>, StoreError> {
    let mut files = BTreeMap::<_, Vec<_>>::new();
    for name in directory.list()? {
        if let Some((stem, kind)) = FileKind::parse(&name) {
            files.entry(stem.to_owned()).or_default().push(kind);
        }
    }
    // A session that is about to be created, or was just deleted, has a lock file and no other.
    files.retain(|stem, kinds| *kinds != [FileKind::Lock] && name::session_id(stem).is_some());
    Ok(files)
}

impl Catalogue {
    /// Returns the current headers of all sessions. Completes or reverts operations of a store that were cut off.
    pub(super) fn read(
        &mut self,
        directory: &Directory,
        locks: &Arc<Locks>,
        warnings: &Warnings,
    ) -> Result<Vec<Arc<SessionHeader>>, StoreError> {
        let files = files(directory)?;
        self.entries.retain(|stem, _| files.contains_key(stem));
        self.failed.retain(|stem| files.contains_key(stem));
        let mut headers = Vec::with_capacity(files.len());
        for (stem, kinds) in files {
            match self.read_one(directory, locks, &stem, &kinds, warnings) {
                Ok(header) => {
                    self.failed.remove(&stem);
                    headers.extend(header);
                }
                // The other sessions are listed all the same. This is reported once, and retried with the next list.
                Err(error) => {
                    if self.failed.insert(stem.clone()) {
                        let (file, reason) =
                            (directory.file(&stem, FileKind::Header), WithCauses::new(&error));
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
        kinds: &[FileKind],
        warnings: &Warnings,
    ) -> Result<Option<Arc<SessionHeader>>, StoreError> {
        // Read before the header, so that a header that is replaced in between is read again the next time.
        let version = directory.version(stem, FileKind::Header)?;
        let unfinished = kinds.contains(&FileKind::NewHeader) || kinds.contains(&FileKind::Deleted);
        match self.entries.get(stem) {
            Some(entry) if !unfinished && entry.version == version => return Ok(entry.header.clone()),
            _ => {}
        }
        let header = match header::read(directory, stem) {
            Ok(stored) if !unfinished && stored.synced.is_some() => Some(stored.header),
            Err(HeaderError::Unsupported(reason)) => {
                let file = directory.file(stem, FileKind::Header);
                warnings.lock().push(StoreWarning::LeftOut { file, reason });
                None
            }
            Err(HeaderError::Io(source)) => {
                return Err(failed("read", &directory.file(stem, FileKind::Header))(source));
            }
            read => {
                let plain = read.ok().map(|stored| stored.header);
                match recover(locks, stem, warnings) {
                    Some(recovered) => recovered?,
                    None => return Ok(plain.map(Arc::new)),
                }
            }
        };
        let header = header.map(Arc::new);
        self.entries.insert(stem.to_owned(), CatalogueEntry { version, header: header.clone() });
        Ok(header)
    }
}

/// Returns the header of a session after completing or reverting an operation that was cut off. Returns `None` while the
/// session is in use.
fn recover(
    locks: &Arc<Locks>,
    stem: &str,
    warnings: &Warnings,
) -> Option<Result<Option<SessionHeader>, StoreError>> {
    let handle = locks.try_lock(&name::session_id(stem)?).ok()?;
    let mut files = handle.files.try_lock().ok()?;
    Some(files.load(warnings).map(|present| present.map(|present| present.header.clone())))
}
