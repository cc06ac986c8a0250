//! Wraps a transport and reads from it only when a condition allows it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::{Sink, Stream};

use crate::{Packet, Transport, TransportError};

/// Reads from `transport` only when `ready` allows it. Writing goes on.
///
/// For back-pressure from where the packets end up, such as a full output queue. `ready` is polled before each read, and
/// registers the waker while it is pending.
///
/// ```
/// use std::task::Poll;
///
/// use agentwire_transport::{Packet, duplex, read_when};
/// use futures::{FutureExt, SinkExt, StreamExt};
///
/// # futures::executor::block_on(async {
/// let (mut client, server) = duplex(8);
/// client.send(Packet::from_json(r#"{"jsonrpc":"2.0","method":"hello"}"#)).await?;
/// let mut server = read_when(server, |_| Poll::Pending);
/// assert!(server.next().now_or_never().is_none());
/// # Ok::<_, agentwire_transport::TransportError>(())
/// # }).unwrap();
/// ```
pub fn read_when<T, F>(transport: T, ready: F) -> ReadWhen<T, F>
where
    T: Transport,
    F: FnMut(&mut Context<'_>) -> Poll<()> + Unpin,
{
    ReadWhen { transport, ready }
}

/// A transport that pauses reading; see [`read_when`].
pub struct ReadWhen<T, F> {
    transport: T,
    ready: F,
}

impl<T: fmt::Debug, F> fmt::Debug for ReadWhen<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadWhen").field("transport", &self.transport).finish_non_exhaustive()
    }
}

impl<T: Transport, F: FnMut(&mut Context<'_>) -> Poll<()> + Unpin> Stream for ReadWhen<T, F> {
    type Item = Result<Packet, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        ready!((self.ready)(cx));
        Pin::new(&mut self.transport).poll_next(cx)
    }
}

impl<T: Transport, F: Unpin> Sink<Packet> for ReadWhen<T, F> {
    type Error = TransportError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Pin::new(&mut self.transport).poll_ready(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        Pin::new(&mut self.transport).start_send(packet)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Pin::new(&mut self.transport).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Pin::new(&mut self.transport).poll_close(cx)
    }
}
