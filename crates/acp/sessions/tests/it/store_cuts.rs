//! Journals that are cut off or damaged at every byte, within the synced bytes and after them.

use std::fs;
use std::path::PathBuf;

use agentwire_acp_sessions::{FileStore, Fsync, SessionHeader, SessionStore, StoreError, StoreWarning};
use agentwire_jsonrpc::RawJson;
use futures::executor::block_on;
use tempfile::TempDir;

use crate::store::{file, open, read, read_well, record};

/// A directory with one session, `one`, and what is in its journal.
struct Journal {
    directory: TempDir,
    path: PathBuf,
    bytes: Vec<u8>,
    header: Vec<u8>,
    records: Vec<RawJson>,
}

impl Journal {
    /// A journal that the disk holds to its end.
    async fn synced() -> Self {
        Self::with_fsync(Fsync::EveryTurn).await
    }

    /// A journal of which the disk need not hold anything.
    async fn unsynced() -> Self {
        Self::with_fsync(Fsync::Never).await
    }

    async fn with_fsync(fsync: Fsync) -> Self {
        let directory = TempDir::new().unwrap();
        let records: Vec<_> =
            ["a", "", "Ünïcödé 🦀", "\n\\\"", "a", "the last"].into_iter().map(record).collect();
        let store = open(&directory).fsync(fsync);
        store.create(&SessionHeader::new("one", "/project")).await.unwrap();
        store.append(&"one".into(), &records[..2]).await.unwrap();
        store.append(&"one".into(), &records[2..]).await.unwrap();
        store.sync(&"one".into()).await.unwrap();
        drop(store);
        let path = file(directory.path(), ".journal");
        let bytes = fs::read(&path).unwrap();
        let header = fs::read(path.with_extension("header")).unwrap();
        Self { directory, path, bytes, header, records }
    }

    /// The offsets behind the ends of lines: behind what the file begins with, then behind each record.
    fn ends(&self) -> Vec<usize> {
        let ends =
            self.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(offset, _)| offset + 1);
        let ends: Vec<_> = ends.collect();
        assert_eq!(ends.len(), self.records.len() + 1, "a line is a record");
        ends
    }

    /// Opens the store with these bytes as the journal.
    fn with(&self, bytes: &[u8]) -> FileStore {
        fs::write(&self.path, bytes).unwrap();
        fs::write(self.path.with_extension("header"), &self.header).unwrap();
        open(&self.directory)
    }
}

#[test]
fn torn_write_is_dropped_and_reported_wherever_it_is_cut() {
    block_on(async {
        let journal = Journal::unsynced().await;
        let ends = journal.ends();
        for cut in 0..=journal.bytes.len() {
            // After a power cut, what was not written may read as zeros.
            for zeros in [0, 1, 100] {
                let torn = [&journal.bytes[..cut], &vec![0; zeros]].concat();
                let good = ends.iter().rev().copied().find(|end| *end <= cut).unwrap_or(0);
                let whole = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
                check_cut(&journal, &torn, good, &journal.records[..whole]).await;
            }
        }
    });
}

/// A power cut may take any page of what was never synced, and leave what is behind it.
#[test]
fn hole_after_the_synced_bytes_is_a_torn_write() {
    block_on(async {
        let journal = Journal::unsynced().await;
        let ends = journal.ends();
        for offset in 0..journal.bytes.len() {
            for length in [1, 7, 64] {
                let mut bytes = journal.bytes.clone();
                let end = bytes.len().min(offset + length);
                bytes[offset..end].fill(0);
                let good = ends.iter().rev().copied().find(|end| *end <= offset).unwrap_or(0);
                let whole = ends.iter().filter(|end| **end <= offset).count().saturating_sub(1);
                check_cut(&journal, &bytes, good, &journal.records[..whole]).await;
            }
        }
    });
}

/// The dropped part of a journal, except the beginning of a record, is kept in a file of its own, until the session is deleted.
#[test]
fn whole_lines_after_a_hole_are_moved_to_an_aside_file() {
    block_on(async {
        let journal = Journal::unsynced().await;
        let [.., second, _] = journal.ends()[..] else { panic!("there are records") };
        let mut bytes = journal.bytes.clone();
        bytes[second - 3] = 0;
        let store = journal.with(&bytes);
        store.append(&"one".into(), &[record("more")]).await.unwrap();
        let warnings = store.take_warnings();
        let [StoreWarning::TornTail { offset, bytes: dropped, moved: Some(moved), .. }] = &warnings[..]
        else {
            panic!("{warnings:?}")
        };
        assert_eq!(fs::read(moved).unwrap(), bytes[usize::try_from(*offset).unwrap()..]);
        assert_eq!(*offset + *dropped, bytes.len() as u64);
        assert!(warnings[0].to_string().contains(moved.to_str().unwrap()), "{}", warnings[0]);
        assert!(store.delete(&"one".into()).await.unwrap());
        assert_eq!(fs::read_dir(&journal.directory).unwrap().count(), 0);
    });
}

/// An emptied journal is one of these.
#[test]
fn missing_synced_bytes_are_an_error_wherever_the_journal_is_cut() {
    block_on(async {
        let journal = Journal::synced().await;
        let ends = journal.ends();
        for cut in 0..journal.bytes.len() {
            for zeros in [0, 1, 100] {
                let bytes = [&journal.bytes[..cut], &vec![0; zeros]].concat();
                let good = ends.iter().filter(|end| **end <= cut).count();
                check_damage(&journal, &bytes, &journal.records[..good.saturating_sub(1)], good > 0).await;
            }
        }
    });
}

/// Records that were appended behind the synced ones may be cut off anywhere.
#[test]
fn the_synced_length_grows_with_each_sync() {
    block_on(async {
        let journal = Journal::synced().await;
        let store = open(&journal.directory).fsync(Fsync::EveryTurn);
        store.append(&"one".into(), &[record("unsynced")]).await.unwrap();
        drop(store);
        let bytes = fs::read(&journal.path).unwrap();
        let [first, last] = [journal.bytes.len(), bytes.len() - 1];
        for cut in [first, first + 1, last] {
            let store = journal.with(&bytes[..cut]);
            assert_eq!(read_well(&store, "one").await, journal.records);
        }
        let store = journal.with(&bytes).fsync(Fsync::EveryTurn);
        store.append(&"one".into(), &[record("more")]).await.unwrap();
        store.sync(&"one".into()).await.unwrap();
        drop(store);
        for cut in [first, first + 1, last, fs::read(&journal.path).unwrap().len() - 1] {
            let bytes = fs::read(&journal.path).unwrap();
            fs::write(&journal.path, &bytes[..cut]).unwrap();
            let (_, error) = read(&open(&journal.directory), "one").await;
            assert!(matches!(error, Some(StoreError::Corrupt { .. })), "{error:?}");
            fs::write(&journal.path, &bytes).unwrap();
        }
    });
}

/// Checks the records and the report, and that the session goes on. Half of the time the first operation is
/// an append, as when a session is resumed.
async fn check_cut(journal: &Journal, torn: &[u8], good: usize, whole: &[RawJson]) {
    let context = format!("{:?}", String::from_utf8_lossy(torn));
    let store = journal.with(torn);
    let append_first = torn.len().is_multiple_of(2);
    if append_first {
        store.append(&"one".into(), &[record("more")]).await.unwrap();
    } else {
        assert_eq!(read_well(&store, "one").await, whole, "{context}");
        store.append(&"one".into(), &[record("more")]).await.unwrap();
    }
    let told = store.take_warnings();
    match &told[..] {
        [] => assert!(good == torn.len() && good != 0, "nothing told of {context}"),
        [StoreWarning::TornTail { session_id, file, offset, bytes, moved, .. }] => {
            assert!(good != torn.len() || good == 0, "{told:?} of {context}");
            assert_eq!((session_id.as_str(), file), ("one", &journal.path));
            assert_eq!((*offset, *bytes), (good as u64, (torn.len() - good) as u64), "{context}");
            // A directory of hundreds of such files would be most of what the next store reads.
            moved.iter().for_each(|aside| fs::remove_file(aside).unwrap());
        }
        _ => panic!("{told:?} of {context}"),
    }
    drop(store);
    let store = open(&journal.directory);
    assert_eq!(read_well(&store, "one").await, [whole, &[record("more")]].concat(), "{context}");
    assert_eq!(store.take_warnings(), []);
}

#[test]
fn changed_byte_is_an_error_after_the_valid_records() {
    block_on(async {
        let journal = Journal::synced().await;
        let ends = journal.ends();
        for offset in 0..journal.bytes.len() {
            let byte = journal.bytes[offset];
            for other in [byte ^ 1, byte ^ 0x20, byte ^ 0x80, b'\n', b'0', b' ', 0] {
                if other != byte {
                    let mut bytes = journal.bytes.clone();
                    bytes[offset] = other;
                    let good = ends.iter().filter(|end| **end <= offset).count();
                    check_damage(&journal, &bytes, &journal.records[..good.saturating_sub(1)], good > 0)
                        .await;
                }
            }
        }
    });
}

#[test]
fn a_line_that_is_lost_or_doubled_or_moved_is_an_error() {
    block_on(async {
        let journal = Journal::synced().await;
        let lines: Vec<_> = journal.bytes.split_inclusive(|byte| *byte == b'\n').collect();
        for line in 0..lines.len() {
            let good = &journal.records[..line.saturating_sub(1)];
            let lost = [&lines[..line], &lines[line + 1..]].concat().concat();
            check_damage(&journal, &lost, good, line > 0).await;
            // Behind the last line is what the disk need not hold.
            if line == lines.len() - 1 {
                continue;
            }
            let mut moved = lines.clone();
            moved.swap(line, line + 1);
            check_damage(&journal, &moved.concat(), good, line > 0).await;
            let doubled = [&lines[..=line], &lines[line..]].concat().concat();
            check_damage(&journal, &doubled, &journal.records[..line], true).await;
        }
    });
}

/// Checks that exactly this comes back, then the error, and that nothing is changed.
async fn check_damage(journal: &Journal, bytes: &[u8], good: &[RawJson], begins: bool) {
    let context = format!("{:?}", String::from_utf8_lossy(bytes));
    let store = journal.with(bytes);
    let (records, error) = read(&store, "one").await;
    assert_eq!(records, good, "{context}");
    let Some(StoreError::Corrupt { place, .. }) = error else { panic!("{error:?} of {context}") };
    assert!(place.contains(journal.path.to_str().unwrap()), "{place}");
    assert_eq!(place.starts_with("byte 0 "), !begins, "{place} of {context}");
    let appended = store.append(&"one".into(), &[record("more")]).await;
    assert!(matches!(appended, Err(StoreError::Corrupt { .. })), "{appended:?} of {context}");
    store.sync(&"one".into()).await.unwrap();
    assert_eq!(store.take_warnings(), []);
    assert_eq!(fs::read(&journal.path).unwrap(), bytes);
    assert!(store.delete(&"one".into()).await.unwrap(), "what is damaged can be deleted");
}

#[test]
fn changed_byte_of_a_header_is_reported() {
    block_on(async {
        let journal = Journal::unsynced().await;
        let path = file(journal.directory.path(), ".header");
        let header = fs::read(&path).unwrap();
        for offset in 0..header.len() {
            for change in [1, 0x20, 0x80] {
                let mut changed = header.clone();
                changed[offset] ^= change;
                fs::write(&path, &changed).unwrap();
                let store = open(&journal.directory);
                let warnings = store.take_warnings();
                assert!(matches!(&warnings[..], [StoreWarning::HeaderRestored { .. }]), "{warnings:?}");
                assert_eq!(read_well(&store, "one").await, journal.records);
                drop(store);
                assert_eq!(fs::read(&path).unwrap(), header);
            }
        }
    });
}
