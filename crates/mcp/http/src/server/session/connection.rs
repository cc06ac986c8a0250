//! The transport for one server-side session: a stream of the client's packets and a sink to its response streams. Dropping it
//! ends the session.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_store::SessionId;
use agentwire_transport::{Packet, TransportError};
use futures::{Sink, Stream};

use crate::server::Head;
use crate::server::endpoint::resources::Resources;
use crate::server::session::Session;
use crate::server::session::sessions::Sessions;

/// One session with a client, from `initialize` until one side ends it: a transport to be served.
///
/// Dropping it ends the session. Requests that are not answered then fail.
#[derive(Debug)]
pub struct Connection {
    resources: Arc<Resources>,
    sessions: Arc<Sessions>,
    session: Arc<Session>,
    head: Arc<Head>,
}

impl Connection {
    pub(crate) fn new(
        resources: Arc<Resources>,
        sessions: Arc<Sessions>,
        session: Arc<Session>,
        head: Arc<Head>,
    ) -> Self {
        Self { resources, sessions, session, head }
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The session's id.
    pub fn session_id(&self) -> SessionId {
        self.session.id()
    }

    /// The head of the HTTP request that opened it. Those of the requests after it come with their packets.
    pub fn head(&self) -> &Arc<Head> {
        &self.head
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.sessions.end(&self.session);
    }
}

/// Yields the packets of the client. The [`MessageSource`](agentwire_transport::MessageSource) of each packet is the [`Head`]
/// of its HTTP request. It ends when the session does. A client that closes a response has not left the session, because it
/// may come back.
impl Stream for Connection {
    type Item = Result<Packet, TransportError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.session.poll_packet(cx).map(|packet| packet.map(Ok))
    }
}

/// Puts each frame on one stream: an answer, or a message `in_reply_to` an unanswered request, on the stream of its request.
/// Every other frame goes to a stream that the client has opened with GET; while there is none, the newest frames are kept.
/// There is room while no stream of the session is full. While other requests are unanswered there is room beyond that, up
/// to [`EndpointConfig::session_high_water`](crate::server::EndpointConfig::session_high_water).
impl Sink<Packet> for Connection {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.session.poll_room(cx, &self.resources.config).map(Ok)
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        // A cancelled call of ours needs no packet of its own: a frame notifies the client.
        if let Packet::Frame { frame, in_reply_to, .. } = packet {
            let frame = self.session.outgoing(&self.sessions, frame, in_reply_to.as_ref());
            if frame.is_some_and(|frame| self.session.send(frame, in_reply_to.as_ref(), &self.resources)) {
                self.sessions.end(&self.session);
            }
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        // The response finds each frame where `start_send` has put it.
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.sessions.end(&self.session);
        Poll::Ready(Ok(()))
    }
}
