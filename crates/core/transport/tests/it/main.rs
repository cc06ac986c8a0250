//! The transports of this crate against readers and writers that do as little as they may.

mod duplex;
mod packet;
mod pipe;
mod read_when;
mod reading;
mod tap;
mod writing;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use agentwire_jsonrpc::{Message, Notification, RawJson};
use agentwire_transport::{Packet, TransportError};
use futures::{Sink, Stream};

/// Counts how often a task was woken.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Wakes {
    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Polls once for the next packet, as text.
fn next(
    stream: &mut (impl Stream<Item = Result<Packet, TransportError>> + Unpin),
) -> Poll<Option<Result<String, TransportError>>> {
    let polled = Pin::new(stream).poll_next(&mut Context::from_waker(Waker::noop()));
    polled.map(|item| item.map(|packet| packet.map(text)))
}

/// Everything up to the end of a stream that is never pending for good.
fn all(
    stream: &mut (impl Stream<Item = Result<Packet, TransportError>> + Unpin),
) -> Vec<Result<String, String>> {
    let mut items = Vec::new();
    let mut idle = 0;
    while idle < 1000 {
        match next(stream) {
            Poll::Ready(None) => return items,
            Poll::Ready(Some(item)) => items.push(item.map_err(|error| error.to_string())),
            Poll::Pending => idle += 1,
        }
    }
    panic!("the stream does not end: {items:?}")
}

fn is_ready(sink: &mut (impl Sink<Packet, Error = TransportError> + Unpin)) -> bool {
    ready(sink).map(Result::unwrap).is_ready()
}

fn ready(sink: &mut (impl Sink<Packet, Error = TransportError> + Unpin)) -> Poll<Result<(), TransportError>> {
    Pin::new(sink).poll_ready(&mut Context::from_waker(Waker::noop()))
}

fn flush(sink: &mut (impl Sink<Packet, Error = TransportError> + Unpin)) -> Poll<Result<(), TransportError>> {
    Pin::new(sink).poll_flush(&mut Context::from_waker(Waker::noop()))
}

fn close(sink: &mut (impl Sink<Packet, Error = TransportError> + Unpin)) -> Poll<Result<(), TransportError>> {
    Pin::new(sink).poll_close(&mut Context::from_waker(Waker::noop()))
}

fn send(sink: &mut (impl Sink<Packet, Error = TransportError> + Unpin), packet: impl Into<Packet>) {
    Pin::new(sink).start_send(packet.into()).unwrap();
}

fn text(packet: Packet) -> String {
    packet.into_json().unwrap_or_else(|| "abandon".to_owned())
}

/// A notification whose params take about so many bytes.
fn note(name: &str, size: usize) -> Message {
    let params = RawJson::encode(&["x".repeat(size)]).unwrap();
    Notification::new(name.to_owned(), Some(params)).into()
}

/// The same as text.
fn note_text(name: &str, size: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{name}","params":["{}"]}}"#, "x".repeat(size))
}
