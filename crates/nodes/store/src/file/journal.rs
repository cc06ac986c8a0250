//! The journal file: reads, appends and rewrites the changes of a store, and keeps damaged files aside.

use std::io::{self, BufReader};
use std::time::{Duration, Instant};

use agentwire_files::line::{self, Line, Lines};
use agentwire_files::{Access, Part, RawFile};

use super::batch::Failure;
use super::change::{Change, FORM};
use super::directory::Directory;
use crate::StoreError;

/// The journal.
const JOURNAL: &str = "journal";

/// The new file while the journal is rewritten.
const NEW: &str = "journal.new";

/// The last journal that was damaged.
const DAMAGED: &str = "journal.damaged";

/// The journal is rewritten once it exceeds twice its size after the last rewriting plus this many bytes.
const GROWTH: u64 = 8 << 20;

/// Bytes that are written at once while the journal is rewritten.
const CHUNK: usize = 1 << 20;

/// How long to wait after a failed write before the next one.
const PAUSE: Duration = Duration::from_secs(1);

/// The journal. The thread of the store alone uses it.
#[derive(Debug)]
pub(super) struct Journal {
    directory: Directory,
    file: Option<Box<dyn RawFile>>,
    is_synced: bool,
    length: u64,
    checksum: u32,
    /// The length at which it is rewritten.
    limit: u64,
    failed: Option<(Failure, Instant)>,
}

/// The directory of a journal that was read, and the damage found.
#[derive(Debug)]
pub(super) struct Loaded {
    directory: Directory,
    /// The offset of the first damaged byte.
    pub(super) damage: Option<u64>,
}

/// Calls a function with each change of the journal in a directory.
///
/// # Errors
///
/// When the file cannot be read, or a later version has written it.
pub(super) fn load(directory: Directory, mut each: impl FnMut(Change)) -> Result<Loaded, StoreError> {
    let files = &directory.files;
    let exists =
        |name: &str| files.version(name.as_ref()).map(|found| found.is_some()).map_err(StoreError::away);
    if !exists(JOURNAL)? {
        if !exists(NEW)? {
            return Ok(Loaded { directory, damage: None });
        }
        // The process ended after it had moved the damaged journal aside. The new one was complete before that.
        files.rename(NEW.as_ref(), JOURNAL.as_ref()).map_err(StoreError::away)?;
    }
    let file = files.open(JOURNAL.as_ref(), Access::Read).and_then(Part::all).map_err(StoreError::away)?;
    let mut lines = Lines::new(BufReader::new(file));
    let unreadable = |reason| StoreError::damaged(format!("the journal cannot be read: {reason}"));
    let mut is_first = true;
    let damage = loop {
        match lines.read().map_err(StoreError::away)? {
            Line::Text(text) if std::mem::take(&mut is_first) => {
                if text != FORM {
                    return Err(unreadable("it has another version".to_owned()));
                }
            }
            Line::Text(text) => each(Change::read(&text).map_err(unreadable)?),
            Line::Damaged(_) => break Some(lines.offset()),
            Line::Torn | Line::End => break None,
        }
    };
    drop(lines);
    Ok(Loaded { directory, damage })
}

impl Journal {
    /// Rewrites the journal. Keeps the file that was read if it is damaged.
    pub(super) fn create(loaded: Loaded, changes: &[Change], is_synced: bool) -> io::Result<Self> {
        let Loaded { directory, damage } = loaded;
        let mut journal =
            Self { directory, file: None, is_synced, length: 0, checksum: 0, limit: 0, failed: None };
        journal.rewrite(changes, damage.is_some())?;
        Ok(journal)
    }

    /// Whether the next write must replace the file: the file is too large, or a failed append may have left a part.
    pub(super) fn must_rewrite(&self) -> bool {
        self.failed.is_some() || self.length > self.limit
    }

    /// The failure after which writes are paused, while the pause lasts.
    pub(super) fn pause(&self) -> Option<Failure> {
        let (failure, since) = self.failed.as_ref()?;
        (since.elapsed() < PAUSE).then(|| failure.clone())
    }

    pub(super) fn append(&mut self, changes: &[Change]) -> Result<(), Failure> {
        let written = self.try_append(changes);
        self.note(written)
    }

    fn try_append(&mut self, changes: &[Change]) -> io::Result<()> {
        let (mut lines, mut text, mut checksum) = (Vec::new(), Vec::new(), self.checksum);
        for change in changes {
            change.write(&mut text);
            checksum = line::write(&mut lines, checksum, &text)?;
        }
        let file = self.file.as_ref().ok_or_else(|| io::Error::other("it is not open"))?;
        file.write_all_at(&lines, self.length)?;
        if self.is_synced {
            file.sync()?;
        }
        self.checksum = checksum;
        self.length += lines.len() as u64;
        Ok(())
    }

    /// Replaces the journal by these changes.
    pub(super) fn replace(&mut self, changes: &[Change]) -> Result<(), Failure> {
        let written = self.rewrite(changes, false);
        self.note(written)
    }

    /// Writes a new file and renames it over the old one. The old file is kept as `journal.damaged` if it is damaged.
    fn rewrite(&mut self, changes: &[Change], is_damaged: bool) -> io::Result<()> {
        let files = &self.directory.files;
        // An earlier process may have left one.
        files.remove(NEW.as_ref())?;
        let file = files.open(NEW.as_ref(), Access::Create)?;
        let (mut lines, mut text, mut length) = (Vec::new(), Vec::new(), 0);
        let mut checksum = line::write(&mut lines, 0, FORM)?;
        for change in changes {
            if lines.len() >= CHUNK {
                file.write_all_at(&lines, length)?;
                length += lines.len() as u64;
                lines.clear();
            }
            change.write(&mut text);
            checksum = line::write(&mut lines, checksum, &text)?;
        }
        file.write_all_at(&lines, length)?;
        length += lines.len() as u64;
        // Also if appends are not synced: a crash after the rename, but before the content is on disk, would lose everything.
        file.sync()?;
        if is_damaged {
            files.rename(JOURNAL.as_ref(), DAMAGED.as_ref())?;
        }
        files.rename(NEW.as_ref(), JOURNAL.as_ref())?;
        files.sync()?;
        (self.file, self.length, self.checksum) = (Some(file), length, checksum);
        self.limit = 2 * length + GROWTH;
        Ok(())
    }

    fn note(&mut self, written: io::Result<()>) -> Result<(), Failure> {
        match written {
            Ok(()) => {
                self.failed = None;
                Ok(())
            }
            Err(error) => {
                let failure = Failure::from(error);
                self.failed = Some((failure.clone(), Instant::now()));
                Err(failure)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: usize) -> Change {
        Change::Name { name: number.to_string(), owner: None, expires: 1 }
    }

    fn names(path: &std::path::Path) -> (Loaded, Vec<Change>) {
        let mut changes = Vec::new();
        let loaded = load(Directory::open(path).unwrap(), |change| changes.push(change)).unwrap();
        (loaded, changes)
    }

    #[test]
    fn after_a_failed_write_everything_is_written_anew() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let mut journal = Journal::create(names(&path).0, &[name(1)], true).unwrap();
        journal.append(&[name(2)]).unwrap();
        // A file that cannot be written.
        journal.file = Some(journal.directory.files.open(JOURNAL.as_ref(), Access::Read).unwrap());
        let failure = journal.append(&[name(3)]).unwrap_err();
        assert!(matches!(StoreError::from(failure), StoreError::Away(_)));
        assert!(journal.must_rewrite() && journal.pause().is_some());
        journal.replace(&[name(1), name(2), name(3)]).unwrap();
        assert!(!journal.must_rewrite() && journal.pause().is_none());
        journal.append(&[name(4)]).unwrap();
        drop(journal);
        assert_eq!(names(&path).1, (1..=4).map(name).collect::<Vec<_>>());
    }

    /// A process may end between any two steps of rewriting the journal.
    #[test]
    fn a_journal_that_is_being_written_anew_does_not_count() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        drop(Journal::create(names(&path).0, &[name(1)], false).unwrap());
        std::fs::write(path.join(NEW), b"0000").unwrap();
        assert_eq!(names(&path).1, [name(1)]);
        // The damaged one was moved aside.
        std::fs::rename(path.join(JOURNAL), path.join(NEW)).unwrap();
        assert_eq!(names(&path).1, [name(1)]);
        assert!(path.join(JOURNAL).exists());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_says_so_and_is_written_to_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let mut journal = Journal::create(names(&path).0, &[name(1)], true).unwrap();
        journal.file = Some(Box::new(std::fs::File::options().write(true).open("/dev/full").unwrap()));
        let failure = StoreError::from(journal.append(&[name(2)]).unwrap_err());
        let text = agentwire_jsonrpc::WithCauses::new(&failure).to_string();
        assert!(matches!(failure, StoreError::Full(_)), "{text}");
        assert!(text.contains("No space left on device"), "{text}");
        journal.replace(&[name(1), name(2)]).unwrap();
        drop(journal);
        assert_eq!(names(&path).1, [name(1), name(2)]);
    }
}
