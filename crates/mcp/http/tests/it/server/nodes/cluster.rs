//! Endpoints that share their stores, and a client that calls any of them.

use std::sync::Arc;
use std::time::Duration;

use agentwire_store::{Clock, MemoryNodes, Node, SessionId, StoreLimits, Stores};
use agentwire_transport_http::server::{Body, Endpoint, EndpointConfig, Principal};
use futures::StreamExt;
use futures::channel::mpsc::{self, UnboundedReceiver};
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::super::script::{Heard, initialize, notification, request, serve_connection};
use super::super::time::{call, piece};
use super::faults::Faults;
use crate::connections::{Connection, Inline};

pub(super) struct Cluster {
    pub(super) stores: Stores,
    pub(super) leases: MemoryNodes,
    pub(super) faults: Arc<Faults>,
    pub(super) replicas: Vec<Replica>,
}

pub(super) struct Replica {
    pub(super) endpoint: Endpoint,
    pub(super) node: Node,
    heard: UnboundedReceiver<Heard>,
}

impl Cluster {
    /// Starts nodes with one configuration.
    pub(super) async fn start(nodes: usize, config: EndpointConfig) -> Self {
        Self::start_with(vec![config; nodes], EndpointConfig::node).await
    }

    /// Starts nodes with these configurations. `share` sets what a node shares with the others.
    pub(super) async fn start_with(
        configs: Vec<EndpointConfig>,
        share: impl Fn(EndpointConfig, Node) -> EndpointConfig,
    ) -> Self {
        let leases = MemoryNodes::default();
        let memory = Stores::memory(&StoreLimits::new(), &Clock::system());
        let mut stores = memory;
        stores.nodes = Arc::new(leases.clone());
        let (faults, faulty) = Faults::around(stores.clone());
        let mut replicas = Vec::new();
        for config in configs {
            let node = Node::join(faulty.clone()).await.unwrap();
            let (hears, heard) = mpsc::unbounded();
            let serve = move |connection: Connection| serve_connection(connection, hears.clone());
            let endpoint = Endpoint::serving(share(config, node.clone()), Inline(serve));
            tokio::spawn(endpoint.run());
            replicas.push(Replica { endpoint, node, heard });
        }
        tokio::task::yield_now().await;
        Self { stores, leases, faults, replicas }
    }

    pub(super) async fn call(
        &mut self,
        at: usize,
        method: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response<Body> {
        call(&mut self.replicas[at].endpoint, method, headers, body).await
    }

    /// Opens a session at a node, and sends `notifications/initialized`.
    pub(super) async fn open(&mut self, at: usize) -> String {
        self.open_in(at, "2025-11-25").await
    }

    /// Opens a session in a revision.
    pub(super) async fn open_in(&mut self, at: usize, revision: &str) -> String {
        let response = self.call(at, "POST", &[], &initialize(revision)).await;
        assert_eq!(response.status(), StatusCode::OK);
        let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let begun = self.post(at, &session, &notification("notifications/initialized")).await;
        assert_eq!(begun.status(), StatusCode::ACCEPTED);
        session
    }

    pub(super) async fn post(&mut self, at: usize, session: &str, body: &str) -> Response<Body> {
        self.call(at, "POST", &[("mcp-session-id", session)], body).await
    }

    pub(super) async fn echo(&mut self, at: usize, session: &str) -> StatusCode {
        let response = self.post(at, session, &request(77, "echo", json!({"said": 1}))).await;
        let status = response.status();
        if status.is_success() {
            let text = rest(response).await;
            assert!(text.contains(r#""result":{"said":1}"#), "{text}");
        }
        status
    }

    pub(super) async fn get(&mut self, at: usize, session: &str, after: Option<&str>) -> Response<Body> {
        let mut headers = vec![("mcp-session-id", session)];
        headers.extend(after.map(|after| ("last-event-id", after)));
        self.call(at, "GET", &headers, "").await
    }

    pub(super) async fn delete(&mut self, at: usize, session: &str) -> StatusCode {
        self.call(at, "DELETE", &[("mcp-session-id", session)], "").await.status()
    }

    /// Makes a node look crashed to others: it has no lease, and sends nothing.
    pub(super) async fn kill(&mut self, at: usize) {
        self.replicas[at].node.release().await.unwrap();
    }

    /// The messages that the sessions of a node have received so far.
    pub(super) fn heard(&mut self, at: usize) -> Vec<Heard> {
        let mut all = Vec::new();
        while let Ok(heard) = self.replicas[at].heard.try_recv() {
            all.push(heard);
        }
        all
    }

    /// Waits until a session of a node receives a message.
    pub(super) async fn hears(&mut self, at: usize, wanted: &Heard) {
        let heard = &mut self.replicas[at].heard;
        let search = async { while heard.next().await.expect("the endpoint runs") != *wanted {} };
        let found = tokio::time::timeout(Duration::from_secs(60), search).await;
        found.unwrap_or_else(|_| panic!("never heard {wanted:?}"));
    }
}

pub(super) fn id(session: &str) -> SessionId {
    SessionId::parse(session.as_bytes()).unwrap()
}

pub(super) async fn rest(response: Response<Body>) -> String {
    let (mut text, mut body) = (String::new(), response.into_body());
    while let Some(piece) = piece(&mut body).await {
        text += &piece;
    }
    text
}

/// Returns the messages of events.
pub(super) fn messages(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| !data.is_empty());
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// Returns the id of the last event.
pub(super) fn last_id(text: &str) -> String {
    text.lines().rev().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned()
}

/// A configuration in which the token is the name of the principal.
pub(super) fn with_principals() -> EndpointConfig {
    EndpointConfig::new().bearer(|token| Some(Principal::new(token)))
}
