//! The master that sentinels name.

use std::fs;
use std::net::TcpListener;

use agentwire_mcp_redis::{RedisConfig, RedisStore};

use crate::engine::{Engine, until};
use crate::{events, records};

/// Starts a sentinel. Its configuration is a file, because a sentinel writes its state into it.
async fn sentinel(master: &Engine, replica: &Engine) -> Engine {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sentinel.conf");
    let port = master.port();
    let text = format!(
        "sentinel monitor example 127.0.0.1 {port} 1\nsentinel down-after-milliseconds example 500\n\
         sentinel failover-timeout example 1000\n"
    );
    fs::write(&path, text).unwrap();
    let sentinel = Engine::of_sentinel(folder, &path).await;
    // The sentinel has found the replica.
    let mut connection = sentinel.connection().await;
    until(async || {
        let mut command = redis::cmd("SENTINEL");
        command.arg("REPLICAS").arg("example");
        let replicas: redis::Value = command.query_async(&mut connection).await.unwrap();
        format!("{replicas:?}").contains(&replica.port().to_string())
    })
    .await;
    sentinel
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn nodes_follow_the_master() {
    let mut master = Engine::start().await;
    let replica = Engine::start().await;
    let mut command = redis::cmd("REPLICAOF");
    command.arg("127.0.0.1").arg(master.port());
    command.query_async::<()>(&mut replica.connection().await).await.unwrap();
    let sentinel = sentinel(&master, &replica).await;
    let config = RedisConfig::sentinel([sentinel.url()], "example").prefix("test");
    let (store, other) =
        (RedisStore::connect(config.clone()).await.unwrap(), RedisStore::connect(config).await.unwrap());
    records::check(&store, &other).await;
    master.kill();
    // Otherwise the sentinel would turn an engine that another test starts on this port into a replica.
    let _port = TcpListener::bind(("127.0.0.1", master.port()));
    until(async || {
        use agentwire_store::OnceStore;
        let [one, two] = [&store, &other]
            .map(|store| store.insert("after the failover", None, std::time::Duration::from_secs(9)));
        one.await.is_ok() & two.await.is_ok()
    })
    .await;
    events::check(&store, &other).await;
    assert!(!replica.keys().await.is_empty(), "it is the master now");
}
