use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use agentwire_jsonrpc::{Frame, Message, RequestId};
use agentwire_transport::{Fault, Packet};
use futures::{Sink, Stream};

use crate::server::outlet::Outlet;
use crate::server::session::Session;
use crate::server::shared::Shared;
use crate::server::{Head, Reservation, SessionId};

/// One client's conversation with the endpoint: a transport to be served.
///
/// Either a session, which begins with `initialize` and lasts until one side ends it; or, since 2026-07-28, one
/// exchange: a single request and its answer, or a single notification. [`kind`](Link::kind) says which.
///
/// Dropping a link ends the conversation. What was asked and not answered then fails.
#[derive(Debug)]
pub struct Link {
    shared: Arc<Shared>,
    inner: Inner,
    head: Arc<Head>,
}

#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "a box would cost each exchange an allocation, and sessions are few"
)]
enum Inner {
    Session(Arc<Session>),
    Exchange(Exchange),
}

#[derive(Debug)]
struct Exchange {
    /// What the client has sent, until it is taken.
    packet: Option<Packet>,
    /// The id under which it is answered. None when nothing more will be given or taken.
    asked: Option<RequestId>,
    /// Where it is answered; a notification is not.
    outlet: Option<Arc<Outlet>>,
    /// The memory that a notification takes, for as long as it is served. A request has it in its outlet.
    _reservation: Option<Reservation>,
}

/// What a [`Link`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkKind {
    /// A session of 2025-03-26 to 2025-11-25.
    Session(SessionId),
    /// One request or notification of 2026-07-28 or later, which stands alone.
    Exchange,
}

/// Who calls, in a form that can be compared. A layer that knows puts it into the
/// [`Extensions`](http::Extensions) of every request, and a session is then found only by whoever opened it; to others
/// it does not exist.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    /// A caller, by a name that no other has.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Link {
    pub(crate) fn session(shared: Arc<Shared>, session: Arc<Session>, head: Arc<Head>) -> Self {
        Self { shared, inner: Inner::Session(session), head }
    }

    /// An exchange that has been counted.
    pub(crate) fn exchange(
        shared: Arc<Shared>,
        message: Message,
        outlet: Option<Arc<Outlet>>,
        head: Arc<Head>,
        reservation: Reservation,
    ) -> Self {
        let asked = match &message {
            Message::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let packet = Some(head.brings(message));
        let mut reservation = Some(reservation);
        if let Some(outlet) = &outlet {
            outlet.reserve(reservation.take());
        }
        let exchange = Exchange { packet, asked, outlet, _reservation: reservation };
        Self { shared, inner: Inner::Exchange(exchange), head }
    }

    pub(crate) fn as_session(&self) -> Option<&Arc<Session>> {
        match &self.inner {
            Inner::Session(session) => Some(session),
            Inner::Exchange(_) => None,
        }
    }

    /// Whether this is a session or one exchange.
    pub fn kind(&self) -> LinkKind {
        match &self.inner {
            Inner::Session(session) => LinkKind::Session(session.id()),
            Inner::Exchange(_) => LinkKind::Exchange,
        }
    }

    /// The head of the HTTP request that opened it. Those of the requests after it come with their packets.
    pub fn head(&self) -> &Arc<Head> {
        &self.head
    }

    fn end(&mut self) {
        match &mut self.inner {
            Inner::Session(session) => self.shared.end_session(session),
            Inner::Exchange(exchange) => {
                if let Some(outlet) = exchange.outlet.take() {
                    outlet.finish();
                }
                exchange.asked = None;
            }
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        match &mut self.inner {
            Inner::Session(session) => self.shared.end_session(session),
            Inner::Exchange(exchange) => {
                if let Some(outlet) = &exchange.outlet {
                    outlet.hang_up();
                }
                self.shared.end_exchange();
            }
        }
    }
}

/// Gives what the client sends, and with each packet, as its [`Origin`](agentwire_transport::Origin), the [`Head`] of
/// the HTTP request that brought it. In a session it ends when the session does; of an exchange, after the answer. A
/// client that closes the response of an exchange is heard as [`Packet::Abandon`]; in a session that means
/// nothing, because it may come back.
impl Stream for Link {
    type Item = Result<Packet, Fault>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut self.get_mut().inner {
            Inner::Session(session) => session.poll_packet(cx).map(|packet| packet.map(Ok)),
            Inner::Exchange(exchange) => exchange.poll_packet(cx).map(|packet| packet.map(Ok)),
        }
    }
}

impl Exchange {
    fn poll_packet(&mut self, cx: &Context<'_>) -> Poll<Option<Packet>> {
        if let Some(packet) = self.packet.take() {
            return Poll::Ready(Some(packet));
        }
        let Some(outlet) = self.outlet.as_ref().filter(|_| self.asked.is_some()) else {
            return Poll::Ready(None);
        };
        let abandoned = ready!(outlet.poll_left(cx));
        let asked = self.asked.take();
        Poll::Ready(asked.filter(|_| abandoned).map(Packet::Abandon))
    }
}

/// Takes what is said to the client, and puts it on the one stream it belongs to: an answer on that of its
/// request, and so what is `related` to a request that is not answered yet. All else goes to a stream that the
/// client has opened with GET; while there is none, the newest of it is kept. There is room while no stream of
/// the session has more unread than the high-water mark, and while others wait even then, up to a limit; see
/// [`Config::session_high_water`](crate::server::Config::session_high_water).
impl Sink<Packet> for Link {
    type Error = Fault;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        match &self.inner {
            Inner::Session(session) => session.poll_room(cx, &self.shared).map(Ok),
            Inner::Exchange(Exchange { outlet: Some(outlet), .. }) => {
                outlet.poll_room(cx, self.shared.config.high_water).map(Ok)
            }
            Inner::Exchange(_) => Poll::Ready(Ok(())),
        }
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), Fault> {
        let this = self.get_mut();
        // That we no longer wait for the client's answer is something the client is told by a frame.
        let Packet::Frame { frame, related, .. } = packet else {
            return Ok(());
        };
        match &this.inner {
            Inner::Session(session) => {
                if session.send(frame, related.as_ref(), &this.shared) {
                    this.shared.end_session(session);
                }
            }
            Inner::Exchange(Exchange { outlet: Some(outlet), .. }) => {
                let answers = usize::from(!matches!(
                    frame,
                    Frame::Single(Message::Notification(_) | Message::Request(_))
                ));
                outlet.put(&frame, answers, &this.shared);
            }
            Inner::Exchange(_) => {}
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        // What was taken is where the response finds it.
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        self.get_mut().end();
        Poll::Ready(Ok(()))
    }
}
