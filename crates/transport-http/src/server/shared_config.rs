//! The settings of an endpoint that shares what it has with other nodes.

use std::time::Duration;

use agentwire_store::Node;

use crate::server::EndpointConfig;
use crate::server::guarded_store::GuardedStore;

impl EndpointConfig {
    /// Shares the events of streams with the other nodes of the server: a client resumes a stream at any of them. Takes the place
    /// of the [`event_store`](Self::event_store).
    ///
    /// A result is written once the store has it; where the store does not take it, it goes without an id. The stream of a node whose
    /// lease has expired is taken over: requests that no stored event answers are answered with an error. [`Endpoint::run`]
    /// runs the node. Whoever shuts the endpoint down [releases](Node::release) it afterwards, because other parts of the process
    /// may use it.
    ///
    /// [`Endpoint::run`]: crate::server::Endpoint::run
    #[must_use]
    pub fn node(mut self, node: Node) -> Self {
        self.store = Some(GuardedStore::of_node(node));
        self
    }

    /// How long a client should wait before it resumes a stream that runs at another node, or whose node shuts down (default
    /// 100 ms).
    #[must_use]
    pub fn moved_retry(mut self, retry: Duration) -> Self {
        self.moved_retry = retry;
        self
    }

    /// The node, where other nodes share what this endpoint has.
    pub(crate) fn shared_node(&self) -> Option<&Node> {
        self.store.as_ref().and_then(GuardedStore::node)
    }

    /// Whether other nodes share what this endpoint has.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared_node().is_some()
    }
}
