//! What the nodes of one server share, as traits.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod bus;
mod clock;
mod error;
mod event;
#[cfg(feature = "file")]
mod file;
mod limits;
mod memory;
mod node;
mod once;
mod record;
mod session_id;
mod stores;
mod table;

pub use bus::{Bus, BusEvent, BusMessage, Subscription};
pub use clock::Clock;
pub use error::StoreError;
pub use event::{Durable, Event, EventId, EventStore, Replay, Rest, Runs};
#[cfg(feature = "file")]
pub use file::{FileStore, FileStoreConfig};
pub use limits::StoreLimits;
pub use memory::{MemoryBus, MemoryEventStore, MemoryNodes, MemoryOnceStore, MemorySessionRecords};
pub use node::{Lease, NodeId, Nodes};
pub use once::{MAX_ONCE_NAME, OnceStore};
pub use record::{SessionRecord, SessionRecords, StreamBlock};
pub use session_id::SessionId;
pub use stores::Stores;
