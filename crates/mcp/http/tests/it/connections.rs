//! Both shapes of the seam as one transport, for scripts that answer sessions and exchanges alike.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use agentwire_jsonrpc::{Frame, Message, Notification, RequestId, Response};
use agentwire_transport::{
    Exchange, ExchangeEvent, MessageSource, NotificationSink, Packet, Service, TransportError,
};
use agentwire_transport_http::server::{self, Endpoint, EndpointConfig, Head, Spawner};
use futures::channel::mpsc::{self, UnboundedReceiver};
use futures::channel::oneshot;
use futures::future::BoxFuture;
use futures::{FutureExt, Sink, Stream, StreamExt};

/// A session, or one exchange.
pub(crate) enum Connection {
    Session(server::Connection),
    Exchange(Box<Alone>),
}

/// One exchange as a transport: its request, and then that its client has left.
pub(crate) struct Alone {
    id: Option<RequestId>,
    packet: Option<Packet>,
    head: Arc<Head>,
    cancelled: Option<ExchangeEvent>,
    closing: Option<ExchangeEvent>,
    answer: Option<oneshot::Sender<Response>>,
    notifications: Option<NotificationSink>,
    sending: Option<BoxFuture<'static, ()>>,
}

impl Connection {
    pub(crate) fn is_session(&self) -> bool {
        matches!(self, Self::Session(_))
    }

    pub(crate) fn head(&self) -> &Arc<Head> {
        match self {
            Self::Session(connection) => connection.head(),
            Self::Exchange(alone) => &alone.head,
        }
    }
}

fn head_of(source: Option<Arc<dyn MessageSource>>) -> Arc<Head> {
    let source: Arc<dyn std::any::Any + Send + Sync> = source.expect("it came over HTTP");
    source.downcast().expect("it came over HTTP")
}

impl Alone {
    fn connection(exchange: Exchange) -> (Connection, oneshot::Receiver<Response>) {
        let (answer, answered) = oneshot::channel();
        let Exchange { request, source, notifications, .. } = exchange;
        let alone = Self {
            id: Some(request.id.clone()),
            packet: Some(packet(request.into(), source.clone())),
            head: head_of(source),
            cancelled: Some(notifications.cancelled()),
            closing: Some(notifications.closing()),
            answer: Some(answer),
            notifications: Some(notifications),
            sending: None,
        };
        (Connection::Exchange(Box::new(alone)), answered)
    }

    fn notified(notification: Notification, source: Option<Arc<dyn MessageSource>>) -> Connection {
        let head = head_of(source.clone());
        let packet = Some(packet(notification.into(), source));
        Connection::Exchange(Box::new(Self {
            id: None,
            packet,
            head,
            cancelled: None,
            closing: None,
            answer: None,
            notifications: None,
            sending: None,
        }))
    }

    fn notify(&mut self, notification: Notification) {
        if let Some(sink) = self.notifications.clone() {
            self.sending = Some(async move { _ = sink.send(notification).await }.boxed());
        }
    }

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(sending) = &mut self.sending {
            ready!(sending.poll_unpin(cx));
            self.sending = None;
        }
        Poll::Ready(())
    }
}

fn packet(message: Message, source: Option<Arc<dyn MessageSource>>) -> Packet {
    Packet::Frame { frame: message.into(), in_reply_to: None, source }
}

impl Stream for Connection {
    type Item = Result<Packet, TransportError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let alone = match self.get_mut() {
            Self::Session(connection) => return connection.poll_next_unpin(cx),
            Self::Exchange(alone) => alone,
        };
        if let Some(packet) = alone.packet.take() {
            return Poll::Ready(Some(Ok(packet)));
        }
        if alone.answer.is_none() {
            return Poll::Ready(None);
        }
        if alone.cancelled.as_mut().is_some_and(|cancelled| cancelled.poll_unpin(cx).is_ready()) {
            alone.answer = None;
            return Poll::Ready(alone.id.take().map(|id| Ok(Packet::CallerLeft(id))));
        }
        match &mut alone.closing {
            Some(closing) => closing.poll_unpin(cx).map(|()| None),
            None => Poll::Ready(None),
        }
    }
}

impl Sink<Packet> for Connection {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        match self.get_mut() {
            Self::Session(connection) => Pin::new(connection).poll_ready(cx),
            Self::Exchange(alone) => alone.poll_room(cx).map(Ok),
        }
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        let alone = match self.get_mut() {
            Self::Session(connection) => return Pin::new(connection).start_send(packet),
            Self::Exchange(alone) => alone,
        };
        let Packet::Frame { frame: Frame::Single(message), .. } = packet else { return Ok(()) };
        match message {
            Message::Response(response) => {
                if let Some(answer) = alone.answer.take() {
                    let _ = answer.send(response);
                }
            }
            Message::Notification(notification) => alone.notify(notification),
            // An exchange has no way to ask the client: what matters to the scripts is that something arrives.
            Message::Request(request) => alone.notify(Notification::new(request.method, request.params)),
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        match self.get_mut() {
            Self::Session(connection) => Pin::new(connection).poll_flush(cx),
            Self::Exchange(alone) => alone.poll_room(cx).map(Ok),
        }
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        match self.get_mut() {
            Self::Session(connection) => Pin::new(connection).poll_close(cx),
            Self::Exchange(alone) => {
                alone.answer = None;
                Poll::Ready(Ok(()))
            }
        }
    }
}

/// Serves every connection by a function, within the endpoint.
pub(crate) struct Inline<F>(pub(crate) F);

impl<F, R> Service<server::Connection> for Inline<F>
where
    F: Fn(Connection) -> R,
    R: Future<Output: 'static> + Send + 'static,
{
    fn connection(&self, connection: server::Connection) -> impl Future<Output = ()> + Send + 'static {
        (self.0)(Connection::Session(connection)).map(drop)
    }

    fn exchange(&self, exchange: Exchange) -> impl Future<Output = Response> + Send + 'static {
        let (connection, mut answered) = Alone::connection(exchange);
        let mut serving = (self.0)(connection).map(drop).boxed();
        let mut has_ended = false;
        std::future::poll_fn(move |cx| {
            if !has_ended {
                has_ended = serving.poll_unpin(cx).is_ready();
            }
            match answered.poll_unpin(cx) {
                Poll::Ready(Ok(response)) => Poll::Ready(response),
                Poll::Ready(Err(_)) => panic!("the script has ended without an answer"),
                Poll::Pending => Poll::Pending,
            }
        })
    }

    fn notification(&self, notification: Notification, source: Option<Arc<dyn MessageSource>>) {
        let _served_at_once =
            (self.0)(Alone::notified(notification, source)).map(drop).boxed().now_or_never();
    }
}

/// The connections of an endpoint, to be served elsewhere. Time goes on for the endpoint while it is polled.
pub(crate) struct Connections {
    running: BoxFuture<'static, ()>,
    coming: UnboundedReceiver<Connection>,
    has_ended: bool,
}

/// An endpoint whose connections are served elsewhere.
pub(crate) fn endpoint(config: EndpointConfig) -> (Endpoint, Connections) {
    let (give, coming) = mpsc::unbounded();
    let endpoint = Endpoint::serving(config, GivenAway(give));
    // What is spawned is done at once: it gives the connection away.
    let running = endpoint.run_with(Spawner::new(|task| _ = task.now_or_never()));
    (endpoint, Connections { running: running.boxed(), coming, has_ended: false })
}

struct GivenAway(mpsc::UnboundedSender<Connection>);

impl Service<server::Connection> for GivenAway {
    fn connection(&self, connection: server::Connection) -> impl Future<Output = ()> + Send + 'static {
        let _ = self.0.unbounded_send(Connection::Session(connection));
        std::future::ready(())
    }

    fn exchange(&self, exchange: Exchange) -> impl Future<Output = Response> + Send + 'static {
        let (connection, answered) = Alone::connection(exchange);
        let _ = self.0.unbounded_send(connection);
        answered.map(|answered| answered.expect("the connection has an answer"))
    }

    fn notification(&self, notification: Notification, source: Option<Arc<dyn MessageSource>>) {
        let _ = self.0.unbounded_send(Alone::notified(notification, source));
    }
}

impl Stream for Connections {
    type Item = Connection;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Connection>> {
        let this = self.get_mut();
        if !this.has_ended {
            this.has_ended = this.running.poll_unpin(cx).is_ready();
        }
        match this.coming.poll_next_unpin(cx) {
            Poll::Pending if this.has_ended => Poll::Ready(None),
            next => next,
        }
    }
}
