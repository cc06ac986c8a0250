//! The readiness of an endpoint, by a round trip.

use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::{RawJson, Response, WithCauses};
use agentwire_store::{Clock, Lease, MemoryNodes, Node, NodeId, Nodes, StoreError, StoreLimits, Stores};
use agentwire_transport::{Exchange, Service, connection_fn, service_fn};
use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig, Era, NotReady};
use futures::FutureExt;
use futures::future::BoxFuture;

const LIMIT: Duration = Duration::from_secs(2);

/// Answers the request of a check.
async fn answer(exchange: Exchange) -> Response {
    assert_eq!(&*exchange.request.method, "server/discover");
    Response::new(exchange.request.id, Ok(RawJson::EMPTY_OBJECT))
}

/// A session lasts until its client ends it.
async fn session(connection: Connection) {
    drop(connection);
}

/// An endpoint that runs.
async fn running(
    config: EndpointConfig,
    service: impl Service<Connection> + Send + Sync + 'static,
) -> Endpoint {
    let endpoint = Endpoint::serving(config, service);
    tokio::spawn(endpoint.run());
    tokio::task::yield_now().await;
    endpoint
}

#[tokio::test(start_paused = true)]
async fn a_service_that_answers_is_ready() {
    let endpoint = Endpoint::serving(EndpointConfig::new(), service_fn(session, answer));
    assert!(matches!(endpoint.check(LIMIT).await, Err(NotReady::NotRunning)));
    let running = tokio::spawn(endpoint.run());
    tokio::task::yield_now().await;
    endpoint.check(LIMIT).await.unwrap();
    let ended = endpoint.shutdown(Duration::ZERO);
    assert!(matches!(endpoint.check(LIMIT).await, Err(NotReady::Closing)));
    ended.await;
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_service_that_hangs_or_panics_is_not() {
    let hanging = service_fn(session, |_: Exchange| std::future::pending::<Response>());
    let endpoint = running(EndpointConfig::new(), hanging).await;
    assert!(matches!(endpoint.check(LIMIT).await, Err(NotReady::Service(LIMIT))));
    let panicking = service_fn(session, async |_: Exchange| -> Response { panic!("on purpose, in a check") });
    let endpoint = running(EndpointConfig::new(), panicking).await;
    assert!(matches!(endpoint.check(LIMIT).await, Err(NotReady::Panicked)));
    // It serves sessions alone.
    let endpoint = running(EndpointConfig::new().era(Era::Legacy), connection_fn(session)).await;
    endpoint.check(LIMIT).await.unwrap();
}

/// Leases of a store that refuses a check, or is silent.
#[derive(Debug)]
struct Away {
    nodes: MemoryNodes,
    is_silent: bool,
}

impl Nodes for Away {
    fn join(&self, node: NodeId) -> BoxFuture<'static, Result<Box<dyn Lease>, StoreError>> {
        self.nodes.join(node)
    }

    fn is_alive(&self, node: NodeId) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.nodes.is_alive(node)
    }

    fn check(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        match self.is_silent {
            true => std::future::pending().boxed(),
            false => std::future::ready(Err(StoreError::away("refused"))).boxed(),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_without_its_store_is_not() {
    for (is_silent, expected) in [
        (false, "the store takes no record: the store is unavailable: refused"),
        (true, "the store has not answered in 2s"),
    ] {
        let memory = Stores::memory(&StoreLimits::new(), &Clock::system());
        let nodes = Arc::new(Away { nodes: MemoryNodes::default(), is_silent });
        let stores = Stores::new(memory.events, memory.records, memory.bus, nodes, memory.once);
        let node = Node::join(stores).await.unwrap();
        let endpoint = running(EndpointConfig::new().node(node), service_fn(session, answer)).await;
        let why = WithCauses::new(&endpoint.check(LIMIT).await.unwrap_err()).to_string();
        assert_eq!(why, expected);
    }
}
