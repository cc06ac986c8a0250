//! The events of streams.

use std::time::Duration;

use agentwire_jsonrpc::RequestId;
use agentwire_mcp_redis::RedisStore;
use agentwire_store::{
    Event, EventId, EventStore, NodeId, Replay, Rest, SessionId, StoreError, StreamRun, TAKE_OVER_GAP,
};

use crate::engine::{Engine, until};

pub(crate) fn event(stream: u64, place: u64, text: &str) -> Event {
    Event::new(EventId::new(stream, place), text.to_owned().into())
}

fn session() -> SessionId {
    SessionId::random().unwrap()
}

fn runs() -> StreamRun {
    StreamRun::new(NodeId::new(7), vec![RequestId::from(1_u64)])
}

async fn append(store: &RedisStore, session: SessionId, event: Event) {
    store.append(session, event, false).wait().await.unwrap();
}

pub(crate) async fn replay(store: &RedisStore, session: SessionId, stream: u64, after: u64) -> Replay {
    store.replay(session, EventId::new(stream, after), usize::MAX).await.unwrap()
}

/// Checks events on a single engine or a cluster.
pub(crate) async fn check(store: &RedisStore, other: &RedisStore) {
    let (session, elsewhere) = (session(), session());
    assert_eq!(replay(other, session, 1, 0).await, Replay::new(Vec::new(), Rest::Unknown));
    store.begin(session, 1, runs()).wait().await.unwrap();
    assert_eq!(replay(other, session, 1, 0).await, Replay::new(Vec::new(), Rest::Running(Some(runs()))));
    // The earlier writes need not be awaited.
    let events: Vec<_> = (1..=300).map(|place| event(1, place, "12345")).collect();
    let durable: Vec<_> = events.iter().map(|event| store.append(session, event.clone(), false)).collect();
    for durable in durable {
        durable.wait().await.unwrap();
    }
    append(store, session, event(2, 1, "another stream")).await;
    append(store, elsewhere, event(1, 1, "another session")).await;
    let all = replay(other, session, 1, 0).await;
    assert_eq!((all.events, all.rest), (events.clone(), Rest::Running(Some(runs()))));
    assert_eq!(replay(other, session, 1, 290).await.events, events[290..]);
    let part = other.replay(session, EventId::new(1, 0), 12).await.unwrap();
    assert_eq!((part.events, part.rest), (events[..3].to_vec(), Rest::More));
    assert_eq!(replay(other, session, 2, 0).await.rest, Rest::Running(None));

    // A place that is taken is refused.
    let again = other.append(session, event(1, 300, "of another node"), false).wait().await;
    assert!(matches!(again, Err(StoreError::TakenOver)), "{again:?}");
    let again = other.append(session, event(1, 300, "of another node"), true).wait().await;
    assert!(matches!(again, Err(StoreError::TakenOver)), "{again:?}");
    assert_eq!(replay(other, session, 1, 299).await.events, events[299..]);

    let last = event(1, 301, "the result");
    store.append(session, last.clone(), true).wait().await.unwrap();
    assert_eq!(replay(other, session, 1, 300).await, Replay::new(vec![last], Rest::Ended));
    assert_eq!(replay(other, session, 1, 301).await, Replay::new(Vec::new(), Rest::Ended));
    for (place, is_last) in [(302, false), (302, true)] {
        let late = other.append(session, event(1, place, "late"), is_last).wait().await;
        assert!(matches!(late, Err(StoreError::TakenOver)), "{late:?}");
    }
    assert!(!other.take_over(session, 1, None).await.unwrap(), "it has ended");

    store.end(session, 2).wait().await.unwrap();
    assert_eq!(replay(other, session, 2, 1).await, Replay::new(Vec::new(), Rest::Ended));
    store.end(session, 3).wait().await.unwrap();
    assert_eq!(replay(other, session, 3, 0).await.rest, Rest::Unknown, "nothing is stored of it");

    // A stream with a single result.
    store.append(session, event(4, 1, "at once"), true).wait().await.unwrap();
    assert_eq!(replay(other, session, 4, 0).await, Replay::new(vec![event(4, 1, "at once")], Rest::Ended));
}

/// Checks that streams of a dead node are taken over.
pub(crate) async fn check_take_over(store: &RedisStore, other: &RedisStore) {
    let session = session();
    assert!(!other.take_over(session, 1, Some("x".into())).await.unwrap(), "it is unknown");
    assert_eq!(replay(other, session, 1, 0).await.rest, Rest::Unknown);
    store.begin(session, 1, runs()).wait().await.unwrap();
    append(store, session, event(1, 1, "one")).await;
    let calls =
        [store, other, store, other].map(|store| store.take_over(session, 1, Some("interrupted".into())));
    let won = futures::future::join_all(calls).await.into_iter().filter(|won| *won.as_ref().unwrap()).count();
    assert_eq!(won, 1);
    let expected = vec![event(1, 1, "one"), event(1, 1 + TAKE_OVER_GAP, "interrupted")];
    assert_eq!(replay(other, session, 1, 0).await, Replay::new(expected.clone(), Rest::Ended));
    assert_eq!(replay(other, session, 1, 1).await, Replay::new(expected[1..].to_vec(), Rest::Ended));
    // The client has received more events than are stored.
    assert_eq!(replay(other, session, 1, 9).await, Replay::new(expected[1..].to_vec(), Rest::Ended));
    assert_eq!(replay(other, session, 1, 1 + TAKE_OVER_GAP).await, Replay::new(Vec::new(), Rest::Ended));
    // The node was only paused.
    for (place, is_last) in [(2, false), (3, true)] {
        let late = store.append(session, event(1, place, "late"), is_last).wait().await;
        assert!(matches!(late, Err(StoreError::TakenOver)), "{late:?}");
    }
    assert_eq!(replay(other, session, 1, 0).await.events, expected);

    store.begin(session, 2, runs()).wait().await.unwrap();
    assert!(other.take_over(session, 2, None).await.unwrap());
    assert_eq!(replay(store, session, 2, 0).await, Replay::new(Vec::new(), Rest::Ended));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn events_are_replayed_in_their_order() {
    let engine = Engine::start().await;
    check(&engine.store().await, &engine.store().await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn stream_is_taken_over_once() {
    let engine = Engine::start().await;
    check_take_over(&engine.store().await, &engine.store().await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn oldest_events_are_deleted_and_the_running_node_stays_known() {
    let engine = Engine::start().await;
    let config = engine.config().stream_events(10).stream_bytes(2000);
    let store = RedisStore::connect(config).await.unwrap();
    let session = session();
    for (stream, length, kept) in [(1, 1, 10), (2, 600, 3), (3, 1500, 1)] {
        store.begin(session, stream, runs()).wait().await.unwrap();
        for place in 1..=50 {
            append(&store, session, event(stream, place, &"x".repeat(length))).await;
        }
        let left = replay(&store, session, stream, 0).await;
        let places: Vec<_> = left.events.iter().map(|event| event.id.place).collect();
        assert_eq!(places, (51 - kept..=50).collect::<Vec<_>>());
        assert_eq!(left.rest, Rest::Running(Some(runs())));
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn oldest_streams_of_a_session_are_deleted() {
    let engine = Engine::start().await;
    let store = RedisStore::connect(engine.config().session_bytes(15_000)).await.unwrap();
    let (session, text) = (session(), "x".repeat(3000));
    store.begin(session, 1, runs()).wait().await.unwrap();
    append(&store, session, event(1, 1, &text)).await;
    for stream in 2..=9 {
        store.append(session, event(stream, 1, &text), true).wait().await.unwrap();
    }
    until(async || engine.keys().await.iter().filter(|key| key.contains(":e:")).count() == 4).await;
    assert_eq!(replay(&store, session, 9, 0).await.rest, Rest::Ended);
    // A running stream goes on, and its node stays known.
    append(&store, session, event(1, 2, &text)).await;
    let left = replay(&store, session, 1, 0).await;
    assert_eq!((left.events.len(), left.rest), (1, Rest::Running(Some(runs()))));
}

/// A small result takes little of the engine's memory, and a session has a bounded number of results.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn many_small_results_take_little_memory() {
    let engine = Engine::with(&["--save", ""]).await;
    // All of them are sent at once, to an engine that may be on a busy machine.
    let config = engine.config().session_streams(3000).timeout(Duration::from_secs(20));
    let store = RedisStore::connect(config).await.unwrap();
    let memory = async || {
        let info: String =
            redis::cmd("INFO").arg("memory").query_async(&mut engine.connection().await).await.unwrap();
        let used = info.lines().find_map(|line| line.strip_prefix("used_memory_dataset:")).unwrap();
        used.parse::<u64>().unwrap()
    };
    let before = memory().await;
    let session = session();
    let results: Vec<_> =
        (1..=9000).map(|stream| store.append(session, event(stream, 1, "x"), true)).collect();
    for result in results {
        result.wait().await.unwrap();
    }
    // One in 64 of them is deleted together, and all are in one list.
    until(async || (2954..=3001).contains(&engine.keys().await.len())).await;
    let each = memory().await.saturating_sub(before) / 2953;
    assert!(each < 512, "{each} bytes for each result");
    assert_eq!(replay(&store, session, 9000, 0).await, Replay::new(vec![event(9000, 1, "x")], Rest::Ended));
    assert_eq!(replay(&store, session, 9000, 1).await, Replay::new(Vec::new(), Rest::Ended));
    assert_eq!(replay(&store, session, 1, 0).await.rest, Rest::Unknown);
    // They are listed in groups of 64, also after the streams of a group are deleted.
    let list = format!("test:{{{session}}}:x");
    let listed: u64 =
        redis::cmd("ZCARD").arg(list).query_async(&mut engine.connection().await).await.unwrap();
    assert_eq!(listed, 9000 / 64 + 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn caller_that_fills_the_queue_leaves_room_to_others() {
    let engine = Engine::start().await;
    let config = engine.config().queue_bytes(100_000).timeout(Duration::from_millis(300));
    let store = RedisStore::connect(config).await.unwrap();
    let [evil, good] = [session(), session()];
    store.open(evil, Some("evil"));
    store.open(good, Some("good"));
    engine.pause();
    let text = "x".repeat(9000);
    let stream = |session, stream| store.append(session, event(stream, 1, &text), true).wait();
    for number in 1..=20 {
        let result = stream(evil, number).await;
        let is_full = matches!(result, Err(StoreError::Full(_)));
        assert_eq!(is_full, number > 5, "{number}: {result:?}");
    }
    for number in 1..=2 {
        let result = stream(good, number).await;
        assert!(matches!(result, Err(StoreError::Away(_))), "{result:?}");
    }
    engine.resume();
    until(async || replay_all(&store, good, 1..=2).await == 2).await;
    assert_eq!(replay_all(&store, evil, 1..=20).await, 5);
    // The caller's room is free again.
    let mut number = 20;
    until(async || {
        number += 1;
        stream(evil, number).await.is_ok()
    })
    .await;
}

/// The number of these streams that have their result.
async fn replay_all(store: &RedisStore, session: SessionId, streams: std::ops::RangeInclusive<u64>) -> usize {
    let mut count = 0;
    for stream in streams {
        let replay = store.replay(session, EventId::new(stream, 0), usize::MAX).await;
        count += replay.map_or(0, |replay| replay.events.len());
    }
    count
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn every_key_expires_and_a_forgotten_session_leaves_no_streams() {
    let engine = Engine::start().await;
    let store = engine.store().await;
    let (session, other) = (session(), session());
    for session in [session, other] {
        for stream in 1..=70 {
            store.begin(session, stream, runs()).wait().await.unwrap();
            append(&store, session, event(stream, 1, "one")).await;
        }
        store.append(session, event(71, 1, "at once"), true).wait().await.unwrap();
        assert!(store.take_over(session, 1, None).await.unwrap());
    }
    let mut connection = engine.connection().await;
    let keys = engine.keys().await;
    assert_eq!(keys.len(), 2 * 72);
    for key in keys {
        let left: i64 = redis::cmd("PTTL").arg(&key).query_async(&mut connection).await.unwrap();
        // The list of streams lives longer than the streams.
        let time = if key.ends_with(":x") { 7_200_000 } else { 3_600_000 };
        assert!(left > time - 600_000 && left <= time, "{key} {left}");
    }
    store.forget(session);
    until(async || engine.keys().await.len() == 72).await;
    assert_eq!(replay(&store, session, 71, 0).await.rest, Rest::Unknown);
    assert_eq!(replay(&store, other, 71, 0).await.events.len(), 1);
}

/// The beginning of the stream is stored already.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn stream_whose_first_event_is_too_large_is_deleted() {
    let engine = Engine::start().await;
    let store = RedisStore::connect(engine.config().stream_bytes(1000)).await.unwrap();
    let session = session();
    store.begin(session, 1, runs()).wait().await.unwrap();
    for (place, text, is_last) in [(1, "x".repeat(2000), false), (2, "x".into(), true)] {
        let refused = store.append(session, event(1, place, &text), is_last).wait().await;
        assert!(matches!(refused, Err(StoreError::Full(_))), "{refused:?}");
    }
    until(async || replay(&store, session, 1, 0).await.rest == Rest::Unknown).await;
    // The stream is gone, and the next result is stored.
    store.append(session, event(2, 1, "y"), true).wait().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn streams_expire_by_the_clock_of_the_engine() {
    let engine = Engine::start().await;
    let store = RedisStore::connect(engine.config().stream_time(Duration::from_millis(300))).await.unwrap();
    let session = session();
    append(&store, session, event(1, 1, "one")).await;
    until(async || replay(&store, session, 1, 0).await.rest == Rest::Unknown).await;
    until(async || engine.keys().await.is_empty()).await;
}
