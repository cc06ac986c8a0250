//! Connects two in-memory transports by two bounded queues of packets. Dropping one end closes both directions.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures::{Sink, Stream};

use crate::sync::{Mutex, MutexGuard};
use crate::{Packet, TransportError};

/// Makes two in-memory transports that are peers of each other.
///
/// Each direction holds up to `capacity` packets, plus one. Packets are passed on as values, not as text.
///
/// ```
/// use agentwire_transport::{Packet, duplex};
/// use futures::{SinkExt, StreamExt};
///
/// # futures::executor::block_on(async {
/// let (mut client, mut server) = duplex(8);
/// client.send(Packet::from_json(r#"{"jsonrpc":"2.0","method":"hello"}"#)).await?;
/// assert!(matches!(server.next().await, Some(Ok(Packet::Frame { .. }))));
/// drop(client);
/// assert!(server.next().await.is_none());
/// # Ok::<_, agentwire_transport::TransportError>(())
/// # }).unwrap();
/// ```
pub fn duplex(capacity: usize) -> (Duplex, Duplex) {
    let (left, right) = (Arc::new(Pipe::new(capacity)), Arc::new(Pipe::new(capacity)));
    (Duplex { out: left.clone(), into: right.clone() }, Duplex { out: right, into: left })
}

/// One end of a [`duplex`]. Dropping it closes both directions.
#[derive(Debug)]
pub struct Duplex {
    out: Arc<Pipe>,
    into: Arc<Pipe>,
}

/// One direction. Each of its ends is polled by one task at a time.
#[derive(Debug)]
struct Pipe {
    capacity: usize,
    state: Mutex<PipeState>,
}

#[derive(Debug, Default)]
struct PipeState {
    packets: VecDeque<Packet>,
    /// Whether the sender has closed its end.
    ended: bool,
    /// Whether the receiver was dropped.
    abandoned: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Pipe {
    fn new(capacity: usize) -> Self {
        Self { capacity, state: Mutex::default() }
    }

    /// Under the lock, the only code from outside this crate is the clone of a waker. A panic in it leaves the state consistent.
    fn state(&self) -> MutexGuard<'_, PipeState> {
        self.state.lock()
    }

    fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        let reader = state.reader.take();
        drop(state);
        wake(reader);
    }

    fn abandon(&self) {
        let mut state = self.state();
        state.abandoned = true;
        let (packets, writer) = (std::mem::take(&mut state.packets), state.writer.take());
        drop(state);
        drop(packets);
        wake(writer);
    }
}

impl PipeState {
    fn open(&self) -> Result<(), TransportError> {
        if self.ended || self.abandoned {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
        }
        Ok(())
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Stream for Duplex {
    type Item = Result<Packet, TransportError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.into.state();
        let Some(packet) = state.packets.pop_front() else {
            if state.ended {
                return Poll::Ready(None);
            }
            state.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        let writer = state.writer.take();
        drop(state);
        wake(writer);
        Poll::Ready(Some(Ok(packet)))
    }
}

impl Sink<Packet> for Duplex {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let mut state = self.out.state();
        state.open()?;
        if state.packets.len() <= self.out.capacity {
            return Poll::Ready(Ok(()));
        }
        state.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        let mut state = self.out.state();
        state.open()?;
        state.packets.push_back(packet);
        let reader = state.reader.take();
        drop(state);
        wake(reader);
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        // `start_send` has already put each packet into the queue of the other side.
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.out.end();
        Poll::Ready(Ok(()))
    }
}

impl Drop for Duplex {
    fn drop(&mut self) {
        self.out.end();
        self.into.abandon();
    }
}
