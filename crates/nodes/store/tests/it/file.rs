//! The store of files.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_store::contract::{Fixture, Test};
use agentwire_store::contract_tests;
use agentwire_store::{
    Clock, EventId, FileStore, FileStoreConfig, NodeId, SessionId, SessionRecord, StoreError, StoreLimits,
    Stores,
};
use futures::executor::block_on;
use futures::future::{BoxFuture, FutureExt, ready};
use tempfile::TempDir;

struct Files {
    directory: TempDir,
    clock: Clock,
    store: Mutex<Option<Arc<FileStore>>>,
}

impl Files {
    fn new() -> Self {
        let files =
            Self { directory: tempfile::tempdir().unwrap(), clock: Clock::manual(), store: Mutex::new(None) };
        files.open();
        files
    }

    fn open(&self) {
        let mut store = self.store.lock().unwrap();
        // The directory is free again once the last reference is gone.
        *store = None;
        *store = Some(Arc::new(open(self.directory.path(), &self.clock).unwrap()));
    }

    fn store(&self) -> Arc<FileStore> {
        self.store.lock().unwrap().clone().unwrap()
    }
}

fn open(path: &Path, clock: &Clock) -> Result<FileStore, StoreError> {
    let limits = StoreLimits::new().session_events(1 << 20);
    // Most file systems of test machines sync slowly, and a test cannot cut the power.
    FileStore::open(
        path.join("store"),
        &FileStoreConfig::new().limits(limits).clock(clock.clone()).synced(false),
    )
}

impl Fixture for Files {
    fn node(&self) -> BoxFuture<'_, Stores> {
        ready(self.store().stores()).boxed()
    }

    fn pass(&self, time: Duration) -> BoxFuture<'_, ()> {
        self.clock.advance(time);
        ready(()).boxed()
    }

    fn session_limit(&self) -> usize {
        1 << 20
    }

    fn size(&self) -> BoxFuture<'_, Option<u64>> {
        let journal = self.directory.path().join("store/journal");
        ready(Some(std::fs::metadata(journal).unwrap().len())).boxed()
    }

    fn expire(&self, node: NodeId) -> BoxFuture<'_, bool> {
        self.store().nodes().expire(node);
        ready(true).boxed()
    }

    fn cut(&self) -> BoxFuture<'_, bool> {
        self.store().bus().interrupt();
        ready(true).boxed()
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        self.open();
        ready(true).boxed()
    }
}

fn run(test: Test) {
    block_on(test(&Files::new()));
}

contract_tests!(run);

/// Opens a session with events in a store.
fn fill(store: &Arc<FileStore>, places: u64) -> SessionId {
    let (stores, session) = (store.stores(), SessionId::random().unwrap());
    let record = SessionRecord::new(None, Vec::new());
    block_on(stores.records.create(session, record, Duration::from_secs(3600))).unwrap();
    for place in 1..=places {
        let event = agentwire_store::Event::new(EventId::new(1, place), "\"an event\"".into());
        block_on(stores.events.append(session, event, false).wait()).unwrap();
    }
    session
}

fn count(store: &Arc<FileStore>, session: SessionId) -> usize {
    block_on(store.stores().events.replay(session, EventId::new(1, 0), usize::MAX)).unwrap().events.len()
}

#[test]
fn a_torn_write_costs_itself_and_damage_what_is_behind_it() {
    let files = Files::new();
    let session = fill(&files.store(), 10);
    let journal = files.directory.path().join("store/journal");
    *files.store.lock().unwrap() = None;
    let whole = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &whole[..whole.len() - 3]).unwrap();
    files.open();
    assert_eq!((count(&files.store(), session), files.store().damage()), (9, None));
    *files.store.lock().unwrap() = None;
    let place = whole.len() - 200;
    let mut damaged = whole.clone();
    damaged[place] ^= 1;
    std::fs::write(&journal, &damaged).unwrap();
    files.open();
    let left = count(&files.store(), session);
    assert!((1..9).contains(&left), "{left}");
    assert!(files.store().damage().is_some_and(|damage| damage <= place as u64));
    assert_eq!(std::fs::read(journal.with_extension("damaged")).unwrap(), damaged);
    files.open();
    assert_eq!((count(&files.store(), session), files.store().damage()), (left, None), "it is repaired");
}

#[test]
fn a_journal_of_a_later_version_is_left_alone() {
    let files = Files::new();
    *files.store.lock().unwrap() = None;
    let journal = files.directory.path().join("store/journal");
    let later = b"00000011 ";
    let text = b"agentwire-store 2";
    let line = [&later[..], format!("{:08x} ", crc(text)).as_bytes(), text, b"\n"].concat();
    std::fs::write(&journal, &line).unwrap();
    let refused = open(files.directory.path(), &files.clock);
    assert!(matches!(refused, Err(StoreError::Damaged(_))), "{refused:?}");
    assert_eq!(std::fs::read(&journal).unwrap(), line);
}

/// The CRC-32 of a text, bit by bit.
fn crc(text: &[u8]) -> u32 {
    !text.iter().fold(!0, |crc: u32, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1)))
    })
}

#[test]
fn one_process_uses_a_directory() {
    let files = Files::new();
    check_refused(&files, "another process uses the directory");
}

/// The directory is refused, and the error names it and the reason.
fn check_refused(files: &Files, why: &str) {
    let refused = open(files.directory.path(), &files.clock).unwrap_err();
    let path = files.directory.path().join("store");
    let expected = format!("{}: {why}", path.display());
    assert!(matches!(&refused, StoreError::Away(cause) if cause.to_string() == expected), "{refused:?}");
}

#[cfg(unix)]
#[test]
fn a_directory_that_others_may_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let files = Files::new();
    *files.store.lock().unwrap() = None;
    let path = files.directory.path().join("store");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
    let why = "the directory has mode 0777, so others may write to it; see what it holds, then run";
    check_refused(&files, &format!("{why} `chmod 700 {}`", path.display()));
}

#[cfg(unix)]
#[test]
fn a_directory_of_another_user_is_refused() {
    use std::os::unix::fs::{MetadataExt, chown};
    let directory = tempfile::tempdir().unwrap();
    // Only root can give a directory away, and all others find root's.
    let is_root = std::fs::metadata(directory.path()).unwrap().uid() == 0;
    if is_root {
        chown(directory.path(), Some(12_345), None).unwrap();
    }
    let path = if is_root { directory.path() } else { "/usr".as_ref() };
    let refused = FileStore::open(path, &FileStoreConfig::new()).unwrap_err();
    let refused = WithCauses::new(&refused).to_string();
    assert!(refused.contains(": the directory belongs to the user number "), "{refused}");
    assert!(refused.ends_with("; use a path of your own"), "{refused}");
}

/// A file that is put in its place would be written to, or read, in the name of the store.
#[cfg(target_os = "linux")]
#[test]
fn a_journal_that_is_no_regular_file_is_refused() {
    let files = Files::new();
    *files.store.lock().unwrap() = None;
    let store = files.directory.path().join("store");
    let (journal, other) = (store.join("journal"), files.directory.path().join("other"));
    std::fs::write(&other, "of another program").unwrap();
    std::fs::remove_file(&journal).unwrap();
    std::os::unix::fs::symlink(&other, &journal).unwrap();
    check_refused(&files, "`journal` is a link, and links are not followed");
    std::fs::remove_file(&journal).unwrap();
    std::fs::create_dir(&journal).unwrap();
    check_refused(&files, "`journal` is not a regular file");
    assert_eq!(std::fs::read(&other).unwrap(), b"of another program");
}

#[test]
fn expired_sessions_are_gone_after_a_restart_with_their_events() {
    let files = Files::new();
    let session = fill(&files.store(), 3);
    files.clock.advance(Duration::from_secs(3601));
    files.open();
    assert_eq!(count(&files.store(), session), 0);
    let journal = files.directory.path().join("store/journal");
    assert!(std::fs::metadata(journal).unwrap().len() < 100);
}

/// The journal is bounded by what it stores, however much was written.
#[test]
fn the_journal_is_written_anew_when_it_has_grown() {
    let files = Files::new();
    let (store, session) = (files.store(), SessionId::random().unwrap());
    let stores = store.stores();
    let record = SessionRecord::new(None, Vec::new());
    block_on(stores.records.create(session, record, Duration::from_secs(3600))).unwrap();
    let data = format!("\"{}\"", "x".repeat(10_000));
    let journal = files.directory.path().join("store/journal");
    let mut largest = 0;
    for place in 1..=4000 {
        let event = agentwire_store::Event::new(EventId::new(1, place), data.clone().into());
        block_on(stores.events.append(session, event, false).wait()).unwrap();
        largest = largest.max(std::fs::metadata(&journal).unwrap().len());
    }
    assert!((8 << 20..12 << 20).contains(&largest), "{largest}");
    drop((stores, store));
    files.open();
    let replay = block_on(files.store().stores().events.replay(session, EventId::new(1, 3990), usize::MAX));
    assert_eq!(replay.unwrap().events.len(), 10);
}
