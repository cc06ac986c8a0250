//! One value that holds the five stores that the nodes of a server share.

use std::sync::Arc;

use crate::{Bus, EventStore, Nodes, OnceStore, SessionRecords};

/// The stores that the nodes of a server share.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stores {
    /// The events of streams.
    pub events: Arc<dyn EventStore>,
    /// The records of sessions.
    pub records: Arc<dyn SessionRecords>,
    /// Messages between nodes.
    pub bus: Arc<dyn Bus>,
    /// The nodes that are alive.
    pub nodes: Arc<dyn Nodes>,
    /// Names that are used once.
    pub once: Arc<dyn OnceStore>,
}

impl Stores {
    /// One store that implements all five traits.
    pub fn of<S: EventStore + SessionRecords + Bus + Nodes + OnceStore>(store: &Arc<S>) -> Self {
        Self {
            events: store.clone(),
            records: store.clone(),
            bus: store.clone(),
            nodes: store.clone(),
            once: store.clone(),
        }
    }

    /// A store for each trait.
    pub fn new(
        events: Arc<dyn EventStore>,
        records: Arc<dyn SessionRecords>,
        bus: Arc<dyn Bus>,
        nodes: Arc<dyn Nodes>,
        once: Arc<dyn OnceStore>,
    ) -> Self {
        Self { events, records, bus, nodes, once }
    }
}
