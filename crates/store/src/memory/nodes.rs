//! The nodes of one process.

use std::collections::BTreeSet;
use std::sync::Arc;

use agentwire_sync::{Monitor, Waiter};
use futures_util::future::{self, BoxFuture};

use crate::{Lease, NodeId, Nodes, StoreError};

/// The nodes of one process: one in a program, several in tests. A lease holds until it is released or [expired](Self::expire).
#[derive(Clone, Debug, Default)]
pub struct MemoryNodes(Arc<Monitor<BTreeSet<NodeId>>>);

#[derive(Debug)]
struct MemoryLease {
    node: NodeId,
    nodes: MemoryNodes,
}

impl MemoryNodes {
    /// Ends the lease of a node as if it had not been renewed in time, for tests.
    pub fn expire(&self, node: NodeId) {
        self.0.update(|alive| alive.remove(&node));
    }
}

impl Nodes for MemoryNodes {
    fn join(&self) -> BoxFuture<'static, Result<Box<dyn Lease>, StoreError>> {
        let Some(node) = NodeId::random() else {
            return Box::pin(future::ready(Err(StoreError::away("the system has no randomness"))));
        };
        self.0.update(|alive| alive.insert(node));
        let lease: Box<dyn Lease> = Box::new(MemoryLease { node, nodes: self.clone() });
        Box::pin(future::ready(Ok(lease)))
    }

    fn is_alive(&self, node: NodeId) -> BoxFuture<'static, Result<bool, StoreError>> {
        let is_alive = self.0.with(|alive| alive.contains(&node));
        Box::pin(future::ready(Ok(is_alive)))
    }

    fn check(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        Box::pin(future::ready(Ok(())))
    }
}

impl Lease for MemoryLease {
    fn node(&self) -> NodeId {
        self.node
    }

    fn lost(&self) -> BoxFuture<'static, ()> {
        let node = self.node;
        let is_lost = move |alive: &mut BTreeSet<NodeId>| (!alive.contains(&node)).then_some(());
        Box::pin(Waiter::new(self.nodes.0.clone()).until(is_lost))
    }

    fn release(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        self.nodes.expire(self.node);
        Box::pin(future::ready(Ok(())))
    }
}

impl Drop for MemoryLease {
    fn drop(&mut self) {
        self.nodes.expire(self.node);
    }
}
