//! What the nodes of one server share, as traits.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod bus;
mod error;
mod event;
mod node;
mod once;
mod record;
mod session_id;
mod stores;

pub use bus::{Bus, BusEvent, BusMessage, Subscription};
pub use error::StoreError;
pub use event::{Durable, Event, EventId, EventStore, Replay, Rest, Runs};
pub use node::{Lease, NodeId, Nodes};
pub use once::{MAX_ONCE_NAME, OnceStore};
pub use record::{SessionRecord, SessionRecords, StreamBlock};
pub use session_id::SessionId;
pub use stores::Stores;
