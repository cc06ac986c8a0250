//! A cluster of three masters. The engine refuses each command whose keys are in several slots.

use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_redis::{RedisConfig, RedisStore};
use agentwire_store::contract::{self, Fixture, Test};
use agentwire_store::{Durable, EventId, EventStore, SessionId, Stores};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::contract::{SESSION_LIMIT, TIMEOUT};
use crate::engine::{Engine, until};
use crate::{bus, events, nodes, once, records};

pub(crate) struct Cluster(pub(crate) [Engine; 3]);

impl Cluster {
    /// The slots of each master. Each sixteenth of all slots, which has its own queue, belongs to a single master.
    pub(crate) const RANGES: [[usize; 2]; 3] = [[0, 5119], [5120, 11_263], [11_264, 16_383]];

    pub(crate) async fn start() -> Self {
        let arguments = &[
            "--cluster-enabled",
            "yes",
            "--cluster-node-timeout",
            "2000",
            "--cluster-require-full-coverage",
            "no",
            "--save",
            "",
        ];
        let engines =
            [Engine::with(arguments).await, Engine::with(arguments).await, Engine::with(arguments).await];
        for (engine, [first, last]) in engines.iter().zip(Self::RANGES) {
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

    /// A configuration with a time-out that three engines keep on a busy machine.
    fn config(&self) -> RedisConfig {
        let config = RedisConfig::cluster(self.0.iter().map(Engine::url)).prefix("test");
        config.timeout(Duration::from_secs(5))
    }

    pub(crate) async fn store(&self) -> RedisStore {
        RedisStore::connect(self.config()).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
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

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn master_that_is_away_delays_only_its_own_sessions() {
    let cluster = Cluster::start().await;
    let store = cluster.store().await;
    let sessions: Vec<_> = (0..24).map(|_| SessionId::random().unwrap()).collect();
    for session in &sessions {
        store.append(*session, events::event(1, 1, "before"), false).wait().await.unwrap();
    }
    cluster.0[0].pause();
    let appends = sessions.iter().map(|session| store.append(*session, events::event(1, 2, "during"), false));
    let results = futures::future::join_all(appends.map(Durable::wait)).await;
    let stored = results.iter().filter(|result| result.is_ok()).count();
    assert!((1..24).contains(&stored), "{stored} of 24, where a third is away: {results:?}");
    // Sessions of the other masters go on while the events of the first wait.
    let (stored, waiting): (Vec<_>, Vec<_>) =
        sessions.iter().zip(results).partition(|(_, result)| result.is_ok());
    for (session, _) in &stored {
        let appended = store.append(**session, events::event(1, 3, "behind"), false).wait().await;
        assert!(appended.is_ok(), "{appended:?}");
    }
    cluster.0[0].resume();
    for (session, _) in waiting {
        until(async || {
            let replay = store.replay(*session, EventId::new(1, 0), usize::MAX).await;
            replay.is_ok_and(|replay| replay.events.len() == 2)
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn the_contract_holds_on_a_cluster() {
    let cluster = Cluster::start().await;
    for (number, test) in CONTRACT.iter().enumerate() {
        let config = cluster.config().prefix(format!("test{number}"));
        test(&Nodes(config.stream_bytes(SESSION_LIMIT).timeout(TIMEOUT))).await;
    }
}

/// The contract's tests that need no hook of a fixture.
const CONTRACT: &[Test] = &[
    contract::events::events_are_replayed_in_order_after_a_place,
    contract::events::unawaited_appends_keep_their_order,
    contract::events::streams_and_sessions_are_apart,
    contract::events::the_events_of_a_session_are_bounded,
    contract::writers::of_two_writers_of_one_place_one_wins,
    contract::writers::of_several_take_overs_one_wins,
    contract::writers::a_result_and_a_take_over_exclude_each_other,
    contract::records::of_several_updates_of_one_version_one_wins,
    contract::records::numbers_of_streams_are_given_once,
    contract::once::of_several_uses_at_once_one_is_the_first,
    contract::buses::a_message_reaches_every_other_node,
    contract::buses::a_message_to_one_node_reaches_it_alone,
];

struct Nodes(RedisConfig);

impl Fixture for Nodes {
    fn node(&self) -> BoxFuture<'_, Stores> {
        async { Stores::of(&Arc::new(RedisStore::connect(self.0.clone()).await.unwrap())) }.boxed()
    }

    fn pass(&self, time: Duration) -> BoxFuture<'_, ()> {
        tokio::time::sleep(time).boxed()
    }

    fn session_limit(&self) -> usize {
        SESSION_LIMIT
    }
}
