//! The records of tasks.

use std::time::Duration;

use agentwire_mcp_redis::RedisStore;
use agentwire_mcp_schema::Revision;
use agentwire_mcp_schema::task_extension::TaskStatus;
use agentwire_mcp_server::{TaskOwner, TaskRecord, TaskStore};
use futures_util::future::join_all;

use crate::engine::{Engine, until};

fn record(id: &str, owner: &TaskOwner, ttl: Option<u64>) -> TaskRecord {
    TaskRecord::new(id, owner.clone(), Revision::V2025_11_25, ttl.map(Duration::from_millis))
}

async fn list(
    store: &RedisStore,
    owner: Option<&TaskOwner>,
    after: Option<&TaskRecord>,
    limit: usize,
) -> Vec<String> {
    let after = after.map(TaskRecord::cursor);
    let records = store.list(owner, after.as_ref(), limit).await.unwrap();
    records.into_iter().map(|record| record.id).collect()
}

pub(crate) async fn check(store: &RedisStore, other: &RedisStore) {
    let [ada, bob] = ["ada", "b{o}b"].map(|name| TaskOwner::Principal(name.into()));
    let mut of_ada = Vec::new();
    let now = record("", &ada, None).created_at;
    for number in 0..20 {
        let owner = if number % 2 == 0 { &ada } else { &bob };
        let mut record = record(&format!("{number:02}"), owner, Some(60_000));
        // Four tasks of each owner have the same time.
        record.created_at = now + number / 8;
        TaskStore::create(store, record.clone()).await.unwrap();
        if number % 2 == 0 {
            of_ada.push(record);
        }
    }
    let ids: Vec<_> = of_ada.iter().map(|record| record.id.clone()).collect();
    assert_eq!(list(other, Some(&ada), None, 100).await, ids);
    for limit in 1..5 {
        let mut all = Vec::new();
        loop {
            let after = all.last().and_then(|last| of_ada.iter().find(|record| record.id == *last));
            let page = list(other, Some(&ada), after, limit).await;
            if page.is_empty() {
                break;
            }
            assert!(page.len() <= limit);
            all.extend(page);
        }
        assert_eq!(all, ids);
    }
    assert_eq!(list(other, None, None, 100).await.len(), 20);

    let mut changed = of_ada[1].clone();
    changed.status_message = Some("half".into());
    assert!(store.update(changed.clone()).await.unwrap());
    assert_eq!(other.read("02").await.unwrap(), Some(changed.clone()));
    // Of two ends that are written at the same time, one is stored.
    let ends = (0..8).map(|end| {
        let mut ended = changed.clone();
        (ended.status, ended.status_message) = (TaskStatus::Cancelled, Some(end.to_string()));
        let by = if end % 2 == 0 { store } else { other };
        async move { by.update(ended.clone()).await.unwrap().then_some(ended) }
    });
    let ended: Vec<_> = join_all(ends).await.into_iter().flatten().collect();
    assert_eq!(ended.len(), 1);
    assert!(!store.update(changed.clone()).await.unwrap());
    assert_eq!(other.read("02").await.unwrap().as_ref(), ended.first());
    TaskStore::remove(store, "02").await.unwrap();
    assert_eq!(other.read("02").await.unwrap(), None);
    assert!(!store.update(changed).await.unwrap());
    assert_eq!(other.read("02").await.unwrap(), None, "an update does not restore a removed task");
    assert_eq!(list(other, Some(&ada), Some(&of_ada[0]), 1).await, ["04"]);
    for id in list(other, None, None, 100).await {
        TaskStore::remove(other, &id).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn tasks_are_listed_in_their_order() {
    let engine = Engine::start().await;
    check(&engine.store().await, &engine.store().await).await;
    assert_eq!(engine.keys().await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn task_expires_and_leaves_the_lists() {
    let engine = Engine::start().await;
    let store = engine.store().await;
    for (id, ttl) in [("short", Some(200)), ("for ever", None)] {
        TaskStore::create(&store, record(id, &TaskOwner::Bearer, ttl)).await.unwrap();
    }
    until(async || store.read("short").await.unwrap().is_none()).await;
    for owner in [Some(&TaskOwner::Bearer), None] {
        assert_eq!(list(&store, owner, None, 9).await, ["for ever"]);
    }
    // An expired task leaves the list of all tasks although no list is read. Its expiry uses the engine's clock, not the node's.
    let mut expired = record("expired", &TaskOwner::Bearer, Some(1));
    expired.created_at += 1_000_000_000;
    TaskStore::create(&store, expired).await.unwrap();
    let mut connection = engine.connection().await;
    until(async || {
        TaskStore::create(&store, record("next", &TaskOwner::Bearer, None)).await.unwrap();
        let all: Vec<String> = redis::cmd("ZRANGE")
            .arg("test:{t}:all")
            .arg(0)
            .arg(-1)
            .query_async(&mut connection)
            .await
            .unwrap();
        all == ["for ever", "next"]
    })
    .await;
}

/// A node reads an owner's list only for a client whose revision has `tasks/list`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn owners_list_does_not_keep_expired_tasks() {
    let engine = Engine::start().await;
    let store = engine.store().await;
    let ada = TaskOwner::Principal("ada".into());
    for number in 0..100 {
        TaskStore::create(&store, record(&number.to_string(), &ada, Some(1))).await.unwrap();
    }
    let mut number = 100;
    let mut length = async |key: &str| -> u64 {
        number += 1;
        TaskStore::create(&store, record(&number.to_string(), &TaskOwner::Bearer, Some(60_000)))
            .await
            .unwrap();
        redis::cmd("ZCARD").arg(key).query_async(&mut engine.connection().await).await.unwrap()
    };
    until(async || length("test:to:{\"principal\":\"ada\"}").await == 0).await;
    let mut modern = record("modern", &ada, Some(60_000));
    modern.revision = Revision::V2026_07_28;
    TaskStore::create(&store, modern.clone()).await.unwrap();
    assert_eq!(list(&store, Some(&ada), None, 9).await, [""; 0]);
    assert!(list(&store, None, None, 999).await.contains(&modern.id));
    TaskStore::remove(&store, "modern").await.unwrap();
    assert!(!engine.keys().await.iter().any(|key| key.contains("ada") || key.contains("modern")));
}
