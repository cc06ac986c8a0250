//! The store in a file, between processes that are killed. The processes are this test binary, started with a filter.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use agentwire_mcp_auth::store::{CredentialStore as _, FileStore};
use tempfile::TempDir;
use tokio::time::timeout;

use super::{text, write};

/// Names what a helper process does, and the path of its store.
const ROLE: &str = "AGENTWIRE_TEST_STORE_ROLE";
const STORE: &str = "AGENTWIRE_TEST_STORE_PATH";

/// How often each helper counts.
const COUNTS: usize = 12;

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials.json");
    (folder, path)
}

/// A helper process. It writes its steps as lines to its stderr, and is killed with SIGKILL when it is dropped.
struct Helper {
    child: Child,
    lines: BufReader<ChildStderr>,
}

impl Helper {
    fn start(role: &str, path: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["store::process::helper", "--exact", "--nocapture"]).env(ROLE, role).env(STORE, path);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap());
        Self { child, lines }
    }

    /// The next line; an empty text when the process has ended.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Kills the process. Returns the lines that it had still said.
    fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        rest.lines().map(str::to_owned).collect()
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say(line: impl std::fmt::Display) {
    let mut stderr = std::io::stderr().lock();
    stderr.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// The work of a helper process; nothing in the process of the tests.
#[tokio::test]
async fn helper() {
    let (Ok(role), Some(path)) = (std::env::var(ROLE), std::env::var_os(STORE)) else { return };
    let store = FileStore::open(PathBuf::from(path)).unwrap();
    match role.as_str() {
        "write" => loop {
            let last: u64 = text(&store, "a").await.unwrap().parse().unwrap();
            write(&store, "a", &(last + 1).to_string()).await.unwrap();
            say(last + 1);
        },
        "hold" => {
            let _held = store.lock("a").await.unwrap();
            say("held");
            std::future::pending().await
        }
        "count" => {
            for _ in 0..COUNTS {
                let _held = store.lock("a").await.unwrap();
                count(&store.path().with_file_name("counter"));
                say("counted");
            }
        }
        role => panic!("no role {role}"),
    }
}

/// Adds one to the number in a file, which is whole at each moment, without any lock of its own.
fn count(path: &Path) {
    let number: usize = fs::read_to_string(path).unwrap().parse().unwrap();
    std::thread::sleep(Duration::from_millis(1));
    let new = path.with_extension(std::process::id().to_string());
    fs::write(&new, (number + 1).to_string()).unwrap();
    fs::rename(new, path).unwrap();
}

#[tokio::test]
async fn an_acknowledged_write_survives_fifty_kills() {
    let (_folder, path) = place();
    let store = FileStore::open(&path).unwrap();
    write(&store, "other", "kept").await.unwrap();
    write(&store, "a", "0").await.unwrap();
    let mut last: u64 = 0;
    for round in 0..50_u64 {
        let mut writer = Helper::start("write", &path);
        for _ in 0..=round % 3 {
            last = writer.line().parse().unwrap();
        }
        std::thread::sleep(Duration::from_micros(round * 37 % 1_500));
        last = writer.kill().iter().map(|line| line.parse().unwrap()).next_back().unwrap_or(last);
        // The last write may be done without being said.
        let now: u64 = text(&store, "a").await.unwrap().parse().unwrap();
        assert!(now == last || now == last + 1, "{last} was acknowledged, {now} is there");
        assert_eq!(text(&store, "other").await.as_deref(), Some("kept"));
        last = now;
    }
    write(&store, "a", "done").await.unwrap();
}

#[tokio::test]
async fn the_end_of_a_process_releases_its_lock() {
    let (_folder, path) = place();
    let store = FileStore::open(&path).unwrap();
    let mut holder = Helper::start("hold", &path);
    assert_eq!(holder.line(), "held");
    assert!(timeout(Duration::from_millis(200), store.lock("a")).await.is_err());
    // One that waits is killed as well: neither of its locks stays.
    let waiter = Helper::start("hold", &path);
    tokio::time::sleep(Duration::from_millis(100)).await;
    drop(waiter);
    holder.kill();
    timeout(crate::DEADLINE, store.lock("a")).await.expect("the lock is free").unwrap();
}

#[tokio::test]
async fn eight_processes_count_exactly() {
    let (_folder, path) = place();
    let counter = path.with_file_name("counter");
    fs::write(&counter, "0").unwrap();
    let helpers: Vec<Helper> = (0..8).map(|_| Helper::start("count", &path)).collect();
    let ends = helpers.into_iter().enumerate().map(|(n, mut helper)| {
        std::thread::spawn(move || {
            if n >= 3 {
                let counted =
                    std::iter::from_fn(|| Some(helper.line()).filter(|line| !line.is_empty())).count();
                assert!(helper.child.wait().unwrap().success());
                return counted;
            }
            // Killed at some point of a later turn.
            let counted = (0..2 + n).map(|_| assert_eq!(helper.line(), "counted")).count();
            counted + helper.kill().len()
        })
    });
    let counted: Vec<usize> = ends.collect::<Vec<_>>().into_iter().map(|end| end.join().unwrap()).collect();
    assert!(counted.iter().skip(3).all(|counted| *counted == COUNTS), "{counted:?}");
    let (said, there) = (counted.iter().sum::<usize>(), fs::read_to_string(&counter).unwrap());
    let there: usize = there.parse().unwrap();
    // Each of the three that were killed may have counted once more without saying it.
    assert!((said..=said + 3).contains(&there), "{said} were said, {there} were counted");
}
