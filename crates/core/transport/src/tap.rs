//! Wraps a transport and calls a closure with each packet that it receives or sends.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::{Sink, Stream};

use crate::{Packet, Transport, TransportError};

/// The direction of a packet or of bytes, seen from this side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "there are two directions")]
pub enum Direction {
    /// From us to the peer.
    Out,
    /// From the peer to us.
    In,
}

/// Calls `watch` with every packet in both directions. Packets are not changed.
///
/// For logs, transcripts and tests. `watch` gets an outgoing packet when the transport accepts it, which may be before it is
/// written.
///
/// ```
/// use agentwire_transport::{Direction, Packet, duplex, tap};
/// use futures::SinkExt;
///
/// # futures::executor::block_on(async {
/// let (client, _server) = duplex(8);
/// let mut transcript = Vec::new();
/// let mut client = tap(client, |direction, packet: &Packet| transcript.push((direction, packet.clone().into_json())));
/// client.send(Packet::from_json(r#"{"jsonrpc":"2.0","method":"hello"}"#)).await?;
/// drop(client);
/// assert_eq!((transcript.len(), transcript[0].0), (1, Direction::Out));
/// # Ok::<_, agentwire_transport::TransportError>(())
/// # }).unwrap();
/// ```
pub fn tap<T: Transport, F: FnMut(Direction, &Packet) + Unpin>(transport: T, watch: F) -> Tap<T, F> {
    Tap { transport, watch }
}

/// A transport that calls a closure with its packets; see [`tap`].
pub struct Tap<T, F> {
    transport: T,
    watch: F,
}

impl<T: fmt::Debug, F> fmt::Debug for Tap<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tap").field("transport", &self.transport).finish_non_exhaustive()
    }
}

impl<T: Transport, F: FnMut(Direction, &Packet) + Unpin> Stream for Tap<T, F> {
    type Item = Result<Packet, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = Pin::new(&mut self.transport).poll_next(cx);
        if let Poll::Ready(Some(Ok(packet))) = &item {
            (self.watch)(Direction::In, packet);
        }
        item
    }
}

impl<T: Transport, F: FnMut(Direction, &Packet) + Unpin> Sink<Packet> for Tap<T, F> {
    type Error = TransportError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Pin::new(&mut self.transport).poll_ready(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        (self.watch)(Direction::Out, &packet);
        Pin::new(&mut self.transport).start_send(packet)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Pin::new(&mut self.transport).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Pin::new(&mut self.transport).poll_close(cx)
    }
}
