//! Pauses reading from the agent while much output is queued.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use agentwire_transport::{Packet, Transport, TransportError};
use futures_util::{Sink, Stream};

use crate::output::output_queue::{OutputQueue, RoomWaiter};

/// A transport that pauses reading while the output queue is full. Writing goes on.
pub(in crate::chat) struct Throttle<T> {
    transport: T,
    room: RoomWaiter,
}

impl<T: Transport> Throttle<T> {
    pub(in crate::chat) fn new(transport: T, output: &OutputQueue) -> Self {
        Self { transport, room: output.room_waiter() }
    }
}

impl<T: Transport> Stream for Throttle<T> {
    type Item = Result<Packet, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        ready!(self.room.poll(cx));
        Pin::new(&mut self.transport).poll_next(cx)
    }
}

impl<T: Transport> Sink<Packet> for Throttle<T> {
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
