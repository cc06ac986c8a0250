//! A process that is killed while it writes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use agentwire_store::{Event, EventId, FileStore, FileStoreConfig, SessionId, SessionRecord};
use futures::executor::block_on;

/// Names the directory for the process that is killed.
const DIRECTORY: &str = "AGENTWIRE_STORE_KILLED";

/// The name of this test, for the process that is killed.
const TEST: &str = "killed::acknowledged_writes_survive_a_kill";

#[test]
fn acknowledged_writes_survive_a_kill() {
    if let Ok(directory) = std::env::var(DIRECTORY) {
        return write(directory.as_ref());
    }
    let directory = tempfile::tempdir().unwrap();
    for round in 1..=5 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", TEST, "--nocapture"])
            .env(DIRECTORY, directory.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let session = lines.find_map(|line| Some(line.split_once("session ")?.1.to_owned())).unwrap();
        let session = SessionId::parse(session.as_bytes()).unwrap();
        lines.find(|line| line == &format!("{}", 100 * round)).unwrap();
        child.kill().unwrap();
        // All that it has said before its end.
        let last = lines.filter_map(|line| line.parse().ok()).last().unwrap_or(100 * round);
        child.wait().unwrap();
        let store = open(directory.path());
        assert_eq!(store.damage(), None);
        let stores = store.stores();
        let replay = block_on(stores.events.replay(session, EventId::new(1, 0), usize::MAX)).unwrap();
        let places: Vec<u64> = replay.events.iter().map(|event| event.id.place).collect();
        assert!(places.len() as u64 >= last, "{} of {last} events", places.len());
        assert_eq!(places, (1..=places.len() as u64).collect::<Vec<_>>());
    }
}

fn open(directory: &std::path::Path) -> Arc<FileStore> {
    Arc::new(FileStore::open(directory.join("store"), &FileStoreConfig::new().synced(false)).unwrap())
}

/// Appends events and prints the place of each, until it is killed.
fn write(directory: &std::path::Path) {
    let (store, session) = (open(directory), SessionId::random().unwrap());
    let (stores, record) = (store.stores(), SessionRecord::new(None, Vec::new()));
    block_on(stores.records.create(session, record, Duration::from_secs(3600))).unwrap();
    let mut out = std::io::stdout();
    writeln!(out, "session {session}").unwrap();
    for place in 1.. {
        let event = Event::new(EventId::new(1, place), "\"an event\"".into());
        block_on(stores.events.append(session, event, false).wait()).unwrap();
        if writeln!(out, "{place}").is_err() {
            return;
        }
    }
}
