//! The trait by which the tests create and control a store.

use std::time::Duration;

use crate::{NodeId, Stores};
use futures_util::future::{self, BoxFuture};

/// One store under test, initially empty. The hooks are optional: a test that needs a missing one ends early.
pub trait Fixture: Sync {
    /// Returns the stores of one more node. All nodes of a fixture share one content.
    fn node(&self) -> BoxFuture<'_, Stores>;

    /// Lets time pass by the clock of the store.
    fn pass(&self, time: Duration) -> BoxFuture<'_, ()>;

    /// Returns the time to live that the tests use: as short as the store can tell apart. One minute by default, for a store whose
    /// clock the fixture moves.
    fn time_to_live(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// Returns the bytes that the events of one session take at most, with the memory around them.
    fn session_limit(&self) -> usize;

    /// Runs a future within the longest time that an operation may take, and returns whether it has completed. By default it takes
    /// what it takes.
    fn in_time<'a>(&'a self, operation: BoxFuture<'a, ()>) -> BoxFuture<'a, bool> {
        Box::pin(async {
            operation.await;
            true
        })
    }

    /// Returns the bytes that the store uses, where this fixture can measure them.
    fn size(&self) -> BoxFuture<'_, Option<u64>> {
        Box::pin(future::ready(None))
    }

    /// Stops a node until its lease has expired, as SIGSTOP would. Returns whether this fixture can.
    fn expire(&self, node: NodeId) -> BoxFuture<'_, bool> {
        let _ = node;
        Box::pin(future::ready(false))
    }

    /// Cuts all connections of all nodes to the store, which open others by themselves. Returns whether this fixture can.
    fn cut(&self) -> BoxFuture<'_, bool> {
        Box::pin(future::ready(false))
    }

    /// Ends all nodes and the store without notice, and starts the store again. Stores that were returned earlier are not used any
    /// more. Returns whether this fixture can.
    fn restart(&self) -> BoxFuture<'_, bool> {
        Box::pin(future::ready(false))
    }
}
