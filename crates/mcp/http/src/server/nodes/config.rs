//! The settings of an endpoint for its store, for sharing sessions with other nodes, and for warnings.

use std::sync::Arc;

use agentwire_store::{EventStore, Node, SessionId};

use crate::server::endpoint_store::EndpointStore;
use crate::server::warning::Warnings;
use crate::server::{EndpointConfig, EndpointWarning, SealedSessions};

impl EndpointConfig {
    /// Sets the store of events for clients that lost their connection (default: a
    /// [`MemoryEventStore`](crate::server::MemoryEventStore)). With `None`, events have no ids and no stream can be resumed. An
    /// event that the store was given when it panicked counts as not stored.
    #[must_use]
    pub fn event_store(mut self, store: Option<Arc<dyn EventStore>>) -> Self {
        self.store = store.map(EndpointStore::new);
        self
    }

    /// Shares sessions and the events of streams with the other nodes of the server, so that any node can serve any request.
    /// Replaces the [`event_store`](Self::event_store).
    ///
    /// - A node that gets a request for a session that is not open there loads the session's record. It gives the client's
    ///   `initialize`, log level and subscriptions to the service. A session can be open at several nodes at once, until a client
    ///   deletes it at one.
    /// - A result is sent once the store has it, and the first event of a stream once the store has the stream. An event that the
    ///   store has refused is sent without an id. After that, each event waits until the store takes one.
    /// - A client can resume a stream at any node. If the node of a stream [is dead](Node::is_dead), another node takes the
    ///   stream over, and sends an error for each request that no stored event answers.
    /// - Ids of requests to a client contain the name of this node. A response that arrives at another node is forwarded to this
    ///   one, and a cancellation is forwarded to all nodes.
    /// - While the store is unreachable, sessions that are open here continue, but their subscriptions and log level cannot be
    ///   changed. Requests for other sessions get 503 with `Retry-After`, never 404.
    ///
    /// [`Endpoint::run`] runs the node. [`Endpoint::shutdown`] ends no session: clients continue at other nodes, and the streams
    /// of GETs end with [`moved_retry`](Self::moved_retry). [Release](Node::release) the node after that; other parts of the
    /// process may use it until then. Any client that knows the id of a session without a [`Principal`](crate::server::Principal)
    /// can use it.
    ///
    /// [`Endpoint::run`]: crate::server::Endpoint::run
    /// [`Endpoint::shutdown`]: crate::server::Endpoint::shutdown
    ///
    /// # Panics
    ///
    /// With [`sealed_sessions`](Self::sealed_sessions): nodes that share a store need no sealed ids.
    #[must_use]
    #[track_caller]
    pub fn node(mut self, node: Node) -> Self {
        assert!(self.sealed.is_none(), "an endpoint has a node or sealed sessions, not both");
        self.store = Some(EndpointStore::of_node(node));
        self
    }

    /// Seals the state of a session into its id, so that another node, or this one after a restart, can continue the session. The
    /// state is the params of `initialize`, the digest of the [`Principal`](crate::server::Principal), and the time. The nodes
    /// share keys and no store.
    ///
    /// `Mcp-Session-Id` is then the 32 hexadecimal digits of the [`SessionId`], a dot and the seal, of at most 1 KiB together. If
    /// `initialize` is too long for that, beyond about 690 bytes of params, the id is the digits alone, and only the node that
    /// opened the session can serve it. A node opens the seal only for a session that is not open there, so requests of open
    /// sessions cost no more.
    ///
    /// A node that opens a session by its id gives the service the client's `initialize` and `notifications/initialized`. The log
    /// level and the subscriptions of the session are not restored there. Nodes do not exchange anything else:
    ///
    /// - A stream can be resumed only at the node that runs it. Another node answers 400, as for any unknown stream.
    /// - A response to a request of another node gets 503. So the balancer has to send a client that was asked something back to
    ///   the same node. A cancellation that arrives at another node has no effect.
    /// - A deleted session continues at other nodes, unless they share [`ended_sessions`](SealedSessions::ended_sessions).
    ///
    /// [`Endpoint::shutdown`](crate::server::Endpoint::shutdown) ends no such session.
    ///
    /// # Panics
    ///
    /// With a [`node`](Self::node), which shares more by its store.
    #[must_use]
    #[track_caller]
    pub fn sealed_sessions(mut self, sealed: SealedSessions) -> Self {
        assert!(!self.is_shared(), "an endpoint has a node or sealed sessions, not both");
        self.sealed = Some(sealed);
        self
    }

    /// Sets how many resources the client of a session may subscribe to (default 256). One more gets 429. Applies only with a
    /// [`node`](Self::node).
    #[must_use]
    pub fn subscription_limit(mut self, resources: usize) -> Self {
        self.record_limits.subscriptions = resources;
        self
    }

    /// Sets how many bytes the messages in a session's record may have (default 256 KiB): the client's `initialize`, log level
    /// and subscriptions, as far as the service has accepted them. More get 429. Applies only with a [`node`](Self::node).
    #[must_use]
    pub fn record_limit(mut self, bytes: usize) -> Self {
        self.record_limits.bytes = bytes;
        self
    }

    /// Sets how many bytes of memory the records of sessions may take at this node (default 64 MiB, of which one
    /// [`Caller`](crate::server::Caller) gets a quarter). A session or a change beyond that gets 503. The limit is never lower
    /// than one [`record_limit`](Self::record_limit) needs. Applies only with a [`node`](Self::node).
    #[must_use]
    pub fn record_budget(mut self, bytes: usize) -> Self {
        self.record_limits.budget = bytes;
        self
    }

    /// Sets the function that is called with each warning, at most once a second for each kind (default: none). It must not wait,
    /// because it is called while a request is answered.
    #[must_use]
    pub fn on_warning(mut self, receive: impl Fn(EndpointWarning) + Send + Sync + 'static) -> Self {
        self.warnings = Warnings::new(receive);
        self
    }

    /// The node of this endpoint. `None` if no other node shares its sessions.
    pub(crate) fn shared_node(&self) -> Option<&Node> {
        self.store.as_ref().and_then(EndpointStore::node)
    }

    /// Whether other nodes share the sessions of this endpoint through a store.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared_node().is_some()
    }

    /// Whether this endpoint can load a session that is not open here.
    pub(crate) fn loads_sessions(&self) -> bool {
        self.is_shared() || self.sealed.is_some()
    }

    /// Reads the [`SessionId`] from the value of `Mcp-Session-Id`, without the seal.
    pub(crate) fn session_id(&self, value: &[u8]) -> Option<SessionId> {
        match &self.sealed {
            None => SessionId::parse(value),
            Some(_) => SealedSessions::parse(value),
        }
    }
}
