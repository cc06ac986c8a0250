//! The guarantees while the engine is away.

use std::time::{Duration, Instant};

use agentwire_mcp_redis::{ConnectError, RedisStore};
use agentwire_store::{
    Durable, EventId, EventStore, Nodes, Rest, SessionId, SessionRecord, SessionRecords, StoreError,
};
use futures::FutureExt;

use crate::engine::{Engine, soon, until};
use crate::events::{event, replay};

/// The time-out of a command in these tests, and the time that a busy machine adds. Twenty commands in a row would take 10 s.
const TIMEOUT: Duration = Duration::from_millis(500);
const SLACK: Duration = Duration::from_secs(4);

async fn store(engine: &Engine) -> RedisStore {
    RedisStore::connect(engine.config().timeout(TIMEOUT)).await.unwrap()
}

fn is_away<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Away(_)))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn acknowledged_events_survive_a_kill_and_later_ones_follow_in_order() {
    let mut engine = Engine::start().await;
    let (store, other) = (store(&engine).await, store(&engine).await);
    let session = SessionId::random().unwrap();
    let record = SessionRecord::new(None, Vec::new());
    store.create(session, record.clone(), Duration::from_secs(60)).await.unwrap();
    let mut place = 0;
    let mut events = Vec::new();
    let mut append = |events: &mut Vec<_>| {
        place += 1;
        events.push(event(1, place, &format!("{place}")));
        store.append(session, events[events.len() - 1].clone(), false)
    };
    for _ in 0..3 {
        for _ in 0..50 {
            append(&mut events).wait().await.unwrap();
        }
        engine.kill();
        let start = Instant::now();
        let lost: Vec<_> = (0..20).map(|_| append(&mut events)).collect();
        let lost = futures::future::join_all(lost.into_iter().map(Durable::wait)).await;
        assert!(lost.iter().all(is_away), "{lost:?}");
        assert!(start.elapsed() < TIMEOUT + SLACK, "{:?}", start.elapsed());
        assert!(is_away(&other.load(session).await), "an unreadable record is not a missing one");
        engine.restart().await;
        // The writer does not know whether the events are stored, and sends the same places again.
        until(async || store.check().await.is_ok()).await;
    }
    soon(append(&mut events).wait()).await.unwrap();
    until(async || other.check().await.is_ok()).await;
    let stored = replay(&other, session, 1, 0).await;
    assert_eq!((stored.events, stored.rest), (events, Rest::Running(None)));
    assert_eq!(other.load(session).await.unwrap(), Some(record));
}

/// The queue is written once the engine is back. A client that resumes its stream before that must not get later events without the
/// queued ones.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn replay_contains_events_that_were_appended_while_the_engine_was_away() {
    let mut engine = Engine::start().await;
    let store = store(&engine).await;
    let session = SessionId::random().unwrap();
    let mut events = Vec::new();
    for round in 0..5 {
        engine.kill();
        for place in [2 * round + 1, 2 * round + 2] {
            events.push(event(1, place, &format!("{place}")));
            let durable = store.append(session, events[events.len() - 1].clone(), false);
            assert!(is_away(&durable.wait().await));
        }
        engine.restart().await;
        let replay = async {
            loop {
                match store.replay(session, EventId::new(1, 0), usize::MAX).await {
                    Err(StoreError::Away(_)) => tokio::time::sleep(Duration::from_millis(1)).await,
                    replay => break replay.unwrap(),
                }
            }
        };
        assert_eq!(soon(replay).await.events, events, "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn the_circuit_opens_and_closes() {
    let mut engine = Engine::start().await;
    let store = store(&engine).await;
    engine.kill();
    for _ in 0..5 {
        assert!(is_away(&store.check().await));
    }
    // The trial of each second may be among these commands.
    let start = Instant::now();
    for _ in 0..100 {
        assert!(is_away(&store.check().await));
    }
    assert!(start.elapsed() < SLACK, "{:?}", start.elapsed());
    let session = SessionId::random().unwrap();
    let durable = store.append(session, event(1, 1, "x"), false);
    assert!(durable.wait().now_or_never().is_some_and(|result| is_away(&result)), "nothing waits");
    engine.restart().await;
    until(async || store.check().await.is_ok()).await;
    until(async || replay(&store, session, 1, 0).await.events.len() == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn paused_engine_delays_no_caller_beyond_the_timeout() {
    let engine = Engine::start().await;
    let store = store(&engine).await;
    let session = SessionId::random().unwrap();
    engine.pause();
    let start = Instant::now();
    let durable = [event(1, 1, "a"), event(1, 2, "b")].map(|event| store.append(session, event, false));
    for durable in durable {
        assert!(is_away(&durable.wait().await));
    }
    assert!(is_away(&store.load(session).await));
    assert!(start.elapsed() < TIMEOUT * 2 + SLACK, "{:?}", start.elapsed());
    engine.resume();
    // The events are written by the discarded connection and again by the next, and stored once.
    until(async || store.check().await.is_ok()).await;
    soon(store.append(session, event(1, 3, "c"), true).wait()).await.unwrap();
    let texts: Vec<_> =
        replay(&store, session, 1, 0).await.events.into_iter().map(|event| event.data).collect();
    assert_eq!(texts, ["a", "b", "c"]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn stream_that_does_not_fit_is_not_stored_in_part() {
    let mut engine = Engine::start().await;
    let store = RedisStore::connect(engine.config().timeout(TIMEOUT).queue_bytes(20_000)).await.unwrap();
    let session = SessionId::random().unwrap();
    store.append(session, event(1, 1, "before"), false).wait().await.unwrap();
    engine.kill();
    let large = "x".repeat(4000);
    for place in 2..=3 {
        assert!(is_away(&store.append(session, event(1, place, &large), false).wait().await));
    }
    let full = store.append(session, event(1, 4, &large), false).wait().await;
    assert!(matches!(full, Err(StoreError::Full(_))), "{full:?}");
    engine.restart().await;
    until(async || store.check().await.is_ok()).await;
    let full = store.append(session, event(1, 5, "the result"), true).wait().await;
    assert!(matches!(full, Err(StoreError::Full(_))), "an earlier event is missing: {full:?}");
    until(async || replay(&store, session, 1, 0).await.rest == Rest::Unknown).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn engine_that_evicts_keys_is_refused() {
    let engine = Engine::with(&["--maxmemory-policy", "allkeys-lru"]).await;
    let refused = RedisStore::connect(engine.config()).await.unwrap_err();
    assert!(matches!(&refused, ConnectError::Eviction(policy) if policy == "allkeys-lru"), "{refused}");
    let shown = format!("{:?}", agentwire_mcp_redis::RedisConfig::new("redis://:secret@localhost"));
    assert!(!shown.contains("secret"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn full_engine_is_reported_as_full() {
    let engine = Engine::with(&["--maxmemory", "4mb", "--save", ""]).await;
    let store = engine.store().await;
    let session = SessionId::random().unwrap();
    let text = "x".repeat(500_000);
    let mut results = Vec::new();
    for stream in 1..=20 {
        results.push(store.append(session, event(stream, 1, &text), true).wait().await);
    }
    assert!(results.iter().any(|result| matches!(result, Err(StoreError::Full(_)))), "{results:?}");
    assert!(results[0].is_ok() && store.check().await.is_ok());
    // No stream is stored in part.
    let mut command = redis::cmd("CONFIG");
    command.arg("SET").arg("maxmemory").arg("1mb");
    command.query_async::<()>(&mut engine.connection().await).await.unwrap();
    let durable: Vec<_> = (1..=9).map(|place| store.append(session, event(99, place, "x"), false)).collect();
    for durable in durable {
        let full = durable.wait().await;
        assert!(matches!(full, Err(StoreError::Full(_))), "{full:?}");
    }
    until(async || replay(&store, session, 99, 0).await.rest == Rest::Unknown).await;
}

/// The runtime in which the store was opened has ended, and the tasks that write events with it.
#[test]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
fn appends_to_a_store_whose_runtime_has_ended_fail_in_time() {
    let (own, other) = (tokio::runtime::Runtime::new().unwrap(), tokio::runtime::Runtime::new().unwrap());
    let (engine, store) = own.block_on(async {
        let engine = Engine::start().await;
        let store = store(&engine).await;
        (engine, store)
    });
    let session = SessionId::random().unwrap();
    let append = |stream| store.append(session, event(stream, 1, "x"), true).wait();
    other.block_on(append(1)).unwrap();
    engine.pause();
    let before = append(2);
    drop(own);
    let results = other.block_on(async { soon(futures::future::join(before, append(3))).await });
    assert!(is_away(&results.0) && is_away(&results.1), "{results:?}");
    engine.resume();
}
