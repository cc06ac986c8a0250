//! The file of the changes since the last time that it was rewritten.

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

/// A journal that is being rewritten.
const NEW: &str = "journal.new";

/// The last journal that was damaged.
const DAMAGED: &str = "journal.damaged";

/// The journal is rewritten when it is larger than twice its size after the last time, and this many bytes.
const GROWTH: u64 = 8 << 20;

/// Bytes that are written at once while the journal is rewritten.
const CHUNK: usize = 1 << 20;

/// How long after a failed write no other is tried.
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

/// How a journal was read.
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
/// When the file cannot be read, or was written by a later version.
pub(super) fn load(directory: Directory, mut each: impl FnMut(Change)) -> Result<Loaded, StoreError> {
    let files = &directory.files;
    let exists =
        |name: &str| files.version(name.as_ref()).map(|found| found.is_some()).map_err(StoreError::away);
    if !exists(JOURNAL)? {
        if !exists(NEW)? {
            return Ok(Loaded { directory, damage: None });
        }
        // The damaged journal was moved aside, and then the process ended. The new one was complete before that.
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
                    return Err(unreadable("its version is another".to_owned()));
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
    /// Rewrites the journal, and keeps the file that was read aside if that is damaged.
    pub(super) fn create(loaded: Loaded, changes: &[Change], is_synced: bool) -> io::Result<Self> {
        let Loaded { directory, damage } = loaded;
        let mut journal =
            Self { directory, file: None, is_synced, length: 0, checksum: 0, limit: 0, failed: None };
        journal.rewrite(changes, damage.is_some())?;
        Ok(journal)
    }

    /// Whether the next write is of all changes. An append that has failed may have left anything.
    pub(super) fn must_rewrite(&self) -> bool {
        self.failed.is_some() || self.length > self.limit
    }

    /// Why nothing is written now: a write has failed a short time ago.
    pub(super) fn pause(&self) -> Option<Failure> {
        let (failure, since) = self.failed.as_ref()?;
        (since.elapsed() < PAUSE).then(|| failure.clone())
    }

    /// Appends changes.
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

    /// Writes a new file, and puts it in place of the old one, which is kept under another name if it is damaged.
    fn rewrite(&mut self, changes: &[Change], is_damaged: bool) -> io::Result<()> {
        let files = &self.directory.files;
        // A process that has ended may have left one.
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
        // Also where appends are not synced: a file whose name is durable before its content would lose all.
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
