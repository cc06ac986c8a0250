//! The settings of an endpoint's store, of what it shares with other nodes, and of its warnings.

use std::sync::Arc;

use agentwire_store::{EventStore, Node, SessionId};

use crate::server::endpoint_store::EndpointStore;
use crate::server::warning::Warnings;
use crate::server::{EndpointConfig, EndpointWarning, SealedSessions};

impl EndpointConfig {
    /// The store of events for clients that lost their connection (default: a [`MemoryEventStore`](crate::server::MemoryEventStore)). With none,
    /// events have no ids and no stream can be resumed. A store that panics has not remembered what it was given.
    #[must_use]
    pub fn event_store(mut self, store: Option<Arc<dyn EventStore>>) -> Self {
        self.store = store.map(EndpointStore::new);
        self
    }

    /// Shares sessions and the events of streams with the other nodes of the server, so that any of them serves any request. Takes the
    /// place of the [`event_store`](Self::event_store).
    ///
    /// - A node that gets a request of a session that it does not have loads its record, and gives the client's `initialize`, log
    ///   level and subscriptions to the service. A session is at several nodes at once, until a client deletes it at one.
    /// - A result is written once the store has it, and the first event of a stream once the store has the stream. What the store
    ///   has refused by then is sent without an id, and then each event waits, until the store has one.
    /// - A client resumes a stream at any node. A stream whose node [is dead](Node::is_dead) is taken over: requests that no stored event
    ///   answers are answered with an error.
    /// - Ids of requests to a client name this node. An answer that comes to another is sent to it, and a cancel to all.
    /// - While the store is away, sessions that are here go on, but their subscriptions and log level cannot be changed. Others get 503
    ///   with `Retry-After`, never 404.
    ///
    /// [`Endpoint::run`] runs the node. [`Endpoint::shutdown`] ends no session: their clients go on at other nodes, and streams of GETs
    /// end with [`moved_retry`](Self::moved_retry). [Release](Node::release) the node after that; other parts of the process may use
    /// it until then. Sessions without a [`Principal`](crate::server::Principal) are for everybody who knows their id.
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

    /// Seals into the id of a session what another node, or this one after a restart, needs to go on with it: the params of
    /// `initialize`, the digest of the [`Principal`](crate::server::Principal), and the time. The nodes share keys and no store.
    ///
    /// `Mcp-Session-Id` is then the 32 hexadecimal digits of the [`SessionId`], a dot and the seal, of at most 1 KiB together. A session
    /// whose `initialize` is too long for that, beyond about 690 bytes of params, gets the digits alone, and lives at its node. The seal
    /// is opened where a node does not have the session, so requests of sessions that are here cost no more.
    ///
    /// A node that opens a session by its id gives the service the client's `initialize` and `notifications/initialized`. The log level
    /// and the subscriptions of the session start afresh there. What happens at one node stays there:
    ///
    /// - A stream is resumed at the node that runs it. Another answers 400, as for any stream that it does not know.
    /// - An answer to a request of another node gets 503, so the balancer has to bring a client that is asked something back to the
    ///   same node. A cancel that comes to another node has no effect.
    /// - A deleted session goes on at other nodes, unless they share [`ended_sessions`](SealedSessions::ended_sessions).
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

    /// Sets the function that is called with each warning, of each kind at most once a second (default: none). It must not wait, and is called
    /// while a request is answered.
    #[must_use]
    pub fn on_warning(mut self, receive: impl Fn(EndpointWarning) + Send + Sync + 'static) -> Self {
        self.warnings = Warnings::new(receive);
        self
    }

    /// The node, where other nodes share what this endpoint has.
    pub(crate) fn shared_node(&self) -> Option<&Node> {
        self.store.as_ref().and_then(EndpointStore::node)
    }

    /// Whether other nodes share what this endpoint has.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared_node().is_some()
    }

    /// Whether a session that is not here may be loaded.
    pub(crate) fn loads_sessions(&self) -> bool {
        self.is_shared() || self.sealed.is_some()
    }

    /// Reads the value of `Mcp-Session-Id`, as far as it names the session here.
    pub(crate) fn session_id(&self, value: &[u8]) -> Option<SessionId> {
        match &self.sealed {
            None => SessionId::parse(value),
            Some(_) => SealedSessions::parse(value),
        }
    }
}
