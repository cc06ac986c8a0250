//! Defines `Service`, which serves connections and single requests, and `Exchange`, one such request. A bounded channel carries
//! its notifications.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request, Response, code};
use agentwire_sync::{Monitor, Waiter};
use futures::Stream;

use crate::MessageSource;

/// One request without a connection.
///
/// The [`Service`] returns the response. If the caller leaves, the transport drops the service's future, which cancels the
/// request.
///
/// ```
/// use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Response};
/// use agentwire_transport::Exchange;
///
/// /// Sends a notification, and answers with the params.
/// async fn echo(exchange: Exchange) -> Response {
///     let Exchange { request, notifications, .. } = exchange;
///     // An error means that the caller has left.
///     let _ = notifications.send(Notification::new("begun", None)).await;
///     Response::new(request.id, Ok(request.params.unwrap_or(RawJson::EMPTY_OBJECT)))
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Exchange {
    /// The request. Its id is only echoed.
    pub request: Request,
    /// How the request arrived, if the transport can tell.
    pub source: Option<Arc<dyn MessageSource>>,
    /// Sends notifications before the response.
    pub notifications: NotificationSink,
}

impl Exchange {
    /// Makes an exchange, and the stream of the notifications that its service sends. The service waits while
    /// `high_water` bytes of notifications are queued.
    pub fn new(
        request: Request,
        source: Option<Arc<dyn MessageSource>>,
        high_water: usize,
    ) -> (Self, NotificationStream) {
        let channel =
            Channel { queue: VecDeque::new(), bytes: 0, high_water, stage: Stage::Open, is_closing: false };
        let channel = Arc::new(Monitor::new(channel));
        let exchange = Self { request, source, notifications: NotificationSink(channel.clone()) };
        (exchange, NotificationStream { waiter: Waiter::new(channel), is_finished: false })
    }
}

/// Serves the peers of a transport: their connections and their single requests. `C` is the transport's connection.
///
/// ```
/// use agentwire_jsonrpc::{RawJson, Response};
/// use agentwire_transport::{Exchange, Service, Transport};
///
/// /// Answers every request with an empty object, and ends every connection at once.
/// struct Empty;
///
/// impl<C: Transport + Send + 'static> Service<C> for Empty {
///     fn connection(&self, _connection: C) -> impl Future<Output = ()> + Send + 'static {
///         std::future::ready(())
///     }
///
///     fn exchange(&self, exchange: Exchange) -> impl Future<Output = Response> + Send + 'static {
///         std::future::ready(Response::new(exchange.request.id, Ok(RawJson::EMPTY_OBJECT)))
///     }
/// }
/// ```
pub trait Service<C> {
    /// Serves a connection until it ends. Dropping the future ends the connection.
    fn connection(&self, connection: C) -> impl Future<Output = ()> + Send + 'static;

    /// Answers one request without a connection. The transport drops the future when the caller leaves.
    fn exchange(&self, exchange: Exchange) -> impl Future<Output = Response> + Send + 'static;

    /// Handles a notification without a connection. The default drops it.
    fn notification(&self, notification: Notification, source: Option<Arc<dyn MessageSource>>) {
        drop((notification, source));
    }
}

/// Makes a service of two functions: one serves a connection, the other answers an exchange.
///
/// ```
/// use agentwire_jsonrpc::{ErrorObject, Response};
/// use agentwire_transport::{Duplex, Exchange, Service, service_fn};
///
/// async fn end(_connection: Duplex) {}
///
/// async fn refuse(exchange: Exchange) -> Response {
///     let error = ErrorObject::method_not_found(&exchange.request.method);
///     Response::new(exchange.request.id, Err(error))
/// }
///
/// fn refusing() -> impl Service<Duplex> {
///     service_fn(end, refuse)
/// }
/// ```
pub fn service_fn<C, F, G, A, R>(connection: F, exchange: G) -> impl Service<C> + use<C, F, G, A, R>
where
    F: Fn(C) -> A,
    A: Future<Output = ()> + Send + 'static,
    G: Fn(Exchange) -> R,
    R: Future<Output = Response> + Send + 'static,
{
    ServiceFn { connection, exchange }
}

/// Makes a service of one function, which serves a connection. A request without a connection is refused.
///
/// ```
/// use agentwire_jsonrpc::WithCauses;
/// use agentwire_transport::{Duplex, Service, Transport, connection_fn, duplex, bridge};
///
/// /// Passes each connection on to a transport of its own.
/// fn passing<T: Transport + Send + 'static>(
///     open: impl Fn() -> T + Clone + Send + Sync + 'static,
/// ) -> impl Service<Duplex> {
///     connection_fn(move |connection| {
///         let other = open();
///         async move {
///             if let Err(error) = bridge(connection, other).await {
///                 eprintln!("{}", WithCauses::new(&error));
///             }
///         }
///     })
/// }
/// # passing(|| duplex(1).0);
/// ```
pub fn connection_fn<C, F, A>(connection: F) -> impl Service<C> + use<C, F, A>
where
    F: Fn(C) -> A,
    A: Future<Output = ()> + Send + 'static,
{
    service_fn(connection, |exchange: Exchange| {
        let why = format!("`{}` is served in a session only", exchange.request.method);
        let error = ErrorObject::new(code::METHOD_NOT_FOUND, why);
        std::future::ready(Response::new(exchange.request.id, Err(error)))
    })
}

struct ServiceFn<F, G> {
    connection: F,
    exchange: G,
}

impl<C, F, G, A, R> Service<C> for ServiceFn<F, G>
where
    F: Fn(C) -> A,
    A: Future<Output = ()> + Send + 'static,
    G: Fn(Exchange) -> R,
    R: Future<Output = Response> + Send + 'static,
{
    fn connection(&self, connection: C) -> impl Future<Output = ()> + Send + 'static {
        (self.connection)(connection)
    }

    fn exchange(&self, exchange: Exchange) -> impl Future<Output = Response> + Send + 'static {
        (self.exchange)(exchange)
    }
}

/// Sends the notifications of one [`Exchange`]. Cloning it is cheap, and clones share the queue.
#[derive(Clone, Debug)]
pub struct NotificationSink(Arc<Monitor<Channel>>);

/// The notifications that the service of one [`Exchange`] has sent, in order, for the transport.
///
/// Dropping it before [`finish`](Self::finish) reports to the service that the caller has left.
#[derive(Debug)]
pub struct NotificationStream {
    waiter: Waiter<Channel, Arc<Monitor<Channel>>>,
    is_finished: bool,
}

#[derive(Debug)]
struct Channel {
    queue: VecDeque<Notification>,
    /// The size of the queued method names and params.
    bytes: usize,
    high_water: usize,
    stage: Stage,
    is_closing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Open,
    /// The service has returned its response.
    Answered,
    /// The caller left before the response.
    Cancelled,
}

/// The exchange has ended, so nothing more can be sent in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request is answered, or its caller has left")]
#[non_exhaustive]
pub struct ExchangeEnded;

impl NotificationSink {
    /// Queues a notification once fewer than `high_water` bytes are queued.
    ///
    /// # Errors
    ///
    /// When the exchange has ended.
    pub fn send(&self, notification: Notification) -> SendNotification<'_> {
        SendNotification { waiter: Waiter::new(&self.0), notification: Some(notification) }
    }

    /// Whether the caller left before the response.
    pub fn is_cancelled(&self) -> bool {
        self.0.with(|channel| channel.stage == Stage::Cancelled)
    }

    /// Completes when the caller leaves before the response. The future may outlive the exchange.
    pub fn cancelled(&self) -> ExchangeEvent {
        self.when(|channel| channel.stage == Stage::Cancelled)
    }

    /// Completes when the transport is about to end. The service should then answer long requests.
    pub fn closing(&self) -> ExchangeEvent {
        self.when(|channel| channel.is_closing)
    }

    fn when(&self, has_happened: fn(&Channel) -> bool) -> ExchangeEvent {
        ExchangeEvent { waiter: Waiter::new(self.0.clone()), has_happened }
    }
}

impl Channel {
    fn push(&mut self, notification: Notification) {
        self.bytes += size(&notification);
        self.queue.push_back(notification);
    }

    fn pop(&mut self) -> Option<Notification> {
        let notification = self.queue.pop_front()?;
        self.bytes -= size(&notification);
        Some(notification)
    }
}

fn size(notification: &Notification) -> usize {
    notification.method.len() + notification.params.as_ref().map_or(0, RawJson::len)
}

impl NotificationStream {
    /// Notifies the service that the transport is about to end; see [`NotificationSink::closing`].
    pub fn begin_shutdown(&self) {
        self.waiter.monitor().update(|channel| channel.is_closing = true);
    }

    /// Ends the exchange, because its response is known. Returns the queued notifications.
    pub fn finish(&mut self) -> VecDeque<Notification> {
        self.is_finished = true;
        self.waiter.monitor().update(|channel| {
            channel.stage = Stage::Answered;
            channel.bytes = 0;
            std::mem::take(&mut channel.queue)
        })
    }
}

/// The stream never ends. The exchange ends when the service's future completes.
impl Stream for NotificationStream {
    type Item = Notification;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Notification>> {
        let taken = ready!(self.waiter.poll_update_if(cx, |channel| {
            let had_room = channel.bytes < channel.high_water;
            // Wakes the senders that wait for room.
            Some((channel.pop()?, !had_room))
        }));
        Poll::Ready(Some(taken))
    }
}

impl Drop for NotificationStream {
    fn drop(&mut self) {
        if self.is_finished {
            return;
        }
        let left = self.waiter.monitor().update(|channel| {
            channel.stage = Stage::Cancelled;
            channel.bytes = 0;
            std::mem::take(&mut channel.queue)
        });
        drop(left);
    }
}

/// The future of [`NotificationSink::send`].
#[derive(Debug)]
#[must_use = "a notification is not sent until it is awaited"]
pub struct SendNotification<'a> {
    waiter: Waiter<Channel, &'a Monitor<Channel>>,
    notification: Option<Notification>,
}

impl Future for SendNotification<'_> {
    type Output = Result<(), ExchangeEnded>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let notification = &mut this.notification;
        this.waiter.poll_update_if(cx, |channel| match channel.stage {
            Stage::Open if channel.bytes >= channel.high_water => None,
            Stage::Open => {
                if let Some(notification) = notification.take() {
                    channel.push(notification);
                }
                // Wakes the transport, if it waits.
                Some((Ok(()), true))
            }
            Stage::Answered | Stage::Cancelled => Some((Err(ExchangeEnded), false)),
        })
    }
}

/// The future of [`NotificationSink::cancelled`] and [`NotificationSink::closing`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct ExchangeEvent {
    waiter: Waiter<Channel, Arc<Monitor<Channel>>>,
    has_happened: fn(&Channel) -> bool,
}

impl Future for ExchangeEvent {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let has_happened = self.has_happened;
        self.waiter.poll(cx, |channel| has_happened(channel).then_some(()))
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, StreamExt};

    use super::*;

    fn exchange(high_water: usize) -> (Exchange, NotificationStream) {
        Exchange::new(Request::new(1_u64, "tools/call", None), None, high_water)
    }

    fn notification(method: &'static str) -> Notification {
        Notification::new(method, None)
    }

    #[test]
    fn notifications_wait_for_room_and_arrive_in_order() {
        let (exchange, mut stream) = exchange(8);
        let sink = exchange.notifications;
        assert_eq!(sink.send(notification("eight-by")).now_or_never(), Some(Ok(())));
        let mut second = sink.send(notification("second"));
        assert_eq!((&mut second).now_or_never(), None, "8 bytes are queued");
        assert_eq!(&*stream.next().now_or_never().flatten().unwrap().method, "eight-by");
        assert_eq!(second.now_or_never(), Some(Ok(())));
        assert_eq!(&*stream.next().now_or_never().flatten().unwrap().method, "second");
        assert!(stream.next().now_or_never().is_none());
    }

    #[test]
    fn dropped_stream_cancels_but_a_finished_exchange_does_not() {
        let (left, stream) = exchange(8);
        let cancelled = left.notifications.cancelled();
        drop(stream);
        assert!(left.notifications.is_cancelled() && cancelled.now_or_never().is_some());
        let ended = left.notifications.send(notification("late")).now_or_never();
        assert_eq!(ended, Some(Err(ExchangeEnded)));

        let (answered, mut stream) = exchange(8);
        assert_eq!(answered.notifications.send(notification("first")).now_or_never(), Some(Ok(())));
        assert_eq!(stream.finish().len(), 1);
        drop(stream);
        let sink = answered.notifications;
        let late = sink.send(notification("late")).now_or_never();
        assert_eq!(late, Some(Err(ExchangeEnded)), "nothing is sent after the answer");
        assert!(!sink.is_cancelled() && sink.cancelled().now_or_never().is_none());
    }
}
