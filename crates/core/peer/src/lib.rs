//! The async driver of a JSON-RPC connection: one future that reads, writes, calls your handler and keeps the deadlines.
//!
//! `agentwire_peer` here is `agentwire::peer` in the crate `agentwire`.
//!
//! `agentwire-connection` has the rules of a connection, without I/O; a transport moves packets. This crate joins the two
//! with futures. It works on any runtime: it names no executor, spawns nothing, and takes the time from a [`Clock`].
//!
//! ```text
//!                       ┌────────────────────── Driver: one future ──────────────────────┐
//!  Peer, Call, Notify   │            one FIFO out                                        │
//!  (any task or thread)─┼──────────▶ ┌────────────┐ ─ joined ─▶ Transport                │
//!                       │  ┌───────▶ │ Connection │                 │                    │
//!        wake-ups ◀─────┼──┼──────── └────────────┘ ◀─ in order ────┘                    │
//!                       │  │ answers         │ events, one by one                        │
//!                       │  └──────────── Handler: many requests at once                  │
//!                       └────────────────────────────────────────────────────────────────┘
//! ```
//!
//! ```
//! use agentwire_jsonrpc::{ErrorObject, RequestMethod, NotificationMethod, Notification, RawJson, Request};
//! use agentwire_peer::{Config, Dialect, Handler, Peer, RequestContext, driver};
//! use agentwire_transport::duplex;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Add { a: i64, b: i64 }
//! impl RequestMethod for Add {
//!     const NAME: &'static str = "add";
//!     type Response = i64;
//! }
//!
//! #[derive(Serialize, Deserialize)]
//! struct Working { percent: u8 }
//! impl NotificationMethod for Working {
//!     const NAME: &'static str = "working";
//! }
//!
//! struct Adder;
//! impl Handler for Adder {
//!     async fn request(&self, request: Request, context: RequestContext) -> Result<RawJson, ErrorObject> {
//!         let params = request.params.ok_or_else(|| ErrorObject::invalid_params("none"))?;
//!         let Add { a, b } = params.decode().map_err(ErrorObject::invalid_params)?;
//!         context.peer().notify(&Working { percent: 50 }).await?;
//!         context.peer().encode_result(&(a + b)).map_err(ErrorObject::internal_error)
//!     }
//!     fn notification(&self, _: Notification, _: &Peer) {}
//! }
//!
//! struct Listener;
//! impl Handler for Listener {
//!     async fn request(&self, request: Request, _: RequestContext) -> Result<RawJson, ErrorObject> {
//!         Err(ErrorObject::method_not_found(&request.method))
//!     }
//!     fn notification(&self, notification: Notification, _: &Peer) {
//!         assert_eq!(notification.method, "working");
//!     }
//! }
//!
//! # #[cfg(feature = "tokio")]
//! # async fn example() {
//! use agentwire_peer::TokioClock;
//!
//! let (left, right) = duplex(8);
//! let (adder, near) = driver(Config::new(Dialect::MCP), TokioClock::default());
//! let (_, far) = driver(Config::new(Dialect::MCP), TokioClock::default());
//! // Both sides in one task, although each waits for the other.
//! let main = async { adder.call(&Add { a: 2, b: 3 }).await };
//! let ((sum, _), served) = futures::join!(near.run(Listener, left, main), far.serve(Adder, right));
//! assert_eq!(sum.unwrap(), 5);
//! assert!(served.is_ok(), "the end of `main` is the end of both");
//! # }
//! # #[cfg(feature = "tokio")]
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(example());
//! ```
//!
//! # Parts
//!
//! ```text
//!  Driver ─ drives ─▶ EventLoop ═ Port + handlers             a relay ═ two Ports
//!                                  │
//!                                  Connection + Transport + state shared with handles
//! ```
//!
//! [`runtime`] has the port and further methods of [`Peer`] and [`Call`], for crates that build protocol runtimes.
//!
//! # Observing
//!
//! [`Config::observer`] sets an [`Observer`](observe::Observer). It is called for calls and notifications in both directions,
//! frames and their size, the send queue, cancelled calls, unreadable input, and the start and end of the connection.
//! [`observe`] documents when each method is called, and where telemetry finds its data. Without an observer, each message
//! costs one branch. The feature `tracing` adds `observe::TracingObserver`, which reports spans and events.
//!
//! # What it will not do
//!
//! It defines no method, handshake or session: the runtimes on top do. It does not connect or reconnect. It has no default
//! time-out: a [`Call`] without one waits until the connection closes. It does not limit how many calls *you* have in flight.
//!
//! # Invariants
//!
//! - **Order out.** There is one queue. A message that a handler sends arrives before the handler's response.
//! - **Order in.** Messages are handled one by one. The part of a handler before its first wait runs before the next message
//!   is handled, unless [`Config::backlog_limit`] bytes are queued: see [`Handler::request`]. Every notification is
//!   delivered before a later response resolves. Hooks on a response ([`Call::check`], [`Call::on_result`]) run before any
//!   later message is delivered.
//! - **Bounds.** [`Notify`] and [`Call`] wait while [`Config::high_water`] bytes are queued. Handlers of requests are not
//!   polled while [`Config::backlog_limit`] bytes are queued or held by the transport, so at most that and one response
//!   take memory. A request over [`Config::request_limit`] or [`Config::request_bytes_limit`] is refused. Reading pauses
//!   only when `request_limit` requests are unanswered *and* `backlog_limit` bytes are queued. So two drivers that flood each
//!   other do not block each other, unless both have reached both limits.
//! - **Every request is answered**, unless the [`Dialect`] or the transport wants no response. The response
//!   is an internal error if the handler panics, or is dropped because the connection ends.
//! - **Every wait ends.** A call resolves at the latest when the peer closes its side or the driver is dropped, even if the
//!   driver never ran. A handle that outlives the driver fails at once.
//! - **Panics** of a handler or a hook do not end the connection or other handlers.
//! - **Idle connections cost no polls.** A driver without work is not polled. Each poll ends in bounded time, whatever arrives.
//! - **Ready futures yield.** Every 128th future that could complete or fail on its first poll, for example because the
//!   connection is closed, is pending once. So a loop over such futures does not hold its thread.
//! - The state is not locked while code of yours runs, destructors included. The encode buffer is locked while a value is
//!   serialized. If its serialization encodes another value, that one gets its own buffer.
//!
//! # How it ends
//!
//! | event | our calls | handlers at work | then |
//! |---|---|---|---|
//! | the peer closes its side | fail with [`Closed`] at once | have [`Config::drain`] to return; their requests are answered | `serve` ends; `run` goes on with `main` |
//! | the signal of [`Config::shutdown`] | go on | have [`Config::drain`] to return; their requests are answered, new ones get an error | `serve` ends |
//! | writing fails | new ones fail; open ones fail when reading ends, which may give a better reason, or after `drain` | have `drain` to return | `serve` ends; `run` goes on with `main` |
//! | `main` of [`Driver::run`] completes | fail | are dropped and answered | queued frames have `drain` to leave |
//! | the driver is dropped | fail | are dropped | the transport is dropped |
//!
//! In all cases but the last the transport is closed, which may take [`Config::close`].
//!
//! # Cancel safety
//!
//! - Dropping a [`Call`] whose request was sent cancels it at the peer, unless the [`Dialect`] forbids to cancel its method. A
//!   request that was not sent yet is withdrawn.
//! - Dropping a [`Notify`] that has not completed sends nothing.
//! - Dropping [`Cancelled`] or [`WhenClosed`] loses nothing; make another.
//! - Dropping the future of [`Driver::serve`] or [`Driver::run`] drops the handlers, `main` and the transport with it.
//!   Messages that were queued and not yet written are lost.

// circle: error/box_error.rs, error/connection_error.rs: each becomes the other by `?`.
#![cfg_attr(docsrs, feature(doc_cfg))]

// The facade crate `futures` brings crates that are not needed here. The tests depend on it, so both use the same paths.
#[cfg(not(test))]
extern crate futures_util as futures;

mod call;
mod clock;
mod config;
mod driver;
mod error;
mod event_loop;
mod handler;
#[cfg(feature = "layers")]
pub mod layers;
pub mod observe;
mod panics;
mod peer;
mod peer_inner;
mod port;
pub mod runtime;
mod state;
mod sync;

pub use agentwire_connection::{CallId, Dialect};
pub use call::Call;
pub use clock::Clock;
#[cfg(feature = "tokio")]
pub use clock::TokioClock;
pub use config::Config;
pub use driver::{Driver, driver};
pub use error::box_error::BoxError;
pub use error::connection_error::ConnectionError;
pub use error::or_internal::OrInternal;
pub use error::{CallError, Closed};
pub use event_loop::shutdown::Shutdown;
pub use handler::{Cancelled, Handler, RequestContext};
pub use peer::notify::Notify;
pub use peer::{Peer, WhenClosed};

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
