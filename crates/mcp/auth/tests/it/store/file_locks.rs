//! The store in a file: locks of keys.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use agentwire_mcp_auth::store::{CredentialStore as _, FileStore};
use tempfile::TempDir;
use tokio::time::{Instant, sleep, timeout};

use crate::DEADLINE;

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials.json");
    (folder, path)
}

/// Long enough for several attempts.
const WHILE: Duration = Duration::from_millis(150);

#[tokio::test]
async fn two_stores_of_one_process_exclude_each_other() {
    let (_folder, path) = place();
    let (one, other) = (FileStore::open(&path).unwrap(), FileStore::open(&path).unwrap());
    let held = one.lock("a").await.unwrap();
    for store in [&one, &other] {
        assert!(timeout(WHILE, store.lock("a")).await.is_err());
        timeout(DEADLINE, store.lock("b")).await.expect("another key is free").unwrap();
    }
    super::write(&other, "a", "1").await.unwrap();
    let waiting = other.lock("a");
    let (_, locked) = tokio::join!(
        async {
            sleep(WHILE).await;
            drop(held)
        },
        timeout(DEADLINE, waiting)
    );
    let _held = locked.unwrap().unwrap();
    assert!(timeout(WHILE, one.lock("a")).await.is_err());
}

#[tokio::test]
async fn dropped_waiters_leave_nothing() {
    let (_folder, path) = place();
    let (one, other) = (FileStore::open(&path).unwrap(), FileStore::open(&path).unwrap());
    let held = one.lock("a").await.unwrap();
    for n in 0..40_u64 {
        let _ = timeout(Duration::from_micros(n * 200), other.lock("a")).await;
    }
    drop(held);
    // The virtual clock counts the pauses between attempts, and not the time in which the machine does something else.
    tokio::time::pause();
    let began = Instant::now();
    drop(timeout(DEADLINE, other.lock("a")).await.unwrap().unwrap());
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    #[cfg(unix)]
    {
        let locks = path.with_file_name("credentials.json.locks");
        assert_eq!(std::fs::read_dir(locks).unwrap().count(), 0, "lock files of free keys are removed");
    }
}

/// One store takes the lock again and again and is free for a moment only; seven wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiters_do_not_starve() {
    let (_folder, path) = place();
    let done = Arc::new(AtomicBool::new(false));
    let greedy = tokio::spawn({
        let (store, done) = (FileStore::open(&path).unwrap(), Arc::clone(&done));
        async move {
            while !done.load(Ordering::Relaxed) {
                let held = store.lock("a").await.unwrap();
                sleep(Duration::from_millis(20)).await;
                drop(held);
            }
        }
    });
    sleep(Duration::from_millis(20)).await;
    let waiters = (0..7).map(|_| {
        let store = FileStore::open(&path).unwrap();
        tokio::spawn(async move { drop(store.lock("a").await.unwrap()) })
    });
    let all = futures::future::join_all(waiters);
    let ended = timeout(DEADLINE / 2, all).await.expect("a waiter starves");
    ended.into_iter().for_each(|waiter| waiter.unwrap());
    done.store(true, Ordering::Relaxed);
    greedy.await.unwrap();
}

/// Many tasks that share a store poll one at a time: each waits for those before it and no longer. The virtual clock counts the
/// pauses between attempts.
#[tokio::test(start_paused = true)]
async fn a_thousand_tasks_take_turns() {
    let (_folder, path) = place();
    let store = FileStore::open(&path).unwrap();
    let inside = Arc::new(AtomicUsize::new(0));
    let tasks = (0..1_000).map(|_| {
        let (store, inside) = (store.clone(), Arc::clone(&inside));
        async move {
            let held = store.lock("a").await.unwrap();
            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
            tokio::task::yield_now().await;
            inside.fetch_sub(1, Ordering::SeqCst);
            drop(held);
        }
    });
    timeout(Duration::from_secs(5), futures::future::join_all(tasks)).await.unwrap();
}
