//! The settings of an endpoint that shares what it has with other nodes, and of its warnings.

use std::time::Duration;

use agentwire_store::Node;

use crate::server::guarded_store::GuardedStore;
use crate::server::warning::Warnings;
use crate::server::{EndpointConfig, EndpointWarning};

impl EndpointConfig {
    /// Shares sessions and the events of streams with the other nodes of the server, so that any of them serves any request. Takes the
    /// place of the [`event_store`](Self::event_store).
    ///
    /// - A node that gets a request of a session that it does not have loads its record, and gives the client's `initialize`, log
    ///   level and subscriptions to the service. A session is at several nodes at once, until a client deletes it at one.
    /// - A result is written once the store has it; where the store does not take it, it goes without an id. A client resumes a
    ///   stream at any node. A stream whose node [is dead](Node::is_dead) is taken over: requests that no stored event answers are
    ///   answered with an error.
    /// - Ids of requests to a client name this node. An answer that comes to another is sent to it, and a cancel to all.
    /// - While the store is away, sessions that are here go on. Others get 503 with `Retry-After`, never 404.
    ///
    /// [`Endpoint::run`] runs the node. [`Endpoint::shutdown`] ends no session: their clients go on at other nodes, and streams of GETs
    /// end with [`moved_retry`](Self::moved_retry). [Release](Node::release) the node after that; other parts of the process may use
    /// it until then. Sessions without a [`Principal`](crate::server::Principal) are for everybody who knows their id.
    ///
    /// [`Endpoint::run`]: crate::server::Endpoint::run
    /// [`Endpoint::shutdown`]: crate::server::Endpoint::shutdown
    #[must_use]
    pub fn node(mut self, node: Node) -> Self {
        self.store = Some(GuardedStore::of_node(node));
        self
    }

    /// How many sessions of other nodes may be loaded at once (default 64), of which one [`Caller`](crate::server::Caller) has an
    /// eighth. Requests of one session wait for one load. A request of one more session waits for up to a second, and then gets 503,
    /// as it does at once where 16 times as many wait already. Only with a [`node`](Self::node).
    #[must_use]
    pub fn load_limit(mut self, sessions: usize) -> Self {
        self.load_limit = sessions;
        self
    }

    /// How many resources the client of a session may subscribe to (default 256). One more gets 429. Only with a
    /// [`node`](Self::node).
    #[must_use]
    pub fn subscription_limit(mut self, resources: usize) -> Self {
        self.record_limits.subscriptions = resources;
        self
    }

    /// How many bytes the messages of a client may have from which another node continues its session (default 256 KiB): its
    /// `initialize`, log level and subscriptions, as far as the service has taken them. More get 429. Only with a [`node`](Self::node).
    #[must_use]
    pub fn record_limit(mut self, bytes: usize) -> Self {
        self.record_limits.bytes = bytes;
        self
    }

    /// How many bytes of memory the records of sessions may take here (default 64 MiB, of which one [`Caller`](crate::server::Caller)
    /// has a quarter). A session or a change beyond that gets 503. Never lower than what one [`record_limit`](Self::record_limit)
    /// needs. Only with a [`node`](Self::node).
    #[must_use]
    pub fn record_budget(mut self, bytes: usize) -> Self {
        self.record_limits.budget = bytes;
        self
    }

    /// Sets the function that is called with each warning, at most once a second (default: none). It must not wait, and is called
    /// while a request is answered.
    #[must_use]
    pub fn on_warning(mut self, receive: impl Fn(EndpointWarning) + Send + Sync + 'static) -> Self {
        self.warnings = Warnings::new(receive);
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
