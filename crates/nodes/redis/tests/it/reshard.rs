//! A cluster whose slots move from one master to another, and whose masters are restarted or cut off.

use agentwire_jsonrpc::RawJson;
use agentwire_mcp_redis::{RedisConfig, RedisStore};
use agentwire_store::{
    Bus, BusEvent, BusMessage, Durable, EventId, EventStore, NodeId, Rest, SessionId, SessionRecord,
    SessionRecords, StoreError, Subscription,
};
use futures::StreamExt;

use crate::cluster::Cluster;
use crate::engine::{Engine, soon, until};
use crate::events::{event, replay};
use crate::proxy::Proxy;

/// The channel to all nodes. The channels to single nodes share its slot.
const BUS: &str = "test:{bus}";

async fn number(engine: &Engine, command: &str) -> usize {
    let redis::Value::Int(number) = engine.run(command).await else { panic!("{command}") };
    number.try_into().unwrap()
}

async fn text(engine: &Engine, command: &str) -> String {
    redis::from_redis_value(engine.run(command).await).unwrap()
}

async fn slot(cluster: &Cluster, key: &str) -> usize {
    number(&cluster.0[0], &format!("CLUSTER KEYSLOT {key}")).await
}

/// The master that owns a slot at the beginning, and another master.
fn masters(cluster: &Cluster, slot: usize) -> (&Engine, &Engine) {
    let owner = Cluster::RANGES.iter().position(|[_, last]| slot <= *last).unwrap();
    (&cluster.0[owner], &cluster.0[(owner + 1) % 3])
}

async fn move_keys(from: &Engine, to: &Engine, slot: usize, most: usize) {
    let keys = from.run(&format!("CLUSTER GETKEYSINSLOT {slot} {most}")).await;
    for key in redis::from_redis_value::<Vec<String>>(keys).unwrap() {
        from.run(&format!("MIGRATE 127.0.0.1 {} {key} 0 5000", to.port())).await;
    }
}

/// Moves a slot to another master, and runs `half_way` when some of its keys have moved.
async fn move_slot(cluster: &Cluster, slot: usize, half_way: impl AsyncFnOnce()) {
    let (from, to) = masters(cluster, slot);
    let (from_id, to_id) = (text(from, "CLUSTER MYID").await, text(to, "CLUSTER MYID").await);
    to.run(&format!("CLUSTER SETSLOT {slot} IMPORTING {from_id}")).await;
    from.run(&format!("CLUSTER SETSLOT {slot} MIGRATING {to_id}")).await;
    move_keys(from, to, slot, 2).await;
    half_way().await;
    move_keys(from, to, slot, 1000).await;
    to.run(&format!("CLUSTER SETSLOT {slot} NODE {to_id}")).await;
    for engine in &cluster.0 {
        engine.run(&format!("CLUSTER SETSLOT {slot} NODE {to_id}")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn session_whose_slot_moves_loses_no_event() {
    let cluster = Cluster::start().await;
    let (store, other) = (cluster.store().await, cluster.store().await);
    let session = SessionId::random().unwrap();
    let record = SessionRecord::new(Some([7; 32]), vec![RawJson::NULL]);
    store.create(session, record.clone(), std::time::Duration::from_secs(3600)).await.unwrap();
    assert_eq!(store.take_streams(session, 64).await.unwrap(), Some(1..65));
    for stream in 1..=4 {
        store.append(session, event(stream, 1, "before"), false).wait().await.unwrap();
    }
    let mut taken = Vec::new();
    move_slot(&cluster, slot(&cluster, &format!("test:{{{session}}}:s")).await, async || {
        for stream in 1..=4 {
            let appended = store.append(session, event(stream, 2, "during"), stream > 2).wait().await;
            assert!(matches!(appended, Ok(()) | Err(StoreError::Away(_))), "{appended:?}");
        }
        let appended = store.append(session, event(5, 1, "at once"), true).wait().await;
        assert!(matches!(appended, Ok(()) | Err(StoreError::Away(_))), "{appended:?}");
        for _ in 0..3 {
            let loaded = other.load(session).await;
            assert!(matches!(loaded, Ok(Some(_)) | Err(StoreError::Away(_))), "it has not ended: {loaded:?}");
            let block = store.take_streams(session, 64).await;
            assert!(matches!(block, Ok(Some(_)) | Err(StoreError::Away(_))), "{block:?}");
            taken.extend(block.ok().flatten());
        }
    })
    .await;
    until(async || store.load(session).await.is_ok_and(|loaded| loaded.as_ref() == Some(&record))).await;
    let block = store.take_streams(session, 64).await.unwrap().unwrap();
    assert!(block.start >= 65 && taken.iter().all(|taken| taken.end <= block.start), "{block:?} {taken:?}");
    for (stream, rest) in [(1, None), (2, None), (3, Some(())), (4, Some(()))] {
        until(async || replay(&other, session, stream, 0).await.events.len() == 2).await;
        let expected = rest.map_or(Rest::Running(None), |()| Rest::Ended);
        assert_eq!(replay(&other, session, stream, 0).await.rest, expected, "stream {stream}");
    }
    until(async || replay(&other, session, 5, 0).await.rest == Rest::Ended).await;
    store.append(session, event(1, 3, "after"), true).wait().await.unwrap();
    assert_eq!(replay(&other, session, 1, 0).await.events.len(), 3);
}

/// Checks that a subscription reports that it may have missed messages, and goes on. Each further interruption is reported again, and
/// messages sent until then may be lost.
async fn check_goes_on(other: &RedisStore, subscription: &mut Subscription) {
    while soon(subscription.next()).await != Some(BusEvent::Missed) {}
    let [node, sender] = [1, 2].map(NodeId::new);
    let mut found = vec![BusEvent::Missed];
    while !found.ends_with(&[BusMessage::Tools, BusMessage::Prompts].map(BusEvent::Message)) {
        if found.ends_with(&[BusEvent::Missed]) {
            until(async || other.publish(sender, BusMessage::Tools).await.is_ok()).await;
            until(async || other.send(node, BusMessage::Prompts).await.is_ok_and(|is_sent| is_sent)).await;
        }
        found.push(soon(subscription.next()).await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn bus_goes_on_when_its_slot_has_moved() {
    let cluster = Cluster::start().await;
    let (store, other) = (cluster.store().await, cluster.store().await);
    let mut subscription = store.subscribe(NodeId::new(1)).await.unwrap();
    move_slot(&cluster, slot(&cluster, BUS).await, async || ()).await;
    check_goes_on(&other, &mut subscription).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn bus_goes_on_when_its_master_is_back() {
    let mut cluster = Cluster::start().await;
    let (store, other) = (cluster.store().await, cluster.store().await);
    let mut subscription = store.subscribe(NodeId::new(1)).await.unwrap();
    let port = masters(&cluster, slot(&cluster, BUS).await).0.port();
    let master = cluster.0.iter_mut().find(|engine| engine.port() == port).unwrap();
    master.kill();
    master.restart().await;
    check_goes_on(&other, &mut subscription).await;
}

/// Packets to one master are lost silently, as when a NAT gateway between forgets the connection.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn dead_connection_to_a_master_is_replaced() {
    let cluster = Cluster::start().await;
    let mut proxies = Vec::new();
    for engine in &cluster.0 {
        let proxy = Proxy::to(engine.port()).await;
        engine.run(&format!("CONFIG SET cluster-announce-port {}", proxy.port)).await;
        proxies.push(proxy);
    }
    for engine in &cluster.0 {
        until(async || {
            let slots = format!("{:?}", engine.run("CLUSTER SLOTS").await);
            proxies.iter().all(|proxy| slots.contains(&proxy.port.to_string()))
        })
        .await;
    }
    let config = RedisConfig::cluster(proxies.iter().map(Proxy::url)).prefix("test");
    let (store, other) = (RedisStore::connect(config).await.unwrap(), cluster.store().await);
    let mut subscription = store.subscribe(NodeId::new(1)).await.unwrap();
    let sessions: Vec<_> = (0..24).map(|_| SessionId::random().unwrap()).collect();
    for (round, proxy) in (1..).zip(&proxies) {
        for session in &sessions {
            store.append(*session, event(round, 1, "before"), false).wait().await.unwrap();
        }
        proxy.lose_connections();
        let during = sessions.iter().map(|session| store.append(*session, event(round, 2, "during"), false));
        let results = futures::future::join_all(during.map(Durable::wait)).await;
        assert!(results.iter().any(Result::is_err) && results.iter().any(Result::is_ok), "{results:?}");
        for session in &sessions {
            // Its connection is dead too.
            until(async || {
                let replay = other.replay(*session, EventId::new(round, 0), usize::MAX).await;
                replay.is_ok_and(|replay| replay.events.len() == 2)
            })
            .await;
            store.append(*session, event(round, 3, "after"), true).wait().await.unwrap();
        }
    }
    check_goes_on(&other, &mut subscription).await;
}
