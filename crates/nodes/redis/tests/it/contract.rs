//! The contract of every store, on one engine.

use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_redis::RedisStore;
use agentwire_store::contract::{Fixture, Test};
use agentwire_store::contract_tests;
use agentwire_store::{NodeId, Stores};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::engine::Engine;

/// The maximum size of a stream in these tests, in bytes. With the default of 8 MiB they would write 32 MiB.
pub(crate) const SESSION_LIMIT: usize = 1 << 20;

/// The lease of a node. A time to live is longer, so that a test can wait for the end of a lease in it.
const LEASE: Duration = Duration::from_millis(900);

/// The time-out of a command, long enough for a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(4);

/// The time-out of a command, and the time that a busy machine adds.
const IN_TIME: Duration = Duration::from_secs(8);

/// An engine with nodes in this process.
struct OneEngine(tokio::sync::Mutex<Engine>);

impl Fixture for OneEngine {
    fn node(&self) -> BoxFuture<'_, Stores> {
        async {
            let config =
                self.0.lock().await.config().stream_bytes(SESSION_LIMIT).timeout(TIMEOUT).lease(LEASE);
            Stores::of(&Arc::new(RedisStore::connect(config).await.unwrap()))
        }
        .boxed()
    }

    fn pass(&self, time: Duration) -> BoxFuture<'_, ()> {
        tokio::time::sleep(time).boxed()
    }

    fn time_to_live(&self) -> Duration {
        Duration::from_secs(3)
    }

    fn session_limit(&self) -> usize {
        SESSION_LIMIT
    }

    fn in_time<'a>(&'a self, operation: BoxFuture<'a, ()>) -> BoxFuture<'a, bool> {
        tokio::time::timeout(IN_TIME, operation).map(|result| result.is_ok()).boxed()
    }

    /// A lease is a key, and the engine deletes it when it expires.
    fn expire(&self, node: NodeId) -> BoxFuture<'_, bool> {
        async move {
            let mut connection = self.0.lock().await.connection().await;
            let mut command = redis::cmd("DEL");
            command.arg(format!("test:node:{node}")).query_async::<i64>(&mut connection).await.unwrap() == 1
        }
        .boxed()
    }

    fn cut(&self) -> BoxFuture<'_, bool> {
        async {
            self.0.lock().await.cut().await;
            true
        }
        .boxed()
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        async {
            let mut engine = self.0.lock().await;
            engine.kill();
            engine.restart().await;
            // Nodes that have ended without releasing their leases.
            while engine.keys().await.iter().any(|key| key.starts_with("test:node:")) {
                tokio::time::sleep(LEASE / 20).await;
            }
            true
        }
        .boxed()
    }
}

fn run(test: Test) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let fixture = OneEngine(tokio::sync::Mutex::new(Engine::start().await));
        test(&fixture).await;
    });
}

contract_tests! {
    #[ignore = "needs redis-server: cargo xtask ci redis-tests"]
    run
}
