//! The records of sessions.

use std::time::{Duration, Instant};

use agentwire_jsonrpc::RawJson;
use agentwire_mcp_redis::RedisStore;
use agentwire_store::{EventStore, SessionId, SessionRecord, SessionRecords, StoreError};

use crate::engine::{Engine, until};

const HOUR: Duration = Duration::from_secs(3600);

fn messages(texts: &[&'static str]) -> Vec<RawJson> {
    texts.iter().map(|text| RawJson::parse((*text).into()).unwrap()).collect()
}

pub(crate) async fn check(store: &RedisStore, other: &RedisStore) {
    let session = SessionId::random().unwrap();
    assert_eq!(other.load(session).await.unwrap(), None);
    assert!(!other.touch(session, HOUR).await.unwrap());
    assert_eq!(other.take_streams(session, 64).await.unwrap(), None);
    let record = SessionRecord::new(Some([7; 32]), messages(&[r#"{"a":1}"#, "[2]"]));
    assert!(!other.update(session, record.clone()).await.unwrap());
    assert!(!other.delete(session).await.unwrap());
    store.create(session, record.clone(), HOUR).await.unwrap();
    assert_eq!(other.load(session).await.unwrap(), Some(record.clone()));
    assert!(other.touch(session, HOUR).await.unwrap());

    // Of two updates of the same version, one succeeds.
    let mut changed = record.clone();
    changed.messages = messages(&["3"]);
    let changes = [store.update(session, changed.clone()), other.update(session, changed.clone())];
    let made = futures::future::join_all(changes).await.into_iter().filter(|made| *made.as_ref().unwrap());
    assert_eq!(made.count(), 1);
    changed.version = 1;
    assert_eq!(store.load(session).await.unwrap(), Some(changed.clone()));
    assert!(!store.update(session, record).await.unwrap(), "its version is behind");
    assert!(store.update(session, changed).await.unwrap());

    let takes = (0..100).map(|take| if take % 2 == 0 { store } else { other }.take_streams(session, 64));
    let taken = futures::future::join_all(takes).await;
    let mut numbers: Vec<_> = taken.into_iter().flat_map(|block| block.unwrap().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=6400).collect::<Vec<_>>());

    assert!(store.delete(session).await.unwrap());
    assert!(!other.delete(session).await.unwrap());
    assert_eq!(other.load(session).await.unwrap(), None);
    assert_eq!(other.take_streams(session, 64).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn every_node_sees_the_same_records() {
    let engine = Engine::start().await;
    check(&engine.store().await, &engine.store().await).await;
    assert_eq!(engine.keys().await, [""; 0], "nothing is left of it");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn caller_has_a_bounded_number_of_sessions() {
    let engine = Engine::start().await;
    let config = || engine.config().owner_sessions(3);
    let [store, other] =
        [RedisStore::connect(config()).await.unwrap(), RedisStore::connect(config()).await.unwrap()];
    let record = |owner: Option<&str>| {
        let mut record = SessionRecord::new(None, Vec::new());
        record.owner = owner.map(Into::into);
        record
    };
    let open = async |store: &RedisStore, owner, time| {
        let session = SessionId::random().unwrap();
        store.open(session, owner);
        store.create(session, record(owner), time).await.map(|()| session)
    };
    let short = Duration::from_millis(600);
    let used = open(&store, Some("ada"), short).await.unwrap();
    for _ in 0..2 {
        open(&other, Some("ada"), HOUR).await.unwrap();
    }
    let full = open(&store, Some("ada"), HOUR).await;
    assert!(matches!(full, Err(StoreError::Full(_))), "{full:?}");
    for owner in [Some("bob"), None, None, None, None] {
        open(&store, owner, HOUR).await.unwrap();
    }
    // A session stays in the list while any node uses it.
    assert_eq!(other.load(used).await.unwrap(), Some(record(Some("ada"))));
    let start = Instant::now();
    while start.elapsed() < 2 * short {
        assert!(other.touch(used, short).await.unwrap());
        tokio::time::sleep(short / 20).await;
    }
    assert!(open(&store, Some("ada"), HOUR).await.is_err());
    // An unused session expires, and a deleted one leaves the list.
    let mut opened = None;
    until(async || {
        opened = open(&store, Some("ada"), HOUR).await.ok();
        opened.is_some()
    })
    .await;
    assert!(open(&store, Some("ada"), HOUR).await.is_err());
    assert!(store.delete(opened.unwrap()).await.unwrap());
    open(&store, Some("ada"), HOUR).await.unwrap();
    assert_eq!(engine.run("ZCARD test:o:ada").await, redis::Value::Int(3));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn record_expires_unless_it_is_used() {
    let engine = Engine::start().await;
    let store = engine.store().await;
    let (used, unused) = (SessionId::random().unwrap(), SessionId::random().unwrap());
    let record = SessionRecord::new(None, Vec::new());
    for session in [used, unused] {
        store.create(session, record.clone(), Duration::from_millis(500)).await.unwrap();
        store.take_streams(session, 1).await.unwrap();
    }
    let key = format!("test:{{{unused}}}:s");
    until(async || {
        assert!(store.touch(used, Duration::from_millis(500)).await.unwrap());
        !engine.keys().await.contains(&key)
    })
    .await;
    assert_eq!(store.load(unused).await.unwrap(), None);
    assert_eq!(store.take_streams(used, 1).await.unwrap(), Some(2..3));
    until(async || engine.keys().await.is_empty()).await;
}
