//! Journals of sessions, as they are read from a disk.
//!
//! The first byte selects the use of the rest: as the file itself, or as records, one a line, whose file is then changed at
//! a place. The latter gets past the checksums.

use std::fs;
use std::path::PathBuf;

use agentwire_acp_sessions::{FileStore, Fsync, SessionHeader, SessionStore};
use agentwire_jsonrpc::RawJson;
use futures::StreamExt;
use futures::executor::block_on;
use tempfile::TempDir;

/// Reading ends, gives the same again, and gives nothing that was not written.
pub(crate) fn run(bytes: &[u8]) {
    let Some((mode, rest)) = bytes.split_first() else { return };
    let session = Session::new();
    let original = fs::read(&session.journal).expect("it was written");
    if mode % 2 == 0 {
        fs::write(&session.journal, rest).expect("there is room");
        session.reads_the_same_again();
        return;
    }
    let (change, records) = rest.split_at(rest.len().min(4));
    let records: Vec<_> = records.split(|byte| *byte == b'\n').take(64).map(record).collect();
    let store = session.open().expect("the store was closed");
    block_on(store.append(&"one".into(), &records)).expect("there is room");
    drop(store);
    let mut file = fs::read(&session.journal).expect("it was written");
    assert!(file.starts_with(&original), "what was there stays");
    if let [operation, high, low, byte] = change {
        let place = usize::from(u16::from_be_bytes([*high, *low])) % file.len();
        match operation % 4 {
            0 => file[place] ^= byte,
            1 => file.truncate(place),
            2 => file.insert(place, *byte),
            _ => drop(file.remove(place)),
        }
    }
    fs::write(&session.journal, &file).expect("there is room");
    let read = session.reads_the_same_again();
    let written: Vec<_> = records.iter().map(RawJson::as_str).collect();
    let shared = read.iter().zip(&written).take_while(|(read, written)| read == written).count();
    assert_eq!(shared, read.len(), "a record that was never written");
}

fn record(line: &[u8]) -> RawJson {
    RawJson::encode(&String::from_utf8_lossy(line)).expect("text is JSON")
}

/// A store with one session that has no records.
struct Session {
    directory: TempDir,
    journal: PathBuf,
}

impl Session {
    fn new() -> Self {
        let directory = TempDir::new().expect("there is room");
        let store = FileStore::open(directory.path()).expect("it is empty").fsync(Fsync::Never);
        block_on(store.create(&SessionHeader::new("one", "/project"))).expect("there is room");
        drop(store);
        let files = fs::read_dir(directory.path()).expect("it is there").flatten().map(|entry| entry.path());
        let journal =
            files.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "journal"));
        let journal = journal.expect("a session has a journal");
        Self { directory, journal }
    }

    fn open(&self) -> Option<FileStore> {
        FileStore::open(self.directory.path()).ok().map(|store| store.fsync(Fsync::Never))
    }

    fn reads_the_same_again(&self) -> Vec<String> {
        let first = self.read();
        assert_eq!(first, self.read(), "reading changes what is read");
        first
    }

    /// The records in front of whatever is wrong.
    fn read(&self) -> Vec<String> {
        let Some(store) = self.open() else { return Vec::new() };
        block_on(async {
            let Ok(Some(session)) = store.read(&"one".into()).await else { return Vec::new() };
            let records = session.records.map(|record| record.map(|record| record.as_str().to_owned()));
            records
                .take_while(|record| std::future::ready(record.is_ok()))
                .map(Result::unwrap_or_default)
                .collect()
                .await
        })
    }
}
