//! Models of the concurrency that is our own: wakers under a lock, and a future that several tasks poll.
//!
//! [loom](https://docs.rs/loom) runs a model again and again, in each order in which its threads can take locks and see
//! each other's writes. A wake-up that is lost in one of them is a thread that waits for ever, which loom reports.
//!
//! The sources are compiled from where they are, with `sync` in the place of their own: so the models are of the code that
//! runs, and that code knows nothing of loom.

// With `--all-targets` it would be compiled with the unit tests of its sources, which run where they belong.
#![cfg(not(test))]
#![allow(
    dead_code,
    unexpected_cfgs,
    unnameable_types,
    unreachable_pub,
    missing_docs,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "the sources belong to other crates, whose roots export them and whose features they name"
)]

extern crate futures_util as futures;

#[path = "../../../crates/core/peer/src/call.rs"]
mod call;
#[path = "../../../crates/core/peer/src/call_slots.rs"]
mod call_slots;
#[path = "../../../crates/core/peer/src/cancellations.rs"]
mod cancellations;
#[path = "../../../crates/core/peer/src/clock.rs"]
mod clock;
#[path = "../../../crates/core/peer/src/config.rs"]
mod config;
#[path = "../../../crates/core/peer/src/cursors.rs"]
mod cursors;
#[path = "../../../crates/core/peer/src/driver.rs"]
mod driver;
#[path = "../../../crates/core/transport/src/duplex.rs"]
mod duplex;
#[path = "../../../crates/core/peer/src/encode_buffer.rs"]
mod encode_buffer;
#[path = "../../../crates/core/peer/src/error.rs"]
mod error;
#[path = "../../../crates/core/peer/src/event_loop.rs"]
mod event_loop;
#[path = "../../../crates/core/peer/src/handler.rs"]
mod handler;
#[path = "../../../crates/core/peer/src/handler_future.rs"]
mod handler_future;
#[path = "../../../crates/core/sync/src/monitor.rs"]
mod monitor;
#[path = "../../../crates/core/peer/src/notify.rs"]
mod notify;
#[path = "../../../crates/core/peer/src/observe/mod.rs"]
pub mod observe;
#[path = "../../../crates/core/peer/src/panics.rs"]
mod panics;
#[path = "../../../crates/core/peer/src/peer.rs"]
mod peer;
#[path = "../../../crates/core/peer/src/peer_inner.rs"]
mod peer_inner;
#[path = "../../../crates/core/peer/src/port/mod.rs"]
mod port;
#[path = "../../../crates/core/peer/src/result.rs"]
mod result;
#[path = "../../../crates/core/peer/src/run.rs"]
mod run;
#[path = "../../../crates/core/peer/src/runtime.rs"]
pub mod runtime;
#[path = "../../../crates/core/peer/src/send_capacity.rs"]
mod send_capacity;
#[path = "../../../crates/core/peer/src/shutdown.rs"]
mod shutdown;
#[path = "../../../crates/core/peer/src/state.rs"]
mod state;
#[path = "../../../crates/core/peer/src/state_guard.rs"]
mod state_guard;
#[path = "../../../crates/core/peer/src/timer.rs"]
mod timer;
#[path = "../../../crates/core/peer/src/waker_slots.rs"]
mod waker_slots;

mod server;

pub mod models;
mod sync;

pub use agentwire_connection::{CallId, Dialect};
pub use agentwire_transport::{Packet, TransportError};
pub use call::Call;
pub use clock::Clock;
pub use config::Config;
pub use driver::{Driver, driver};
pub use duplex::{Duplex, duplex};
pub use error::{CallError, Closed};
pub use handler::{Cancelled, Handler, RequestContext};
pub use notify::Notify;
pub use peer::{Peer, WhenClosed};
