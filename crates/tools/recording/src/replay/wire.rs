//! The wires of a replay: a transport of packets, or lines of bytes, which can carry text that is not a message.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use agentwire_jsonrpc::{DEFAULT_LINE_LIMIT, Frame, LineDecoder, RawJson, RequestId, WithCauses, read};
use agentwire_transport::{Packet, Transport, TransportError};
use bytestring::ByteString;
use futures_util::{AsyncRead, AsyncWrite};

use crate::replay::Outgoing;

/// The data that the live side sent.
#[derive(Debug)]
#[non_exhaustive]
pub enum Incoming {
    /// A message or a batch.
    Message(RawJson),
    /// Text that is not a message.
    Text(String),
    /// The failure of a request of the played side, which gets no response.
    Failure {
        /// The id as JSON text.
        id: String,
        /// The reason.
        why: String,
    },
    /// A packet without a message, which is not compared.
    Nothing,
}

impl Outgoing {
    /// The message as a packet.
    pub fn into_packet(self) -> Packet {
        let frame = Frame::parse(ByteString::from(self.text));
        let in_reply_to = match self.answers {
            Some(_) => None,
            None => self.in_reply_to.as_deref().and_then(|id| read::<RequestId>(id).ok()),
        };
        Packet::Frame { frame, in_reply_to, source: None }
    }
}

/// Carries the messages of a replay.
pub trait Wire {
    /// Receives the next data of the live side. `None` at its end.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Incoming, TransportError>>>;

    /// Queues a message.
    fn send(&mut self, outgoing: Outgoing);

    /// Writes the queued messages. Ready once they are written or the wire has failed.
    /// The failure shows in [`poll_receive`](Self::poll_receive).
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Writes the queued messages, and closes the direction to the live side.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<()>;
}

impl<W: Wire + ?Sized> Wire for Box<W> {
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Incoming, TransportError>>> {
        (**self).poll_receive(cx)
    }

    fn send(&mut self, outgoing: Outgoing) {
        (**self).send(outgoing);
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        (**self).poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        (**self).poll_close(cx)
    }
}

/// A transport of packets.
#[derive(Debug)]
pub struct PacketWire<T> {
    transport: T,
    queue: VecDeque<Packet>,
}

impl<T: Transport> PacketWire<T> {
    /// Creates a wire over a transport. Text that is not a message is not sent.
    pub fn new(transport: T) -> Self {
        Self { transport, queue: VecDeque::new() }
    }
}

impl<T: Transport> Wire for PacketWire<T> {
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Incoming, TransportError>>> {
        let packet = ready!(Pin::new(&mut self.transport).poll_next(cx));
        Poll::Ready(packet.map(|packet| packet.map(incoming)))
    }

    fn send(&mut self, outgoing: Outgoing) {
        let packet = outgoing.into_packet();
        if !matches!(packet, Packet::Frame { frame: Frame::Malformed(_), .. }) {
            self.queue.push_back(packet);
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.queue.is_empty() {
            if ready!(Pin::new(&mut self.transport).poll_ready(cx)).is_err() {
                self.queue.clear();
                return Poll::Ready(());
            }
            if let Some(packet) = self.queue.pop_front() {
                let _poll_receive_reports_it = Pin::new(&mut self.transport).start_send(packet);
            }
        }
        Pin::new(&mut self.transport).poll_flush(cx).map(drop)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        ready!(self.poll_flush(cx));
        Pin::new(&mut self.transport).poll_close(cx).map(drop)
    }
}

fn incoming(packet: Packet) -> Incoming {
    match packet {
        Packet::Frame { frame: Frame::Malformed(malformed), .. } => {
            Incoming::Text(malformed.error.to_string())
        }
        Packet::RequestFailed { id, error } => Incoming::Failure {
            id: serde_json::to_string(&id).unwrap_or_default(),
            why: WithCauses::new(&error).to_string(),
        },
        packet => match packet.into_json().map(|text| RawJson::parse(ByteString::from(text))) {
            Some(Ok(json)) => Incoming::Message(json),
            _ => Incoming::Nothing,
        },
    }
}

/// Lines over a pair of byte streams.
#[derive(Debug)]
pub struct LineWire<R, W> {
    read: R,
    /// `None` once it is closed or has failed.
    write: Option<W>,
    lines: LineDecoder,
    has_ended: bool,
    queue: VecDeque<u8>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> LineWire<R, W> {
    /// Creates a wire over a reader and a writer.
    pub fn new(read: R, write: W) -> Self {
        let lines = LineDecoder::new(DEFAULT_LINE_LIMIT);
        Self { read, write: Some(write), lines, has_ended: false, queue: VecDeque::new() }
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Wire for LineWire<R, W> {
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Incoming, TransportError>>> {
        loop {
            let line = if self.has_ended {
                self.lines.next_line().or_else(|| self.lines.finish())
            } else {
                self.lines.next_line()
            };
            match line {
                Some(Ok(text)) if text.trim().is_empty() => continue,
                Some(Ok(text)) => {
                    let is_message = text.trim_start().starts_with(['{', '[']);
                    let json = RawJson::parse(text.clone()).ok().filter(|_| is_message);
                    let incoming = json.map_or_else(|| Incoming::Text(text.to_string()), Incoming::Message);
                    return Poll::Ready(Some(Ok(incoming)));
                }
                Some(Err(error)) => return Poll::Ready(Some(Ok(Incoming::Text(error.to_string())))),
                None if self.has_ended => return Poll::Ready(None),
                None => {}
            }
            match ready!(Pin::new(&mut self.read).poll_read(cx, self.lines.room())) {
                Ok(0) => self.has_ended = true,
                Ok(count) => self.lines.filled(count),
                Err(error) => {
                    self.has_ended = true;
                    return Poll::Ready(Some(Err(error.into())));
                }
            }
        }
    }

    fn send(&mut self, outgoing: Outgoing) {
        if self.write.is_some() {
            self.queue.extend(outgoing.text.bytes());
            self.queue.push_back(b'\n');
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(write) = &mut self.write else { return Poll::Ready(()) };
        while !self.queue.is_empty() {
            let (bytes, _) = self.queue.as_slices();
            match ready!(Pin::new(&mut *write).poll_write(cx, bytes)) {
                Ok(count) if count > 0 => drop(self.queue.drain(..count)),
                _ => {
                    self.queue.clear();
                    self.write = None;
                    return Poll::Ready(());
                }
            }
        }
        Pin::new(write).poll_flush(cx).map(drop)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        ready!(self.poll_flush(cx));
        if let Some(write) = &mut self.write {
            let _closed = ready!(Pin::new(write).poll_close(cx));
            self.write = None;
        }
        Poll::Ready(())
    }
}
