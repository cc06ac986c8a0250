//! A cluster of three masters. The engine refuses each command whose keys are in several slots.

use agentwire_mcp_redis::{RedisConfig, RedisStore};

use crate::engine::{Engine, until};
use crate::{bus, events, nodes, once, records};

struct Cluster([Engine; 3]);

impl Cluster {
    async fn start() -> Self {
        let arguments = &["--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--save", ""];
        let engines =
            [Engine::with(arguments).await, Engine::with(arguments).await, Engine::with(arguments).await];
        for (engine, [first, last]) in engines.iter().zip([[0, 5460], [5461, 10922], [10923, 16383]]) {
            let mut connection = engine.connection().await;
            let mut command = redis::cmd("CLUSTER");
            command.arg("ADDSLOTSRANGE").arg(first).arg(last);
            command.query_async::<()>(&mut connection).await.unwrap();
            for other in &engines {
                let mut command = redis::cmd("CLUSTER");
                command.arg("MEET").arg("127.0.0.1").arg(other.port());
                command.query_async::<()>(&mut connection).await.unwrap();
            }
        }
        for engine in &engines {
            let mut connection = engine.connection().await;
            until(async || {
                let mut command = redis::cmd("CLUSTER");
                let info: String = command.arg("INFO").query_async(&mut connection).await.unwrap();
                info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3")
            })
            .await;
        }
        Self(engines)
    }

    async fn store(&self) -> RedisStore {
        let config = RedisConfig::cluster(self.0.iter().map(Engine::url)).prefix("test");
        RedisStore::connect(config).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_command_spans_slots() {
    let cluster = Cluster::start().await;
    let (store, other) = (cluster.store().await, cluster.store().await);
    for _ in 0..5 {
        events::check(&store, &other).await;
        events::check_take_over(&store, &other).await;
        records::check(&store, &other).await;
        nodes::check(&store, &other).await;
    }
    once::check(&store, &other).await;
    bus::check(&store, &other).await;
    #[cfg(feature = "tasks")]
    crate::tasks::check(&store, &other).await;
    #[cfg(feature = "acp")]
    crate::conversations::check(&store, &other).await;
    for engine in &cluster.0 {
        assert!(!engine.keys().await.is_empty(), "each master has some of the keys");
    }
}
