//! The seam between transports and what runs on them.
//!
//! `agentwire_transport` here is `agentwire::transport` in the crate `agentwire`.
//!
//! A transport moves [`Packet`]s: it is a [`Sink`] of them and a [`Stream`] of them, and that is all this
//! crate asks of it. Both directions work at once, and a packet that is half read or half written stays in
//! the transport, so dropping a future that was waiting for it loses nothing.
//!
//! ```text
//!  bytes ── lines(read, write) ──┐
//!  a WebSocket, a channel, … ────┼── Transport: Sink<Packet> + Stream<Item = Result<Packet, TransportError>> ──▶ peer
//!  duplex() ─────────────────────┘
//! ```
//!
//! That is the first of two shapes: a connection. The second is an [`Exchange`]: one request that stands alone, as a POST of
//! MCP's Streamable HTTP does. It has a response, and a bounded way to send notifications before that. A [`Service`] answers
//! both, so a transport can deliver a request that stands alone without dressing it up as a connection.
//!
//! # A transport of your own
//!
//! Anything that takes and gives text messages is a few lines away:
//!
//! ```
//! use agentwire_transport::{TransportError, Packet, Transport};
//! use futures::{Sink, SinkExt, Stream, StreamExt, stream};
//!
//! fn websocket<E: Into<TransportError>>(
//!     socket: impl Sink<String, Error = E> + Stream<Item = Result<String, E>> + Unpin,
//! ) -> impl Transport {
//!     socket
//!         .sink_map_err(Into::into)
//!         .with_flat_map(|packet: Packet| stream::iter(packet.into_json().map(Ok)))
//!         .map(|text| Ok(Packet::from_json(&text.map_err(Into::into)?)))
//! }
//! ```
//!
//! # What it will not do
//!
//! It matches no responses to calls, spawns nothing and knows no runtime. A line or message that is not
//! JSON-RPC is not an error of the transport: it travels as a malformed frame, so that it can be answered.
//!
//! # Invariants
//!
//! - Packets arrive in the order in which they were sent.
//! - No buffer here grows with what a peer sends: a sink is ready only while little waits to be written.
//! - A [`TransportError`] is the last item of a stream.
//!
//! [`Sink`]: futures::Sink
//! [`Stream`]: futures::Stream

// Its facade would bring crates that are not needed here. Tests have that, and so the same paths.
#[cfg(not(test))]
extern crate futures_util as futures;

// circle: error.rs, exited.rs: the error of a transport may be the exit of its process, which is looked for in such an error.

mod bridge;
mod duplex;
mod error;
mod exchange;
mod exited;
mod lines;
mod output;
mod packet;
mod source;
mod sync;
mod tap;

pub use bridge::bridge;
pub use duplex::{Duplex, duplex};
pub use error::{TransportError, chain};
pub use exchange::{
    Exchange, ExchangeEnded, ExchangeEvent, NotificationSink, NotificationStream, SendNotification, Service,
    connection_fn, service_fn,
};
pub use exited::Exited;
pub use lines::{Lines, lines};
pub use packet::{Packet, Transport};
pub use source::MessageSource;
pub use tap::{Direction, Tap, tap};

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
