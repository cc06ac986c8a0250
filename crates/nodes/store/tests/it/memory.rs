//! Stores in memory.

use std::sync::Arc;
use std::time::Duration;

use agentwire_store::contract::{Fixture, Test};
use agentwire_store::contract_tests;
use agentwire_store::{
    Clock, MemoryBus, MemoryEventStore, MemoryNodes, MemoryOnceStore, MemorySessionRecords, NodeId,
    StoreLimits, Stores,
};
use futures::future::{BoxFuture, FutureExt, ready};

struct Memory {
    stores: Stores,
    clock: Clock,
    bus: MemoryBus,
    nodes: MemoryNodes,
}

impl Fixture for Memory {
    fn node(&self) -> BoxFuture<'_, Stores> {
        ready(self.stores.clone()).boxed()
    }

    fn pass(&self, time: Duration) -> BoxFuture<'_, ()> {
        self.clock.advance(time);
        ready(()).boxed()
    }

    fn session_limit(&self) -> usize {
        1 << 20
    }

    fn expire(&self, node: NodeId) -> BoxFuture<'_, bool> {
        self.nodes.expire(node);
        ready(true).boxed()
    }

    fn cut(&self) -> BoxFuture<'_, bool> {
        self.bus.interrupt();
        ready(true).boxed()
    }
}

fn run(test: Test) {
    let (limits, clock) = (StoreLimits::new().session_events(1 << 20), Clock::manual());
    let (bus, nodes) = (MemoryBus::default(), MemoryNodes::default());
    let stores = Stores::new(
        Arc::new(MemoryEventStore::new(&limits)),
        Arc::new(MemorySessionRecords::new(&limits, &clock)),
        Arc::new(bus.clone()),
        Arc::new(nodes.clone()),
        Arc::new(MemoryOnceStore::new(&limits, &clock)),
    );
    futures::executor::block_on(test(&Memory { stores, clock, bus, nodes }));
}

contract_tests!(run);
