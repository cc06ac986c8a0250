//! The leases of nodes.

use std::time::Duration;

use agentwire_mcp_redis::RedisStore;
use agentwire_store::Nodes;
use futures::FutureExt;

use crate::engine::{Engine, soon, until};

pub(crate) async fn check(store: &RedisStore, other: &RedisStore) {
    let [first, second] = [store.join().await.unwrap(), store.join().await.unwrap()];
    assert_ne!(first.node(), second.node());
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
async fn a_lease_ends_when_it_is_released_or_dropped() {
    let engine = Engine::start().await;
    check(&engine.store().await, &engine.store().await).await;
    assert_eq!(engine.keys().await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_is_renewed() {
    let engine = Engine::start().await;
    let store = RedisStore::connect(engine.config().lease(Duration::from_millis(900))).await.unwrap();
    let lease = store.join().await.unwrap();
    let lost = tokio::time::timeout(Duration::from_secs(3), lease.lost()).await;
    assert!(lost.is_err() && store.is_alive(lease.node()).await.unwrap());
}

/// The pause is longer than the lease: the node counts itself as dead before anybody else can.
#[tokio::test(flavor = "multi_thread")]
async fn a_lease_is_lost_while_the_engine_does_not_answer() {
    let engine = Engine::start().await;
    let store = RedisStore::connect(engine.config().lease(Duration::from_millis(900))).await.unwrap();
    let lease = store.join().await.unwrap();
    engine.pause();
    soon(lease.lost()).await;
    engine.resume();
    until(async || store.is_alive(lease.node()).await.is_ok_and(|is_alive| !is_alive)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_the_engine_has_forgotten_is_lost() {
    let engine = Engine::start().await;
    let store = RedisStore::connect(engine.config().lease(Duration::from_millis(900))).await.unwrap();
    let lease = store.join().await.unwrap();
    redis::cmd("FLUSHALL").query_async::<()>(&mut engine.connection().await).await.unwrap();
    soon(lease.lost()).await;
}
