use std::pin::Pin;
use std::task::{Context, Poll};

use futures::channel::mpsc;
use futures::{Sink, Stream};

use crate::{Fault, Packet};

/// Two transports that are each other's peer, in memory.
///
/// Up to `capacity` packets wait in each direction, plus one. No text is written or read: what one side sends
/// is what the other gets.
pub fn duplex(capacity: usize) -> (Duplex, Duplex) {
    let (left, from_left) = mpsc::channel(capacity);
    let (right, from_right) = mpsc::channel(capacity);
    (Duplex { sender: left, receiver: from_right }, Duplex { sender: right, receiver: from_left })
}

/// One end of a [`duplex`]. Dropping it closes both directions.
#[derive(Debug)]
pub struct Duplex {
    sender: mpsc::Sender<Packet>,
    receiver: mpsc::Receiver<Packet>,
}

impl Stream for Duplex {
    type Item = Result<Packet, Fault>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.receiver).poll_next(cx).map(|packet| packet.map(Ok))
    }
}

impl Sink<Packet> for Duplex {
    type Error = Fault;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        Pin::new(&mut self.sender).poll_ready(cx).map_err(gone)
    }

    fn start_send(mut self: Pin<&mut Self>, packet: Packet) -> Result<(), Fault> {
        Pin::new(&mut self.sender).start_send(packet).map_err(gone)
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        // What was taken is already where the other side finds it.
        Poll::Ready(Ok(()))
    }

    fn poll_close(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        self.sender.close_channel();
        Poll::Ready(Ok(()))
    }
}

fn gone(_error: mpsc::SendError) -> Fault {
    std::io::Error::from(std::io::ErrorKind::BrokenPipe).into()
}
