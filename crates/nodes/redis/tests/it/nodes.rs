//! The leases of nodes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_mcp_redis::RedisStore;
use agentwire_store::{Node, NodeId, Nodes, Stores};
use futures::FutureExt;

use crate::engine::{Engine, soon, until};

pub(crate) async fn check(store: &RedisStore, other: &RedisStore) {
    let [first, second] = [1, 2].map(NodeId::new);
    let [first, second] = [store.join(first).await.unwrap(), store.join(second).await.unwrap()];
    assert!(other.is_alive(first.node()).await.unwrap());
    assert!(first.lost().now_or_never().is_none());
    let node = first.node();
    first.release().await.unwrap();
    assert!(!other.is_alive(node).await.unwrap());
    let node = second.node();
    drop(second);
    until(async || !other.is_alive(node).await.unwrap()).await;
    store.check().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn lease_ends_when_it_is_released_or_dropped() {
    let engine = Engine::start().await;
    check(&engine.store().await, &engine.store().await).await;
    assert_eq!(engine.keys().await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn lease_is_renewed() {
    let engine = Engine::start().await;
    let store = RedisStore::connect(engine.config().lease(Duration::from_millis(900))).await.unwrap();
    let lease = store.join(NodeId::new(1)).await.unwrap();
    let lost = tokio::time::timeout(Duration::from_secs(3), lease.lost()).await;
    assert!(lost.is_err() && store.is_alive(lease.node()).await.unwrap());
}

/// The pause is longer than the lease. The node counts itself as dead before any other node can.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn lease_is_lost_while_the_engine_does_not_answer() {
    let engine = Engine::start().await;
    let store = RedisStore::connect(engine.config().lease(Duration::from_millis(900))).await.unwrap();
    let lease = store.join(NodeId::new(1)).await.unwrap();
    engine.pause();
    soon(lease.lost()).await;
    engine.resume();
    until(async || store.is_alive(lease.node()).await.is_ok_and(|is_alive| !is_alive)).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn lease_whose_key_is_gone_is_lost() {
    let engine = Engine::start().await;
    let store = RedisStore::connect(engine.config().lease(Duration::from_millis(900))).await.unwrap();
    let lease = store.join(NodeId::new(1)).await.unwrap();
    redis::cmd("FLUSHALL").query_async::<()>(&mut engine.connection().await).await.unwrap();
    soon(lease.lost()).await;
}

/// When the engine is back, the first node that reaches it finds no lease but its own, although other nodes live.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn node_does_not_count_as_dead_because_the_engine_was_away() {
    const LEASE: Duration = Duration::from_secs(2);
    let mut engine = Engine::start().await;
    let pause = || tokio::time::sleep(Duration::from_millis(100));
    let mut nodes = Vec::new();
    for _ in 0..3 {
        let store = RedisStore::connect(engine.config().lease(LEASE)).await.unwrap();
        nodes.push(Node::join(Stores::of(&Arc::new(store))).await.unwrap());
    }
    let [first, second, third] = nodes.try_into().unwrap();
    let run = |node: &Node| {
        let node = node.clone();
        tokio::spawn(async move { node.run(pause).await })
    };
    // The third dies while the engine is away.
    let (_first, second_runs, third_runs) = (run(&first), run(&second), run(&third));
    engine.kill();
    third_runs.abort();
    second_runs.abort();
    tokio::time::sleep(LEASE + LEASE / 4).await;
    let back = Instant::now();
    engine.restart().await;
    let is_alive =
        async |node: &Node| first.stores().nodes.is_alive(node.id()).await.is_ok_and(|is_alive| is_alive);
    until(async || is_alive(&first).await).await;
    assert!(!is_alive(&second).await && !is_alive(&third).await);
    for other in [&second, &third] {
        let is_dead = first.is_dead(other.id()).await.is_ok_and(|is_dead| is_dead);
        assert!(!is_dead || back.elapsed() >= LEASE, "a node counts as dead too early");
    }
    let _second = run(&second);
    until(async || first.is_dead(third.id()).await.is_ok_and(|is_dead| is_dead)).await;
    assert!(back.elapsed() >= LEASE);
    until(async || is_alive(&second).await && first.is_dead(second.id()).await.is_ok_and(|is_dead| !is_dead))
        .await;
}
