//! An agent that is read no faster than what it says can be shown.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use agentwire_transport::{Packet, Transport, TransportError};
use futures::{Sink, Stream};

use crate::outlet::Outlet;

/// A transport from which nothing is read while much waits to be shown. What we say to the agent goes out all the same.
pub(super) struct Paced<T> {
    transport: T,
    outlet: Outlet,
}

impl<T: Transport> Paced<T> {
    pub(super) fn new(transport: T, outlet: Outlet) -> Self {
        Self { transport, outlet }
    }
}

impl<T: Transport> Stream for Paced<T> {
    type Item = Result<Packet, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        ready!(self.outlet.poll_room(cx));
        Pin::new(&mut self.transport).poll_next(cx)
    }
}

impl<T: Transport> Sink<Packet> for Paced<T> {
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
