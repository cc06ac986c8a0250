//! Leases of nodes: which of them are alive.

use std::fmt;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::StoreError;

/// Names a node for as long as its process runs: 64 random bits of the operating system, so no two nodes have the same id.
/// Written as 16 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct NodeId(u64);

impl NodeId {
    /// A new id. `None` if the system has no randomness.
    pub fn random() -> Option<Self> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self(u64::from_be_bytes(bytes)))
    }

    /// The id with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Reads the written form, which has one spelling.
    pub fn parse(text: &str) -> Option<Self> {
        let id = Self(u64::from_str_radix(text, 16).ok()?);
        (id.to_string() == text).then_some(id)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeId({self})")
    }
}

impl From<NodeId> for String {
    fn from(node: NodeId) -> Self {
        node.to_string()
    }
}

impl TryFrom<String> for NodeId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not 16 hexadecimal digits")
    }
}

/// The lease of a node. It is renewed until it is dropped, and then released.
pub trait Lease: fmt::Debug + Send + Sync + 'static {
    /// The node.
    fn node(&self) -> NodeId;

    /// Completes when the lease is lost: others may take over the streams of this node, until it [joins](Nodes::join) again.
    fn lost(&self) -> BoxFuture<'static, ()>;

    /// Whether the lease has been renewed without a failure for a whole lease time. A store that was away for longer than that
    /// has ended the leases of all nodes. Living nodes take theirs again within one lease time. Until then, an ended lease of
    /// another node does not prove that the node is dead.
    fn is_settled(&self) -> bool;

    /// Releases the lease at once, unless its node has joined again since. After this, [`Nodes::is_alive`] returns false.
    fn release(&self) -> BoxFuture<'static, Result<(), StoreError>>;
}

/// The leases of all nodes, from which a node finds out which nodes are alive.
pub trait Nodes: fmt::Debug + Send + Sync + 'static {
    /// Takes the lease of a node, for the first time or again.
    fn join(&self, node: NodeId) -> BoxFuture<'static, Result<Box<dyn Lease>, StoreError>>;

    /// Returns whether the lease of a node holds, by the clock of the store. [`Node::is_dead`](crate::Node::is_dead) decides
    /// whether a node without a lease is dead.
    fn is_alive(&self, node: NodeId) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Completes when the store has made a write like that of a session's record: a round trip for the readiness of a node. A
    /// store that answers but takes no writes is not ready.
    fn check(&self) -> BoxFuture<'static, Result<(), StoreError>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_back() {
        let node = NodeId::new(0x2a);
        assert_eq!(node.to_string(), "000000000000002a");
        assert_eq!(NodeId::parse("000000000000002a"), Some(node));
        assert_eq!(serde_json::from_str::<NodeId>(&serde_json::to_string(&node).unwrap()).unwrap(), node);
        for text in ["", "2a", "+00000000000002a", "000000000000002A", "0000000000000000a"] {
            assert_eq!(NodeId::parse(text), None, "{text}");
        }
        assert_ne!(NodeId::random(), NodeId::random());
    }
}
