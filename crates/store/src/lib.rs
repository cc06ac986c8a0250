//! What the nodes of one server share, as traits: the events of streams, the records of sessions, a bus, leases of nodes, and
//! names that are used once. With an implementation for one process, and one for the files of one machine.

mod bus;
mod error;
mod event;
mod lease;
mod once;
mod record;
mod session_id;

pub use bus::{Bus, BusEvent, BusMessage, Published, Subscription};
pub use error::StoreError;
pub use event::{Durable, Event, EventId, EventStore, Replay, StreamStatus};
pub use lease::{Generation, Lease, NodeId, Nodes};
pub use once::OnceStore;
pub use record::{SessionRecord, SessionRecords, StreamBlock};
pub use session_id::SessionId;
