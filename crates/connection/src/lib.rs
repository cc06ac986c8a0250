//! The exchange of ACP and MCP as a state machine.
//!
//! Who asked what, which answer belongs to which call, what is overdue, what was cancelled, what must not be
//! answered twice: all of it is here, and none of it needs a socket, a clock or a runtime. Frames and times
//! go in, events and frames come out, so two connections and a pretended clock can play through any race in
//! a test without waiting for it.
//!
//! ```text
//!            handle_frame, handle_timeout, …            poll_event
//!  transport ───────────────────────────▶ Connection ─────────────▶ your code
//!            ◀───────────────────────────            ◀─────────────
//!            poll_transmit, poll_timeout                call, notify, answer, cancel
//! ```
//!
//! ```
//! use std::time::{Duration, Instant};
//! use agentwire_connection::{CallFailure, CallOptions, Config, Connection, Dialect, Event};
//!
//! let start = Instant::now();
//! let mut connection = Connection::new(Config::new(Dialect::MCP));
//! let id = connection.reserve_call();
//! connection.call(start, id, "ping", None, CallOptions::new().timeout(Duration::from_secs(5)), None);
//! assert!(connection.poll_transmit().is_some());
//!
//! // Nobody answers.
//! let deadline = connection.poll_timeout().unwrap();
//! connection.handle_timeout(deadline);
//! let Some(Event::Answered { outcome, .. }) = connection.poll_event() else { panic!() };
//! assert_eq!(outcome, Err(CallFailure::TimedOut(Duration::from_secs(5))));
//! // The peer is told that nobody waits any more.
//! assert!(connection.poll_transmit().is_some());
//! assert!(connection.is_idle());
//! ```
//!
//! # Invariants
//!
//! - Every request that becomes an [`Event::Request`] is answered once; every other request is answered with
//!   an error. A cancelled one is answered or not as the [`Dialect`] says.
//! - Every call ends in one [`Event::Answered`], unless it is [cancelled](Connection::cancel) first.
//! - Frames leave in the order in which they were given; events come in the order in which they arrived.
//! - An id of ours is used once.
//! - What a peer can make us hold is bounded by [`Config`], as long as input is read only while
//!   [`wants_input`](Connection::wants_input) says so.

mod calls;
mod config;
mod connection;
mod dialect;
mod event;
mod line;
mod owed;
mod queue;

pub use calls::CallOptions;
pub use config::Config;
pub use connection::Connection;
pub use dialect::Dialect;
pub use event::{CallFailure, CallId, Event, OwedId};
pub use queue::Transmit;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
