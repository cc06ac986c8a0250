//! Leases of nodes in one process.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentwire_sync::{Monitor, Waiter};
use futures_util::future::{self, BoxFuture};

use crate::{Lease, NodeId, Nodes, StoreError};

/// The nodes of one process: one in a program, several in tests. A lease holds until it is released or [expired](Self::expire).
#[derive(Clone, Debug, Default)]
pub struct MemoryNodes(Arc<Monitor<Leases>>);

#[derive(Debug, Default)]
struct Leases {
    /// The living nodes, each with the number of its lease.
    alive: BTreeMap<NodeId, u64>,
    /// The number of leases so far.
    count: u64,
    is_unsettled: bool,
}

impl Leases {
    fn holds(&self, node: NodeId, number: u64) -> bool {
        self.alive.get(&node) == Some(&number)
    }
}

#[derive(Debug)]
struct MemoryLease {
    node: NodeId,
    number: u64,
    nodes: MemoryNodes,
}

impl MemoryNodes {
    /// Ends the lease of a node as if it had not been renewed in time, for tests.
    pub fn expire(&self, node: NodeId) {
        self.0.update(|leases| leases.alive.remove(&node));
    }

    /// Ends all leases as if the store had been away for longer than they last, for tests. No lease [is settled](Lease::is_settled)
    /// until [`settle`](Self::settle).
    pub fn interrupt(&self) {
        self.0.update(|leases| {
            leases.alive.clear();
            leases.is_unsettled = true;
        });
    }

    /// Lets leases count as settled again, as when the time of a lease has passed since [`interrupt`](Self::interrupt). For
    /// tests.
    pub fn settle(&self) {
        self.0.update(|leases| leases.is_unsettled = false);
    }
}

impl Nodes for MemoryNodes {
    fn join(&self, node: NodeId) -> BoxFuture<'static, Result<Box<dyn Lease>, StoreError>> {
        let number = self.0.update(|leases| {
            leases.count += 1;
            leases.alive.insert(node, leases.count);
            leases.count
        });
        let lease: Box<dyn Lease> = Box::new(MemoryLease { node, number, nodes: self.clone() });
        Box::pin(future::ready(Ok(lease)))
    }

    fn is_alive(&self, node: NodeId) -> BoxFuture<'static, Result<bool, StoreError>> {
        let is_alive = self.0.with(|leases| leases.alive.contains_key(&node));
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
        let (node, number) = (self.node, self.number);
        let is_lost = move |leases: &mut Leases| (!leases.holds(node, number)).then_some(());
        Box::pin(Waiter::new(self.nodes.0.clone()).until(is_lost))
    }

    fn is_settled(&self) -> bool {
        self.nodes.0.with(|leases| !leases.is_unsettled && leases.holds(self.node, self.number))
    }

    fn release(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        self.end();
        Box::pin(future::ready(Ok(())))
    }
}

impl MemoryLease {
    fn end(&self) {
        self.nodes.0.update(|leases| {
            if leases.holds(self.node, self.number) {
                leases.alive.remove(&self.node);
            }
        });
    }
}

impl Drop for MemoryLease {
    fn drop(&mut self) {
        self.end();
    }
}
