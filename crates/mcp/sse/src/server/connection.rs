//! The transport for one HTTP+SSE session. Its sink waits while the client leaves too many bytes unread, and ends the session
//! after `stall`.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use agentwire_transport::{Packet, TransportError};
use agentwire_transport_http::server::Head;
use futures_util::{FutureExt, Sink, Stream};
use tokio::time::Sleep;

use crate::server::Stalled;
use crate::server::session::{Room, Session};
use crate::server::sessions::Sessions;

/// One client's session: a transport to be served.
///
/// It begins when the client opens its stream, and lasts until one side ends it. Dropping a connection, or closing it,
/// ends the stream once the queued events have been sent.
#[derive(Debug)]
pub struct Connection {
    sessions: Arc<Sessions>,
    session: Arc<Session>,
    head: Arc<Head>,
    /// Runs while there is no room; its end cuts the session.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Connection {
    pub(crate) fn new(sessions: Arc<Sessions>, session: Arc<Session>, head: Arc<Head>) -> Self {
        Self { sessions, session, head, stalled: None }
    }

    /// The head of the GET that opened it. Those of the POSTs come with their packets.
    pub fn head(&self) -> &Arc<Head> {
        &self.head
    }

    fn end(&self) {
        self.sessions.remove(&self.session);
        self.session.finish();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.end();
    }
}

/// Yields the client's messages. The [`MessageSource`](agentwire_transport::MessageSource) of each packet is the [`Head`] of
/// its POST. It ends when the client's stream does, and when the endpoint shuts down.
impl Stream for Connection {
    type Item = Result<Packet, TransportError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.session.poll_packet(cx).map(|packet| packet.map(Ok))
    }
}

/// Queues frames for the client. There is room while the client has left less than
/// [`high_water`](agentwire_transport_http::server::EndpointConfig::high_water) bytes unread. A client that leaves it full
/// for longer than [`stall`](agentwire_transport_http::server::EndpointConfig::stall) while a sender waits for room loses its session.
impl Sink<Packet> for Connection {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        let limits = &this.sessions.limits;
        if let Poll::Ready(room) = this.session.poll_room(cx, limits.high_water) {
            this.stalled = None;
            return Poll::Ready(match room {
                Room::Free => Ok(()),
                Room::Ended => Err(io::Error::from(io::ErrorKind::BrokenPipe).into()),
            });
        }
        let stalled = this.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(limits.stall)));
        ready!(stalled.poll_unpin(cx));
        this.sessions.remove(&this.session);
        this.session.cut();
        Poll::Ready(Err(TransportError::other(Stalled { after: limits.stall })))
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        // No other packet has a form that could be sent.
        if let Packet::Frame { frame, .. } = packet {
            self.session.send(&frame);
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        // The response body finds each frame where `start_send` has put it.
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.end();
        Poll::Ready(Ok(()))
    }
}
