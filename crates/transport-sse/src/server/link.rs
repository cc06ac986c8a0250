use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use agentwire_transport::{Packet, TransportError};
use agentwire_transport_http::server::Head;
use futures::{FutureExt, Sink, Stream};
use tokio::time::Sleep;

use crate::server::Stalled;
use crate::server::session::{Room, Session};
use crate::server::shared::Shared;

/// One client's session: a transport to be served.
///
/// It begins when the client opens its stream, and lasts until one side ends it. Dropping a link, or closing it,
/// ends the stream once what was said has been sent.
#[derive(Debug)]
pub struct Link {
    shared: Arc<Shared>,
    session: Arc<Session>,
    head: Arc<Head>,
    /// While there is no room.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Link {
    pub(crate) fn new(shared: Arc<Shared>, session: Arc<Session>, head: Arc<Head>) -> Self {
        Self { shared, session, head, stalled: None }
    }

    /// The head of the GET that opened it. Those of the POSTs come with their packets.
    pub fn head(&self) -> &Arc<Head> {
        &self.head
    }

    fn end(&self) {
        self.shared.forget(&self.session);
        self.session.finish();
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.end();
    }
}

/// Gives what the client sends, and with each packet, as its [`MessageSource`](agentwire_transport::MessageSource), the [`Head`] of
/// the POST that brought it. It ends when the client's stream does, and when the endpoint is shut.
impl Stream for Link {
    type Item = Result<Packet, TransportError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.session.poll_packet(cx).map(|packet| packet.map(Ok))
    }
}

/// Queues frames for the client. There is room while the client has left less than
/// [`high_water`](agentwire_transport_http::server::Config::high_water) bytes unread. A client that leaves it full for longer
/// than [`stall`](agentwire_transport_http::server::Config::stall) while a sender waits for room loses its session.
impl Sink<Packet> for Link {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        let limits = &this.shared.limits;
        if let Poll::Ready(room) = this.session.poll_room(cx, limits.high_water) {
            this.stalled = None;
            return Poll::Ready(match room {
                Room::Some => Ok(()),
                Room::Left => Err(io::Error::from(io::ErrorKind::BrokenPipe).into()),
            });
        }
        let stalled = this.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(limits.stall)));
        ready!(stalled.poll_unpin(cx));
        this.shared.forget(&this.session);
        this.session.cut();
        Poll::Ready(Err(TransportError::other(Stalled { after: limits.stall })))
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        // Of all else the client cannot be told.
        if let Packet::Frame { frame, .. } = packet {
            self.session.send(&frame);
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        // What was taken is where the response finds it.
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.end();
        Poll::Ready(Ok(()))
    }
}
