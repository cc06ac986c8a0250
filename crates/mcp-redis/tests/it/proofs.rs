//! Proofs of possession that were used.

use std::time::{SystemTime, UNIX_EPOCH};

use agentwire_mcp_auth::server::ReplayStore;
use agentwire_transport_http::server::Principal;

use crate::engine::Engine;

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_is_used_once_at_all_nodes() {
    let engine = Engine::start().await;
    let (store, other) = (engine.store().await, engine.store().await);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let caller = Principal::new("ada");
    assert!(ReplayStore::insert(&store, "name", &caller, now + 60).await.unwrap());
    assert!(!ReplayStore::insert(&other, "name", &caller, now + 60).await.unwrap());
    let left: i64 = redis::cmd("PTTL")
        .arg("test:once:dpop:name")
        .query_async(&mut engine.connection().await)
        .await
        .unwrap();
    assert!((60_000..=121_000).contains(&left), "{left}");
    // Whoever accepts an expired proof, for a clock that differs, accepts it once too.
    assert!(ReplayStore::insert(&store, "old", &caller, now - 5).await.unwrap());
    assert!(!ReplayStore::insert(&other, "old", &caller, now - 5).await.unwrap());
}
