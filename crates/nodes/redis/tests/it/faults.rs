//! The guarantees while the engine refuses commands, after it has lost acknowledged writes, and on dead connections.

use std::fs;
use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_redis::{ConnectError, RedisConfig, RedisStore};
use agentwire_store::{
    Bus, BusEvent, BusMessage, EventId, EventStore, NodeId, Nodes, Rest, SessionId, SessionRecord,
    SessionRecords, StoreError, StreamRun,
};
use agentwire_test_support::free_port;
use futures::StreamExt;

use crate::engine::{Engine, soon, until};
use crate::events::{event, replay};
use crate::proxy::Proxy;

const HOUR: Duration = Duration::from_secs(3600);

fn is_away<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Away(_)))
}

async fn create(store: &RedisStore) -> Result<SessionId, StoreError> {
    let session = SessionId::random().unwrap();
    let record = SessionRecord::new(None, Vec::new());
    store.create(session, record, HOUR).await.map(|()| session)
}

/// Checks that an engine that refuses counts as away: no event is lost, and no session counts as ended.
async fn check_refusal(engine: &Engine, refuse: impl AsyncFnOnce(), permit: impl AsyncFnOnce()) {
    let store = engine.store().await;
    let session = create(&store).await.unwrap();
    store.append(session, event(1, 1, "before"), false).wait().await.unwrap();
    refuse().await;
    assert!(is_away(&create(&store).await));
    assert!(is_away(&store.take_streams(session, 1).await));
    for place in [2, 3] {
        let appended = store.append(session, event(1, place, "during"), place == 3).wait().await;
        assert!(is_away(&appended), "{appended:?}");
    }
    permit().await;
    until(async || store.take_streams(session, 1).await.is_ok()).await;
    until(async || replay(&store, session, 1, 0).await.rest == Rest::Ended).await;
    assert_eq!(replay(&store, session, 1, 0).await.events.len(), 3);
    store.append(session, event(2, 1, "after"), true).wait().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn master_that_has_become_a_replica_is_away() {
    let engine = Engine::start().await;
    // Its master does not exist, so it keeps its data.
    let refuse = async || _ = engine.run(&format!("REPLICAOF 127.0.0.1 {}", free_port())).await;
    check_refusal(&engine, refuse, async || _ = engine.run("REPLICAOF NO ONE").await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn engine_without_its_replicas_is_away() {
    let engine = Engine::start().await;
    let set = async |count| _ = engine.run(&format!("CONFIG SET min-replicas-to-write {count}")).await;
    check_refusal(&engine, async || set(1).await, async || set(0).await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn engine_that_cannot_write_to_its_disk_is_away() {
    let engine = Engine::with(&["--save", "3600 1"]).await;
    let refuse = async || {
        fs::remove_dir_all(engine.folder()).unwrap();
        engine.run("BGSAVE").await;
        until(async || format!("{:?}", engine.run("INFO persistence").await).contains("bgsave_status:err"))
            .await;
    };
    let permit = async || _ = engine.run("CONFIG SET stop-writes-on-bgsave-error no").await;
    check_refusal(&engine, refuse, permit).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn engine_that_is_loading_is_away() {
    let mut engine = Engine::with(&["--save", ""]).await;
    let store = engine.store().await;
    let session = create(&store).await.unwrap();
    let mut command = redis::cmd("EVAL");
    command.arg("for i = 1, 2000 do redis.call('SET', 'fill' .. i, i) end return 1").arg(0);
    command.query_async::<()>(&mut engine.connection().await).await.unwrap();
    engine.run("SAVE").await;
    engine.kill();
    // Loading takes a millisecond for each key.
    engine.restart_with(&["--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024"]);
    let mut refusals = String::new();
    until(async || match store.load(session).await {
        Ok(record) => {
            assert_eq!(record, Some(SessionRecord::new(None, Vec::new())));
            true
        }
        Err(StoreError::Away(error)) => {
            refusals.push_str(&error.to_string());
            false
        }
        Err(error) => panic!("{error}"),
    })
    .await;
    assert!(refusals.contains("loading the dataset"), "{refusals}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn engine_that_refuses_the_password_is_away() {
    let engine = Engine::start().await;
    engine.run("ACL SETUSER node on >first allkeys allchannels allcommands").await;
    let url = |password| format!("redis://node:{password}@127.0.0.1:{}", engine.port());
    let config = |password| RedisConfig::new(url(password)).prefix("test");
    let refused = RedisStore::connect(config("other")).await.unwrap_err();
    assert!(matches!(refused, ConnectError::Store(StoreError::Away(_))), "{refused}");
    let store = RedisStore::connect(config("first")).await.unwrap();
    let session = create(&store).await.unwrap();
    // The engine closes its connections.
    engine.run("ACL DELUSER node").await;
    until(async || is_away(&store.load(session).await)).await;
    engine.run("ACL SETUSER node on >first allkeys allchannels allcommands").await;
    until(async || store.load(session).await.is_ok_and(|record| record.is_some())).await;
    engine.run("CONFIG SET requirepass secret").await;
    let refused = RedisStore::connect(engine.config()).await.unwrap_err();
    assert!(matches!(refused, ConnectError::Store(StoreError::Away(_))), "{refused}");
}

/// A session without a record has ended: its client begins again on 404. A node that restored it could restore one that its client
/// had ended.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn sessions_of_an_engine_that_starts_empty_have_ended() {
    let mut engine = Engine::with(&["--save", ""]).await;
    let store = RedisStore::connect(engine.config().lease(Duration::from_millis(900))).await.unwrap();
    let session = create(&store).await.unwrap();
    let lease = store.join(NodeId::new(1)).await.unwrap();
    store.begin(session, 1, StreamRun::new(lease.node(), Vec::new())).wait().await.unwrap();
    engine.kill();
    assert!(is_away(&store.touch(session, HOUR).await), "it may come back");
    engine.restart().await;
    until(async || store.touch(session, HOUR).await.is_ok()).await;
    assert!(!store.touch(session, HOUR).await.unwrap());
    assert_eq!(store.load(session).await.unwrap(), None);
    assert_eq!(store.take_streams(session, 1).await.unwrap(), None);
    soon(lease.lost()).await;
    // The stream of the lost lease has no known node.
    store.append(session, event(1, 1, "late"), false).wait().await.unwrap();
    assert_eq!(replay(&store, session, 1, 0).await.rest, Rest::Running(None));
    let next = create(&store).await.unwrap();
    assert_eq!(store.take_streams(next, 64).await.unwrap(), Some(1..65));
}

/// A store whose engine answers but refuses records is not ready, and reports the engine's error as the reason.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn store_is_ready_only_while_it_takes_records() {
    let engine = Engine::start().await;
    engine.run("ACL SETUSER node on nopass allkeys allchannels allcommands").await;
    let url = format!("redis://node:x@127.0.0.1:{}", engine.port());
    let store = RedisStore::connect(RedisConfig::new(url).prefix("test")).await.unwrap();
    let elsewhere = free_port();
    for (breaks, mends, reason) in [
        ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "OOM"),
        (&*format!("REPLICAOF 127.0.0.1 {elsewhere}"), "REPLICAOF NO ONE", "READONLY"),
        ("ACL SETUSER node -eval", "ACL SETUSER node +eval", "NOPERM"),
    ] {
        store.check().await.unwrap();
        engine.run(breaks).await;
        let (refused, why) = (create(&store).await, store.check().await);
        assert!(refused.is_err(), "{reason}: a session was opened");
        let why = WithCauses::new(&why.expect_err(reason)).to_string();
        assert!(why.contains(reason), "{why}");
        engine.run(mends).await;
        until(async || store.check().await.is_ok()).await;
        create(&store).await.unwrap();
    }
}

/// The engine has an earlier state, as after a crash, or after a failover to a replica that was behind.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn engine_that_has_lost_its_last_writes_gives_no_number_twice() {
    let mut engine = Engine::with(&["--save", ""]).await;
    let store = engine.store().await;
    let (session, unused) = (create(&store).await.unwrap(), create(&store).await.unwrap());
    assert_eq!(store.take_streams(session, 64).await.unwrap(), Some(1..65));
    store.append(session, event(1, 1, "one"), false).wait().await.unwrap();
    engine.run("SAVE").await;
    for session in [session, unused] {
        store.take_streams(session, 64).await.unwrap();
    }
    store.append(session, event(1, 2, "two"), false).wait().await.unwrap();
    engine.kill();
    engine.restart().await;
    until(async || store.check().await.is_ok()).await;
    let skipped = 1 << 20;
    for (session, last) in [(session, 64), (unused, 0)] {
        let first = last + skipped + 1;
        assert_eq!(store.take_streams(session, 64).await.unwrap(), Some(first..first + 64));
        assert_eq!(store.take_streams(session, 1).await.unwrap(), Some(first + 64..first + 65));
    }
    // The lost events are missing, and no place is given twice.
    store.append(session, event(1, 3, "three"), false).wait().await.unwrap();
    let places = replay(&store, session, 1, 0).await.events;
    assert_eq!(places, [event(1, 1, "one"), event(1, 3, "three")]);
}

/// The queue, and a single event too, are larger than the connection can carry within the time-out of a command.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn slow_connection_stores_every_event_and_delays_no_other_command() {
    let engine = Engine::start().await;
    // The connection carries at most 3.2 MB a second.
    let proxy = Proxy::slow(engine.port(), 32_000).await;
    let timeout = Duration::from_millis(300);
    let config = RedisConfig::new(proxy.url()).prefix("test").timeout(timeout);
    let store = RedisStore::connect(config).await.unwrap();
    let session = create(&store).await.unwrap();
    let (text, large) = ("x".repeat(300_000), "x".repeat(1_500_000));
    let mut results: Vec<_> =
        (1..=20).map(|stream| store.append(session, event(stream, 1, &text), true)).collect();
    results.push(store.append(session, event(21, 1, &large), true));
    drop(results);
    // Until then sessions can be opened, and the engine does not count as away.
    for _ in 0..20 {
        create(&store).await.unwrap();
        tokio::time::sleep(timeout / 10).await;
    }
    let direct = engine.store().await;
    until(async || replay(&direct, session, 21, 0).await.rest == Rest::Ended).await;
    for stream in 1..=20 {
        assert_eq!(replay(&direct, session, stream, 0).await.events, [event(stream, 1, &text)]);
    }
    let mut stream = 21;
    until(async || {
        stream += 1;
        store.append(session, event(stream, 1, "small"), true).wait().await.is_ok()
    })
    .await;
}

/// An event that is not sent within the longest time-out no longer delays the others.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn event_that_is_too_large_for_a_slow_connection_is_given_up() {
    let engine = Engine::start().await;
    let proxy = Proxy::slow(engine.port(), 2000).await;
    let config = RedisConfig::new(proxy.url()).prefix("test").timeout(Duration::from_millis(200));
    let store = RedisStore::connect(config).await.unwrap();
    let [session, other] = [create(&store).await.unwrap(), create(&store).await.unwrap()];
    for session in [session, other] {
        store.open(session, Some("the caller of both"));
    }
    drop(store.append(other, event(1, 1, "before"), true));
    let of_other = async || {
        let replay = store.replay(other, EventId::new(1, 0), usize::MAX).await;
        replay.is_ok_and(|replay| replay.events.len() == 1)
    };
    until(of_other).await;
    // While this event is written, the others are queued.
    drop(store.append(session, event(3, 1, &"x".repeat(20_000)), true));
    tokio::time::sleep(Duration::from_millis(20)).await;
    drop(store.append(session, event(1, 1, &"x".repeat(8_000_000)), false));
    // A client that resumed the stream would miss the first event.
    drop(store.append(session, event(1, 2, "behind it"), true));
    drop(store.append(session, event(2, 1, "small"), true));
    let rest = async |stream| {
        let replay = store.replay(session, EventId::new(stream, 0), usize::MAX).await;
        replay.map(|replay| replay.rest)
    };
    until(of_other).await;
    let early = rest(2).await;
    assert!(matches!(early, Err(StoreError::Away(_))), "no session waits for another: {early:?}");
    until(async || matches!(rest(2).await, Ok(Rest::Ended))).await;
    assert_eq!(replay(&store, session, 1, 0).await.rest, Rest::Unknown);
}

/// The user of the guide for production has every right. A user without one of them is refused at the start.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn user_of_the_guide_may_run_every_command_of_the_store() {
    const GUIDE: &str = include_str!("../../../../../docs/guide/production.md");
    let engine = Engine::start().await;
    let line = GUIDE.lines().find(|line| line.starts_with("ACL SETUSER greeter")).unwrap();
    assert!(line.contains(" >PASSWORD "), "{line}");
    engine.run(line).await;
    let url = format!("redis://greeter:PASSWORD@127.0.0.1:{}", engine.port());
    let config = || RedisConfig::new(&url).prefix("greeter");
    let (store, other) =
        (RedisStore::connect(config()).await.unwrap(), RedisStore::connect(config()).await.unwrap());
    crate::events::check(&store, &other).await;
    crate::events::check_take_over(&store, &other).await;
    crate::records::check(&store, &other).await;
    crate::bus::check(&store, &other).await;
    crate::once::check(&store, &other).await;
    crate::nodes::check(&store, &other).await;
    #[cfg(feature = "tasks")]
    crate::tasks::check(&store, &other).await;
    #[cfg(feature = "acp")]
    crate::conversations::check(&store, &other).await;
    let refused = RedisStore::connect(config().prefix("another")).await.unwrap_err();
    assert!(matches!(refused, ConnectError::Permission(_)), "{refused}");
    // Some rights are needed only for tasks or for ACP's sessions.
    let has_all = cfg!(all(feature = "tasks", feature = "acp"));
    for word in line.split(' ').filter(|word| has_all && word.starts_with('+')) {
        let others: Vec<_> = line.split(' ').filter(|other| *other != word).collect();
        engine.run(&others.join(" ")).await;
        let result = RedisStore::connect(config()).await;
        let is_refused = matches!(result, Err(ConnectError::Permission(_)));
        assert!(is_refused, "{word}: {:?}", result.map(drop));
    }
}

/// A command that the user may not run does not open the circuit.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn revoked_right_does_not_stop_the_other_commands() {
    let engine = Engine::start().await;
    engine.run("ACL SETUSER node on >first allkeys allchannels allcommands").await;
    let url = format!("redis://node:first@127.0.0.1:{}", engine.port());
    let store = RedisStore::connect(RedisConfig::new(url).prefix("test")).await.unwrap();
    engine.run("ACL SETUSER node -xadd").await;
    let session = create(&store).await.unwrap();
    drop(store.append(session, event(1, 1, "kept"), false));
    for _ in 0..20 {
        assert!(is_away(&store.take_over(session, 9, None).await));
        create(&store).await.unwrap();
    }
    engine.run("ACL SETUSER node +xadd").await;
    until(async || replay(&store, session, 1, 0).await.events.len() == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn dead_connection_is_replaced() {
    let engine = Engine::start().await;
    let proxy = Proxy::to(engine.port()).await;
    let config = RedisConfig::new(proxy.url()).prefix("test");
    let (store, direct) = (RedisStore::connect(config).await.unwrap(), engine.store().await);
    let session = create(&store).await.unwrap();
    let [node, other] = [1, 2].map(NodeId::new);
    let mut subscription = store.subscribe(node).await.unwrap();
    let lease = store.join(NodeId::new(1)).await.unwrap();
    store.append(session, event(9, 1, "x"), true).wait().await.unwrap();
    let mut stream = 9;
    for _ in 0..3 {
        // A dead connection is detected when a command times out. A connection that is opened at this moment is not dead.
        until(async || {
            proxy.lose_connections();
            stream += 1;
            is_away(&store.append(session, event(stream, 1, "x"), true).wait().await)
        })
        .await;
        until(async || store.touch(session, HOUR).await.is_ok_and(|touched| touched)).await;
        until(async || replay(&store, session, stream, 0).await.rest == Rest::Ended).await;
        // A message to a dead subscription is lost, and the subscription reports it.
        assert_eq!(soon(subscription.next()).await, Some(BusEvent::Missed));
        assert!(direct.send(node, BusMessage::Tools).await.unwrap());
        direct.publish(other, BusMessage::Prompts).await.unwrap();
        for message in [BusMessage::Tools, BusMessage::Prompts] {
            assert_eq!(soon(subscription.next()).await, Some(BusEvent::Message(message)));
        }
        assert!(direct.is_alive(lease.node()).await.unwrap());
    }
}
