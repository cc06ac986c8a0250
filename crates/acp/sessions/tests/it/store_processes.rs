//! Stores in separate processes, which are killed or run out of disk space.
//!
//! A test starts such a process from this very program: itself, with the directory in the environment, by which it knows
//! that it is the child.

use std::env;
use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use agentwire_acp_sessions::{FileStore, ListQuery, SessionHeader, SessionStore, StoreError, StoreWarning};
use agentwire_jsonrpc::RawJson;
use futures::executor::block_on;
use tempfile::TempDir;

use crate::store::{open, read_well, record};

/// Where the child finds its directory.
const DIRECTORY: &str = "AGENTWIRE_STORE_DIRECTORY";

/// A process that runs one test of this program, and its stderr.
struct Process {
    child: Child,
    says: Lines<BufReader<ChildStderr>>,
}

impl Process {
    fn start(program: &OsStr, before: &[&str], test: &str, directory: &Path) -> Self {
        let test = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
        let mut child = Command::new(program)
            .args(before)
            .args([&test, "--exact", "--nocapture", "--test-threads=1"])
            .env(DIRECTORY, directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let says = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, says }
    }

    fn run(test: &str, directory: &Path) -> Self {
        Self::start(env::current_exe().unwrap().as_os_str(), &[], test, directory)
    }

    fn hear(&mut self) -> String {
        self.says.next().expect("it says something").unwrap()
    }

    /// Ends it as nothing can be prepared for: SIGKILL, where there is such.
    fn kill(mut self) -> Lines<BufReader<ChildStderr>> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.says
    }
}

fn directory() -> Option<PathBuf> {
    env::var_os(DIRECTORY).map(PathBuf::from)
}

/// Has a session for itself until it is killed.
fn holder(directory: &Path) -> ! {
    let store = open(directory);
    let _claim = block_on(async {
        let claim = store.claim(&"one".into()).await.unwrap();
        store.create(&SessionHeader::new("one", "/project")).await.unwrap();
        store.append(&"one".into(), &[record("held")]).await.unwrap();
        claim
    });
    eprintln!("open");
    loop {
        thread::park();
    }
}

/// The operations on a session that are refused to all but the store that has it.
async fn is_refused(store: &FileStore, session_id: &str) {
    let before = Instant::now();
    let header = SessionHeader::new(session_id, "/elsewhere");
    let session_id = &session_id.into();
    for refused in [
        store.claim(session_id).await.map(drop),
        store.create(&header).await,
        store.append(session_id, &[record("more")]).await,
        store.update_header(&header).await,
        store.delete(session_id).await.map(drop),
    ] {
        let error = refused.unwrap_err();
        assert!(error.to_string().contains(session_id.as_str()), "{error}");
        let StoreError::InUse { session_id: named, .. } = error else { panic!("{error:?}") };
        assert_eq!(named, *session_id);
    }
    assert!(before.elapsed() < Duration::from_secs(60), "nobody waits for a session that is open");
}

#[test]
fn a_session_has_one_store_until_its_process_is_killed() {
    const SELF: &str = "a_session_has_one_store_until_its_process_is_killed";
    if let Some(directory) = directory() {
        holder(&directory);
    }
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("sessions");
    let mut holder = Process::run(SELF, &path);
    assert_eq!(holder.hear(), "open");
    block_on(async {
        // Others use other sessions of the directory at the same time, and see the records of this one.
        let store = open(&path);
        let ids = async |store: &FileStore| -> Vec<_> {
            let listed = store.list(&ListQuery::new()).await.unwrap();
            listed.into_iter().map(|header| header.session_id.to_string()).collect()
        };
        assert_eq!(ids(&store).await, ["one"]);
        assert_eq!(read_well(&store, "one").await, [record("held")]);
        is_refused(&store, "one").await;
        let again = open(&path);
        store.create(&SessionHeader::new("two", "/project")).await.unwrap();
        store.append(&"two".into(), &[record("other")]).await.unwrap();
        let mut listed = ids(&again).await;
        listed.sort_unstable();
        assert_eq!(listed, ["one", "two"], "also what was created since it was opened");
        assert_eq!(read_well(&again, "two").await, [record("other")]);
        is_refused(&again, "two").await;
        drop(store);
        let claim = again.claim(&"two".into()).await.unwrap();
        assert!(again.delete(&"two".into()).await.unwrap());
        drop(claim);
        holder.kill();

        let claim = again.claim(&"one".into()).await.unwrap();
        assert_eq!(read_well(&again, "one").await, [record("held")]);
        again.append(&"one".into(), &[record("more")]).await.unwrap();
        drop(claim);
        // A released session may be claimed by another at once, which finds the changes since.
        let store = open(&path);
        let claim = store.claim(&"one".into()).await.unwrap();
        store.append(&"one".into(), &[record("most")]).await.unwrap();
        is_refused(&again, "one").await;
        drop(claim);
        let _claim = again.claim(&"one".into()).await.unwrap();
        again.append(&"one".into(), &[record("last")]).await.unwrap();
        let all = ["held", "more", "most", "last"].map(record);
        assert_eq!(read_well(&again, "one").await, all);
        assert_eq!(again.take_warnings(), []);
    });
}

/// The record with this number: most are small, some take several pages, so that a kill may tear them.
fn numbered(number: usize) -> RawJson {
    let size = match number % 50 {
        49 => 150_000,
        number if number % 10 == 9 => 6_000,
        number => number * 3,
    };
    record(format!("{number} {}", "x".repeat(size)))
}

/// Appends, and prints how many records are there, until it is killed.
fn appender(directory: &Path) {
    let store = open(directory);
    block_on(async {
        let session_id = &"one".into();
        let mut next = read_well(&store, "one").await.len();
        loop {
            let many = 1 + next % 3;
            let records: Vec<_> = (next..next + many).map(numbered).collect();
            store.append(session_id, &records).await.unwrap();
            next += many;
            // Said after the append has returned, in one write, which a kill leaves out or lets through.
            io::stderr().write_all(format!("{next}\n").as_bytes()).unwrap();
            if next % 7 == 0 {
                store.sync(session_id).await.unwrap();
            }
        }
    });
}

/// Journals, each of which has [`KILLS`].
const JOURNALS: usize = 10;
const MANY_JOURNALS: usize = 200;
const KILLS: usize = 5;

#[test]
fn kills_cost_no_record_that_was_acknowledged() {
    if let Some(directory) = directory() {
        return appender(&directory);
    }
    kill(JOURNALS);
}

mod long {
    use super::*;

    #[test]
    #[ignore = "takes minutes: cargo xtask ci long"]
    fn a_thousand_kills_cost_no_record_that_was_acknowledged() {
        kill(MANY_JOURNALS);
    }
}

fn kill(journals: usize) {
    let mut random = Random(0x5eed);
    let (mut acknowledged, mut torn) = (0, 0);
    for _ in 0..journals {
        let directory = TempDir::new().unwrap();
        block_on(open(&directory).create(&SessionHeader::new("one", "/project"))).unwrap();
        let mut before = 0;
        // One journal for several kills, each of which goes on behind the one before.
        for _ in 0..KILLS {
            let said = append_and_kill(directory.path(), random.below(6_000));
            let store = open(&directory);
            let records = block_on(read_well(&store, "one"));
            assert!(records.len() >= said, "{said} records were acknowledged, {} are there", records.len());
            assert!(
                records.len() <= said + 3,
                "{said} records were acknowledged, {} are there",
                records.len()
            );
            for (number, record) in records.iter().enumerate().skip(before) {
                assert!(*record == numbered(number), "record {number} is {record:.60}");
            }
            for warning in store.take_warnings() {
                assert!(matches!(warning, StoreWarning::TornTail { .. }), "{warning}");
                torn += 1;
            }
            acknowledged += said - before;
            before = records.len();
        }
    }
    let kills = journals * KILLS;
    eprintln!("{acknowledged} records acknowledged between {kills} kills, {torn} writes torn");
    assert!(acknowledged > kills, "the kills come while records are appended");
}

/// Has a process append until it is killed, so many microseconds after it has begun. The number of records of which it
/// said that they are there.
fn append_and_kill(directory: &Path, after: u64) -> usize {
    let mut process = Process::run("kills_cost_no_record_that_was_acknowledged", directory);
    let first = process.hear();
    // Read on a thread of its own, so that no full pipe keeps the process from appending.
    let (sender, heard) = mpsc::channel();
    let Process { mut child, says } = process;
    let listener = thread::spawn(move || says.for_each(|line| sender.send(line.unwrap()).unwrap()));
    thread::sleep(Duration::from_micros(after));
    child.kill().unwrap();
    child.wait().unwrap();
    listener.join().unwrap();
    let last = heard.into_iter().last().unwrap_or(first);
    last.parse().unwrap_or_else(|_| panic!("{last}"))
}

/// Numbers that only look random, so that a failure can be had again.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Appends until nothing more fits.
#[cfg(unix)]
fn on_a_full_disk(directory: &Path) {
    let store = open(directory);
    block_on(async {
        let session_id = &"one".into();
        store.create(&SessionHeader::new("one", "/project")).await.unwrap();
        let mut kept = Vec::new();
        let error = loop {
            let records = [record("x".repeat(1000)), record("y".repeat(kept.len() + 700))];
            match store.append(session_id, &records).await {
                Ok(()) => kept.extend(records),
                Err(error) => break error,
            }
            assert!(kept.len() < 1000, "the disk is full at some time");
        };
        assert!(matches!(error, StoreError::Io { .. }), "{error:?}");
        assert!(!kept.is_empty());
        assert_eq!(read_well(&store, "one").await, kept);
        // What takes less room is kept, behind all that was.
        store.append(session_id, &[record("small")]).await.unwrap();
        kept.push(record("small"));
        assert!(store.append(session_id, &[record("z".repeat(100_000))]).await.is_err());
        assert_eq!(read_well(&store, "one").await, kept);
        drop(store);

        let store = open(directory);
        assert_eq!(read_well(&store, "one").await, kept);
        assert_eq!(store.take_warnings(), []);
    });
    eprintln!("passed");
}

/// A limit on the size of files stands for a full disk: a write gets as far as there is room, and fails.
#[test]
#[cfg(unix)]
fn a_write_that_fails_half_way_is_taken_back() {
    const SELF: &str = "a_write_that_fails_half_way_is_taken_back";
    if let Some(directory) = directory() {
        return on_a_full_disk(&directory);
    }
    let directory = TempDir::new().unwrap();
    let program = env::current_exe().unwrap();
    let limited = ["-c", "trap '' XFSZ; ulimit -f 40; exec \"$0\" \"$@\"", program.to_str().unwrap()];
    let process = Process::start(OsStr::new("sh"), &limited, SELF, directory.path());
    let says: Vec<_> = process.says.map(Result::unwrap).collect();
    assert_eq!(says.last().map(String::as_str), Some("passed"), "{says:#?}");
}
