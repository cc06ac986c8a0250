//! The exchange of ACP and MCP as a state machine.
//!
//! It matches answers to calls, keeps deadlines, handles cancellation, and lets no request be answered twice. It needs no
//! socket, no clock and no runtime. Frames and times go in, events and frames come out. So two connections and a virtual
//! clock can play through any race in a test without waiting for it.
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
//! // No answer comes.
//! let deadline = connection.poll_timeout().unwrap();
//! connection.handle_timeout(deadline);
//! let Some(Event::Answered { outcome, .. }) = connection.poll_event() else { panic!() };
//! assert_eq!(outcome, Err(CallFailure::TimedOut(Duration::from_secs(5))));
//! // The peer gets a cancel.
//! assert!(connection.poll_transmit().is_some());
//! assert!(connection.is_idle());
//! ```
//!
//! # Answers that cannot be matched
//!
//! A call fails at once when its answer cannot be read, because no other answer will come.
//!
//! | the peer sends | then |
//! |---|---|
//! | text that is not JSON or UTF-8, with an id that can be found | the call with that id fails |
//! | an answer without a readable id | the only open call fails |
//! | an error without an id | the only open call fails after a quarter of a second, or one second after a notification, which the error may concern; of several calls, the one that is left when the others are answered |
//! | an answer behind other text on its line | its call fails after one second: the text may be a log of an answer that follows |
//! | an id without a method, a result or an error | the open call with that id fails; without such a call, it is refused as a request |
//! | any other answer without a call | it is reported, unless this side has cancelled the call |
//!
//! # Invariants
//!
//! - Every request that becomes an [`Event::Request`] is answered once; every other request is answered with an error. The
//!   [`Dialect`] decides whether a cancelled one is answered, and [`Responses`] whether any is.
//! - Every call ends in one [`Event::Answered`], unless it is [cancelled](Connection::cancel) first.
//! - Frames leave in the order in which they were queued; events come in the order in which they arrived.
//! - The id of a call is used once.
//! - [`Config`] bounds the memory that a peer can make a connection hold, if input is read only while
//!   [`wants_input`](Connection::wants_input) returns true.

mod calls;
mod config;
mod connection;
mod dialect;
mod event;
mod input;
mod pending_requests;
mod queue;
mod responses;

pub use calls::CallOptions;
pub use config::Config;
pub use connection::Connection;
pub use dialect::Dialect;
pub use event::{CallFailure, CallId, Event, IncomingId};
pub use queue::Transmit;
pub use responses::Responses;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
