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

#[path = "../../../crates/core/peer/src/call/mod.rs"]
mod call;
#[path = "../../../crates/core/peer/src/clock.rs"]
mod clock;
#[path = "../../../crates/core/peer/src/config.rs"]
mod config;
#[path = "../../../crates/core/peer/src/driver.rs"]
mod driver;
#[path = "../../../crates/core/transport/src/duplex.rs"]
mod duplex;
#[path = "../../../crates/core/peer/src/error/mod.rs"]
mod error;
#[path = "../../../crates/core/peer/src/event_loop/mod.rs"]
mod event_loop;
#[path = "../../../crates/core/peer/src/handler/mod.rs"]
mod handler;
#[path = "../../../crates/core/sync/src/monitor.rs"]
mod monitor;
#[path = "../../../crates/core/peer/src/observe/mod.rs"]
pub mod observe;
#[path = "../../../crates/core/peer/src/panics.rs"]
mod panics;
#[path = "../../../crates/core/peer/src/peer/mod.rs"]
mod peer;
#[path = "../../../crates/core/peer/src/peer_inner.rs"]
mod peer_inner;
#[path = "../../../crates/core/peer/src/port/mod.rs"]
mod port;
#[path = "../../../crates/core/peer/src/runtime/mod.rs"]
pub mod runtime;
#[path = "../../../crates/core/peer/src/state/mod.rs"]
mod state;

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
pub use error::box_error::BoxError;
pub use error::connection_error::ConnectionError;
pub use error::{CallError, Closed};
pub use handler::{Cancelled, Handler, RequestContext};

pub use peer::notify::Notify;
pub use peer::{Peer, WhenClosed};
