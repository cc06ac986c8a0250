//! The reasons that the store reports while the engine refuses.

use std::collections::BTreeSet;
use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_redis::{RedisConfig, RedisStore};
use agentwire_store::{Nodes, SessionId, SessionRecord, SessionRecords, StoreError};
use agentwire_test_support::free_port;

use crate::engine::{Engine, until};

/// Starts an engine, and a store whose user may run every command.
async fn start() -> (Engine, RedisStore) {
    let engine = Engine::start().await;
    engine.run("ACL SETUSER node on >first allkeys allchannels allcommands").await;
    let url = format!("redis://node:first@127.0.0.1:{}", engine.port());
    let store = RedisStore::connect(RedisConfig::new(url).prefix("test")).await.unwrap();
    (engine, store)
}

async fn create(store: &RedisStore) -> Result<SessionId, StoreError> {
    let session = SessionId::random().unwrap();
    let record = SessionRecord::new(None, Vec::new());
    store.create(session, record, Duration::from_secs(3600)).await.map(|()| session)
}

fn text<T: std::fmt::Debug>(result: Result<T, StoreError>) -> String {
    WithCauses::new(&result.unwrap_err()).to_string()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn refusal_has_the_same_reason_with_an_open_and_a_closed_circuit() {
    let (engine, store) = start().await;
    let session = create(&store).await.unwrap();
    let replica = format!("REPLICAOF 127.0.0.1 {}", free_port());
    for (breaks, mends, reason) in [
        ("CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0", "NOREPLICAS: "),
        (&*replica, "REPLICAOF NO ONE", "READONLY: "),
    ] {
        engine.run(breaks).await;
        let mut texts = BTreeSet::new();
        for _ in 0..10 {
            texts.insert(text(create(&store).await));
            texts.insert(text(store.take_streams(session, 1).await));
            texts.insert(text(store.check().await));
        }
        assert!(texts.len() == 1 && texts.iter().all(|text| text.contains(reason)), "{texts:?}");
        engine.run(mends).await;
        until(async || store.check().await.is_ok()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn changed_password_is_the_reason_while_the_circuit_is_open() {
    let (engine, store) = start().await;
    engine.run("ACL DELUSER node").await;
    until(async || text(store.check().await).contains("WRONGPASS")).await;
    for _ in 0..20 {
        let why = text(store.check().await);
        assert!(why.contains("WRONGPASS"), "{why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn missing_right_of_a_script_does_not_count_as_damage() {
    let (engine, store) = start().await;
    let session = create(&store).await.unwrap();
    engine.run("ACL SETUSER node -get").await;
    for _ in 0..10 {
        let taken = store.take_streams(session, 1).await;
        assert!(matches!(taken, Err(StoreError::Away(_))), "{taken:?}");
        create(&store).await.unwrap();
    }
    engine.run("ACL SETUSER node +get").await;
    store.take_streams(session, 1).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn revoked_right_makes_the_store_unready() {
    let (engine, store) = start().await;
    create(&store).await.unwrap();
    let keys = engine.keys().await;
    for command in ["get", "set", "info", "xadd", "spublish", "time", "zadd"] {
        store.check().await.unwrap();
        assert_eq!(engine.keys().await, keys, "a check leaves nothing");
        engine.run(&format!("ACL SETUSER node -{command}")).await;
        let why = text(store.check().await);
        let is_named = why.contains("NOPERM: ") || why.contains("The user executing the script can't ");
        assert!(is_named || why.contains("ACL failure in script: "), "{command}: {why}");
        engine.run(&format!("ACL SETUSER node +{command}")).await;
    }
    store.check().await.unwrap();
}
