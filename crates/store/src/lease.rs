//! Leases of nodes: which of them are alive.

use std::fmt;

use futures_core::future::BoxFuture;

use crate::StoreError;

/// Names a life of a node: no two lives have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u64);

/// Counts the lives of all nodes. A later life has a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Generation(pub u64);

/// The lease of a node, which is renewed until this is dropped, and then released.
pub trait Lease: fmt::Debug + Send + Sync + 'static {
    /// The node.
    fn node(&self) -> NodeId;

    /// Its generation.
    fn generation(&self) -> Generation;

    /// Completes when the lease is lost: others may take over what this node runs.
    fn lost(&self) -> BoxFuture<'static, ()>;

    /// Releases it at once.
    fn release(&self) -> BoxFuture<'static, Result<(), StoreError>>;
}

/// Which nodes are alive, by leases.
pub trait Nodes: fmt::Debug + Send + Sync + 'static {
    /// Takes a lease for a new life of a node.
    fn join(&self) -> BoxFuture<'static, Result<Box<dyn Lease>, StoreError>>;

    /// Whether the lease of a node holds.
    fn is_alive(&self, node: NodeId) -> BoxFuture<'static, Result<bool, StoreError>>;
}
