//! A session that is forgotten leaves no keys behind.

use std::time::Duration;

use agentwire_mcp_redis::RedisStore;
use agentwire_store::{EventStore, NodeId, Rest, SessionId, StoreError, StreamRun};
use tokio::time::sleep;

use crate::engine::{Engine, until};
use crate::events::{event, replay};

const TIME: Duration = Duration::from_secs(1);

fn session() -> SessionId {
    SessionId::random().unwrap()
}

async fn result(store: &RedisStore, session: SessionId, stream: u64) -> Result<(), StoreError> {
    store.append(session, event(stream, 1, "x"), true).wait().await
}

async fn check_forgotten(engine: &Engine, store: &RedisStore, session: SessionId) {
    assert!(!engine.keys().await.is_empty());
    store.forget(session);
    until(async || engine.keys().await.is_empty()).await;
}

/// The engine is full when the first stream of a group is listed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn session_is_forgotten_after_the_engine_was_full() {
    let engine = Engine::start().await;
    let (store, session) = (engine.store().await, session());
    engine.run("CONFIG SET maxmemory 1").await;
    assert!(matches!(result(&store, session, 1).await, Err(StoreError::Full(_))));
    engine.run("CONFIG SET maxmemory 0").await;
    for stream in 2..=20 {
        result(&store, session, stream).await.unwrap();
    }
    check_forgotten(&engine, &store, session).await;
}

/// The engine is away for longer than its list of streams lives.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn session_is_forgotten_after_the_engine_was_away() {
    let engine = Engine::start().await;
    let config = engine.config().stream_time(TIME).timeout(Duration::from_millis(100));
    let (store, session) = (RedisStore::connect(config).await.unwrap(), session());
    result(&store, session, 1).await.unwrap();
    engine.pause();
    assert!(matches!(result(&store, session, 2).await, Err(StoreError::Away(_))));
    sleep(3 * TIME).await;
    engine.resume();
    until(async || engine.keys().await.iter().any(|key| key.ends_with(":e:2"))).await;
    check_forgotten(&engine, &store, session).await;
}

/// The second node stores results until it receives the message that the first has forgotten the session.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn session_is_forgotten_by_a_node_that_is_notified_late() {
    let engine = Engine::start().await;
    let (store, other, session) = (engine.store().await, engine.store().await, session());
    result(&store, session, 1).await.unwrap();
    result(&other, session, 65).await.unwrap();
    check_forgotten(&engine, &store, session).await;
    for stream in 66..=80 {
        result(&other, session, stream).await.unwrap();
    }
    check_forgotten(&engine, &other, session).await;
}

/// Nodes take stream numbers in blocks, and use few of them.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn session_whose_stream_numbers_are_far_apart_is_forgotten() {
    let engine = Engine::start().await;
    let (store, session) = (engine.store().await, session());
    for stream in 1..=500 {
        result(&store, session, 100 * stream).await.unwrap();
    }
    check_forgotten(&engine, &store, session).await;
}

/// The stream ends long after the list was written.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn session_with_a_long_stream_is_forgotten() {
    let engine = Engine::start().await;
    let store = RedisStore::connect(engine.config().stream_time(TIME)).await.unwrap();
    let session = session();
    store.begin(session, 1, StreamRun::new(NodeId::new(7), Vec::new())).wait().await.unwrap();
    sleep(TIME * 9 / 20).await;
    store.append(session, event(1, 1, "x"), false).wait().await.unwrap();
    sleep(TIME * 9 / 10).await;
    store.end(session, 1).wait().await.unwrap();
    sleep(TIME * 7 / 10).await;
    // On a busy machine the stream may have expired.
    if replay(&store, session, 1, 0).await.rest == Rest::Ended {
        check_forgotten(&engine, &store, session).await;
    }
}
