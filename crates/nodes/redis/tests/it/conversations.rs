//! The sessions of an ACP agent.

use agentwire_acp_sessions::{ListQuery, SessionHeader, SessionStore, StoreError, Timestamp};
use agentwire_jsonrpc::RawJson;
use agentwire_mcp_redis::RedisStore;
use futures::TryStreamExt;

use crate::engine::{Engine, until};

fn header(id: &str, cwd: &str, updated: u64) -> SessionHeader {
    SessionHeader::new(id.to_owned(), cwd).updated(Timestamp::from_millis(updated))
}

async fn list(store: &RedisStore, query: ListQuery) -> Vec<String> {
    let headers = SessionStore::list(store, &query).await.unwrap();
    headers.into_iter().map(|header| header.session_id.as_str().to_owned()).collect()
}

fn records(numbers: std::ops::Range<usize>) -> Vec<RawJson> {
    numbers.map(|number| RawJson::encode(&number).unwrap()).collect()
}

pub(crate) async fn check(store: &RedisStore, other: &RedisStore) {
    let first = header("a}{%7d", "/one", 5);
    SessionStore::create(store, &first).await.unwrap();
    let again = SessionStore::create(other, &first).await;
    assert!(matches!(again, Err(StoreError::Exists { .. })), "{again:?}");
    for (id, cwd, updated) in [("b", "/two", 9), ("d", "/one", 7), ("c", "/one", 7)] {
        SessionStore::create(store, &header(id, cwd, updated)).await.unwrap();
    }
    assert_eq!(list(other, ListQuery::new()).await, ["b", "c", "d", "a}{%7d"]);
    assert_eq!(list(other, ListQuery::new().cwd(Some("/one".into())).limit(2)).await, ["c", "d"]);
    let after = header("c", "/one", 7).position();
    assert_eq!(list(other, ListQuery::new().after(after)).await, ["d", "a}{%7d"]);

    let id = &first.session_id;
    SessionStore::append(store, id, &records(0..300)).await.unwrap();
    SessionStore::append(other, id, &records(300..301)).await.unwrap();
    let read = SessionStore::read(other, id).await.unwrap().unwrap();
    assert_eq!(read.header, first);
    assert_eq!(read.records.try_collect::<Vec<_>>().await.unwrap(), records(0..301));
    let changed = first.clone().title("Title".to_owned()).updated(Timestamp::from_millis(99));
    SessionStore::update_header(store, &changed).await.unwrap();
    assert_eq!(SessionStore::read(other, id).await.unwrap().unwrap().header, changed);
    assert_eq!(list(other, ListQuery::new().limit(1)).await, ["a}{%7d"]);

    let claim = store.claim(id).await.unwrap();
    let refused = other.claim(id).await.unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
    drop(claim);
    until(async || other.claim(id).await.is_ok()).await;

    let read = SessionStore::read(other, id).await.unwrap().unwrap();
    assert!(SessionStore::delete(store, id).await.unwrap());
    assert!(!SessionStore::delete(other, id).await.unwrap());
    let cut = read.records.try_collect::<Vec<_>>().await;
    assert!(matches!(cut, Err(StoreError::NotFound { .. })), "{cut:?}");
    assert!(SessionStore::read(other, id).await.unwrap().is_none());
    let gone = [
        SessionStore::append(store, id, &records(0..1)).await,
        SessionStore::update_header(store, &changed).await,
    ];
    assert!(gone.iter().all(|gone| matches!(gone, Err(StoreError::NotFound { .. }))), "{gone:?}");
    for id in ["b", "c", "d"] {
        assert!(SessionStore::delete(other, &id.to_owned().into()).await.unwrap());
    }
    assert_eq!(list(store, ListQuery::new()).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn every_process_sees_the_same_sessions() {
    let engine = Engine::start().await;
    check(&engine.store().await, &engine.store().await).await;
    until(async || engine.keys().await.is_empty()).await;
}

/// The claim of a paused process expires. Another process takes the session and goes on, and the first cannot write.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn process_that_has_lost_its_claim_cannot_write() {
    let engine = Engine::start().await;
    let lease = std::time::Duration::from_millis(600);
    let connect = || RedisStore::connect(engine.config().lease(lease));
    let (store, other) = (connect().await.unwrap(), connect().await.unwrap());
    let session = header("a", "/one", 5);
    let id = &session.session_id;
    SessionStore::create(&store, &session).await.unwrap();
    let claim = store.claim(id).await.unwrap();
    SessionStore::append(&store, id, &records(0..1)).await.unwrap();
    // The claim is renewed.
    tokio::time::sleep(lease * 2).await;
    assert!(matches!(other.claim(id).await, Err(StoreError::InUse { .. })));
    // As if the first process had been paused for longer than its claim lasts.
    engine.run("SET test:a:{a}:c 00 PX 1").await;
    until(async || engine.run("EXISTS test:a:{a}:c").await == redis::Value::Int(0)).await;
    let later = other.claim(id).await.unwrap();
    SessionStore::append(&other, id, &records(1..2)).await.unwrap();
    let refused = async |store: &RedisStore| {
        let appended = SessionStore::append(store, id, &records(9..10)).await;
        let updated = SessionStore::update_header(store, &session).await;
        matches!(appended, Err(StoreError::InUse { .. })) && matches!(updated, Err(StoreError::InUse { .. }))
    };
    assert!(refused(&store).await);
    drop(later);
    until(async || engine.run("EXISTS test:a:{a}:c").await == redis::Value::Int(0)).await;
    assert!(refused(&store).await, "the other process has written since");
    drop(claim);
    let again = store.claim(id).await.unwrap();
    SessionStore::append(&store, id, &records(2..3)).await.unwrap();
    let read = SessionStore::read(&other, id).await.unwrap().unwrap();
    assert_eq!(read.records.try_collect::<Vec<_>>().await.unwrap(), records(0..3));
    drop(again);
}
