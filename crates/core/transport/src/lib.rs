//! The interface between transports and the code that uses them: packets, connections, and single requests.
//!
//! `agentwire_transport` here is `agentwire::transport` in the crate `agentwire`.
//!
//! A transport moves [`Packet`]s: it is a [`Sink`] and a [`Stream`] of them, and needs nothing else. Both directions work at
//! once. A half-read or half-written packet stays in the transport, so dropping a future that waits for it loses nothing.
//!
//! ```text
//!  bytes ── lines(read, write) ──┐
//!  a WebSocket, a channel, … ────┼── Transport: Sink<Packet> + Stream<Item = Result<Packet, TransportError>> ──▶ peer
//!  duplex() ─────────────────────┘
//! ```
//!
//! A transport like that is a *connection*. The second shape is an [`Exchange`]: one request without a connection, as a POST
//! of MCP's Streamable HTTP. It has a response, and a bounded queue for the notifications before it. A [`Service`] serves
//! both, so a transport need not wrap a single request in a connection.
//!
//! # A transport of your own
//!
//! A sink and stream of text messages becomes a transport in a few lines:
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
//! It does not match responses to calls, spawn tasks or need a runtime. A line or message that is not JSON-RPC is not an
//! error of the transport: it becomes a malformed frame, so that it can be answered.
//!
//! # Invariants
//!
//! - Packets arrive in the order in which they were sent.
//! - No buffer grows without bound: a sink is ready only while few bytes wait to be written.
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
mod read_when;
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
pub use read_when::{ReadWhen, read_when};
pub use source::MessageSource;
pub use tap::{Direction, Tap, tap};

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
