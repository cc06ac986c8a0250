//! A JSON-RPC connection of ACP or MCP as a state machine.
//!
//! It matches responses to calls, keeps deadlines, handles cancellation, and sends at most one response to each request. It
//! needs no socket, no clock and no async runtime. Frames and times go in, events and frames come out. A test can therefore run any
//! race between two connections on a virtual clock.
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
//! // No response comes.
//! let deadline = connection.poll_timeout().unwrap();
//! connection.handle_timeout(deadline);
//! let Some(Event::CallEnded { outcome, .. }) = connection.poll_event() else { panic!() };
//! assert_eq!(outcome, Err(CallFailure::TimedOut(Duration::from_secs(5))));
//! // The peer gets a cancel.
//! assert!(connection.poll_transmit().is_some());
//! assert!(connection.is_idle());
//! ```
//!
//! # Responses that cannot be matched
//!
//! A response that is malformed or has no matching id may belong to an open call, which would otherwise wait for its time-out. If it
//! certainly does, the call fails at once. Otherwise the likely call fails after a wait, unless its own response or progress arrives.
//!
//! | the peer sends | the call | it fails |
//! |---|---|---|
//! | a malformed response with a readable id, also in text that is not JSON or UTF-8 | the call with that id | at once |
//! | a response whose id is the call's id as a string | that call | at once |
//! | an id without a method, a result or an error | the call with that id; without one, the message is refused as a request | at once |
//! | a malformed response without a readable id | the only open call | at once, or after 1 s as in the row below |
//! | an error without an id | the only open call | after 250 ms; after 1 s if this side has sent a notification or a response that the error may concern |
//! | | of several open calls, the one that stays unanswered | 1 s after the others are answered |
//! | a result without an id | the only open call | after 1 s: it may be noise |
//! | a response within other text on its line | the call with its id | after 1 s: the text may be a log, and the response may follow |
//!
//! An event reports any response that ends no call at once. It is an [`Event::CancelledResponse`] if this side has cancelled the call.
//!
//! # Invariants
//!
//! - Every request that becomes an [`Event::Request`] gets one response; every other request gets an error. The [`Dialect`]
//!   decides whether a cancelled request gets a response, and [`ResponsePolicy`] whether any request does.
//! - Every call ends with one [`Event::CallEnded`], unless this side [cancels](Connection::cancel) it first.
//! - Frames leave in the order in which they were queued. Events are returned in the order in which they happened.
//! - The id of a call is used once.
//! - [`Config`] bounds the memory that a connection holds for its peer, if the driver reads only while
//!   [`wants_input`](Connection::wants_input) returns true.

mod calls;
mod config;
mod connection;
mod dialect;
mod event;
mod input;
mod pending_requests;
mod queue;
mod response_policy;

pub use calls::CallOptions;
pub use config::Config;
pub use connection::Connection;
pub use dialect::Dialect;
pub use event::{CallFailure, CallId, Event, IncomingId};
pub use queue::Transmit;
pub use response_policy::ResponsePolicy;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
