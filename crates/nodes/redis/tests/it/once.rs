//! Names that can be used once.

use std::time::Duration;

use agentwire_mcp_redis::RedisStore;
use agentwire_store::{MAX_ONCE_NAME, OnceStore, StoreError};

use crate::engine::{Engine, until};

pub(crate) async fn check(store: &RedisStore, other: &RedisStore) {
    let hour = Duration::from_secs(3600);
    assert!(!other.contains("a").await.unwrap());
    let calls = (0..20).map(|call| if call % 2 == 0 { store } else { other }.insert("a", None, hour));
    let taken = futures::future::join_all(calls).await.into_iter().filter(|taken| *taken.as_ref().unwrap());
    assert_eq!(taken.count(), 1);
    assert!(other.contains("a").await.unwrap());
    assert!(store.insert(&"x".repeat(MAX_ONCE_NAME), None, hour).await.unwrap());
    let long = store.insert(&"x".repeat(MAX_ONCE_NAME + 1), None, hour).await;
    assert!(matches!(long, Err(StoreError::Full(_))), "{long:?}");
    assert!(store.insert("short", None, Duration::from_millis(200)).await.unwrap());
    until(async || !other.contains("short").await.unwrap()).await;
    assert!(store.insert("short", None, hour).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn name_is_used_once() {
    let engine = Engine::start().await;
    check(&engine.store().await, &engine.store().await).await;
}
