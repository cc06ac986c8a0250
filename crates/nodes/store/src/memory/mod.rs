//! Stores in the memory of one process, which endpoints use by default. In tests several nodes share them.

mod bus;
mod events;
mod nodes;
mod once;
mod records;

use std::sync::Arc;

use crate::{Clock, StoreLimits, Stores};

pub use bus::MemoryBus;
pub use events::MemoryEventStore;
pub use nodes::MemoryNodes;
pub use once::MemoryOnceStore;
pub use records::MemorySessionRecords;

impl Stores {
    /// Stores in memory.
    pub fn memory(limits: &StoreLimits, clock: &Clock) -> Self {
        Self::new(
            Arc::new(MemoryEventStore::new(limits)),
            Arc::new(MemorySessionRecords::new(limits, clock)),
            Arc::new(MemoryBus::default()),
            Arc::new(MemoryNodes::default()),
            Arc::new(MemoryOnceStore::new(limits, clock)),
        )
    }
}
