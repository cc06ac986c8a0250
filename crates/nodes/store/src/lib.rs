//! Traits for the state that the nodes of one server share. With them any node can serve any client.
//!
//! `agentwire_store` here is `agentwire::store` in the crate `agentwire`, with its feature `store`.
//!
//! - [`EventStore`]: the events of resumable streams, and where each stream runs.
//! - [`SessionRecords`]: what a node needs to continue a session that another has opened.
//! - [`Bus`]: messages between nodes, each at most once.
//! - [`Nodes`]: leases, from which a node finds out which nodes are alive.
//! - [`OnceStore`]: names that are used once.
//!
//! [`Stores`] holds one of each. [`Node`] is this process among the nodes. [`Stores::memory`] is for one process. With the
//! feature `file`, `FileStore` keeps sessions over a restart of the process. With `contract`, the module `contract` has the tests
//! that every implementation passes. This crate does no network I/O and needs no runtime.
//!
//! ```text
//!  node A                    store                     node B
//!    │ begin(stream 1, A) ────▶ │                         │
//!    │ append(1-1), durable ──▶ │                         │
//!    ✗ dies                     │ ◀──── replay(after 1-0) │  the client resumes here
//!                               │ 1-1, Running(A) ──────▶ │
//!                               │ ◀────────── is_alive(A) │
//!                               │ no ───────────────────▶ │  it is dead, if B has held its own lease for a while
//!                               │ ◀ take_over(1, error)   │  A can append nothing any more
//! ```
//!
//! ```
//! use agentwire_store::{Clock, Event, EventId, Node, Rest, SessionId, StoreLimits, Stores, StreamRun};
//!
//! # futures::executor::block_on(async {
//! let stores = Stores::memory(&StoreLimits::new(), &Clock::system());
//! let node = Node::join(stores.clone()).await?;
//! let (session, runs) = (SessionId::random().unwrap(), StreamRun::new(node.id(), vec![1_i64.into()]));
//! stores.events.begin(session, 1, runs).wait().await?;
//! let event = Event::new(EventId::new(1, 1), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.into());
//! stores.events.append(session, event.clone(), true).wait().await?;
//!
//! let replay = stores.events.replay(session, EventId::new(1, 0), 1 << 20).await?;
//! assert_eq!((replay.events, replay.rest), (vec![event], Rest::Ended));
//! # Ok::<_, agentwire_store::StoreError>(())
//! # }).unwrap();
//! ```
//!
//! # Invariants
//!
//! - Of two events with the same place on a stream, at most one is stored.
//! - No node can add an event after the end of a stream.
//! - A session that has ended never comes back, and no number of a stream is given twice.
//! - Everything that a client can make grow has a limit.
//! - Times are those of the store's clock. The clocks of nodes are not used.
//! - A node keeps its id for as long as its process runs. A node that loses its lease takes it again, and its streams continue,
//!   unless another node has found it [dead](Node::is_dead) since.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod bus;
mod bus_batch;
mod clock;
#[cfg(feature = "contract")]
pub mod contract;
mod ended;
mod error;
mod event;
#[cfg(feature = "file")]
mod file;
mod limits;
mod memory;
mod node;
mod nodes;
mod once;
mod outbox;
mod record;
mod session_id;
mod stores;
mod table;

pub use bus::{Bus, BusEvent, BusMessage, ListenClaim, Subscription};
pub use clock::Clock;
pub use error::StoreError;
pub use event::{Durable, Event, EventId, EventStore, Replay, Rest, StreamRun, TAKE_OVER_GAP};
#[cfg(feature = "file")]
pub use file::{FileStore, FileStoreConfig};
pub use limits::StoreLimits;
pub use memory::{MemoryBus, MemoryEventStore, MemoryNodes, MemoryOnceStore, MemorySessionRecords};
pub use node::{Node, NodeListener};
pub use nodes::{Lease, NodeId, Nodes};
pub use once::{MAX_ONCE_NAME, OnceStore};
pub use record::{SessionRecord, SessionRecords, StreamBlock};
pub use session_id::SessionId;
pub use stores::Stores;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
