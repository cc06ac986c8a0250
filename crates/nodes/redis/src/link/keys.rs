//! The names of the keys.

use std::sync::Arc;

use agentwire_store::{NodeId, SessionId};

/// Makes the keys of a store. The keys of a session share a hash tag, so a cluster has them in one slot.
#[derive(Clone, Debug)]
pub(crate) struct Keys(Arc<str>);

impl Keys {
    pub(crate) fn new(prefix: &str) -> Self {
        Self(prefix.into())
    }

    /// The record of a session.
    pub(crate) fn record(&self, session: SessionId) -> String {
        self.of_session(session, ":s")
    }

    /// The highest stream number of a session that is taken.
    pub(crate) fn numbers(&self, session: SessionId) -> String {
        self.of_session(session, ":n")
    }

    /// The list of a session's streams.
    pub(crate) fn streams(&self, session: SessionId) -> String {
        self.of_session(session, ":x")
    }

    /// The events of a stream.
    pub(crate) fn stream(&self, session: SessionId, stream: u64) -> String {
        let mut key = self.stream_prefix(session);
        key.push_str(itoa::Buffer::new().format(stream));
        key
    }

    /// The beginning of the keys of a session's streams. Their numbers follow.
    pub(crate) fn stream_prefix(&self, session: SessionId) -> String {
        self.of_session(session, ":e:")
    }

    /// A key of a session.
    fn of_session(&self, session: SessionId, rest: &str) -> String {
        format!("{}:{{{session}}}{rest}", self.0)
    }

    /// The lease of a node.
    pub(crate) fn node(&self, node: NodeId) -> String {
        format!("{}:node:{node}", self.0)
    }

    /// The channel to all nodes. It shares its slot with those to each node, so messages keep their order.
    pub(crate) fn bus(&self) -> String {
        format!("{}:{{bus}}", self.0)
    }

    /// The channel to one node.
    pub(crate) fn bus_of(&self, node: NodeId) -> String {
        format!("{}:{{bus}}:{node}", self.0)
    }

    /// A name that can be used once.
    pub(crate) fn once(&self, name: &str) -> String {
        format!("{}:once:{name}", self.0)
    }

    /// Any other key.
    pub(crate) fn other(&self, rest: impl std::fmt::Display) -> String {
        format!("{}:{rest}", self.0)
    }
}
