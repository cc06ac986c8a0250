//! One request in the two shapes in which a transport delivers it: over a connection, or as an exchange.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_jsonrpc::{ErrorObject, Notification, NotificationMethod, RawJson, RequestId};
use agentwire_peer::observe::Observer;
use agentwire_peer::runtime::observe_notification;
use agentwire_peer::{CallError, Closed, Notify, Peer, RequestContext};
use agentwire_transport::{ExchangeEvent, MessageSource, NotificationSink, SendNotification};
use serde::Serialize;

/// What is known of a request, and what can be sent while it is answered.
#[derive(Clone)]
pub(crate) enum RequestScope {
    /// The connection carries other requests too.
    Connection(RequestContext),
    /// The request stands alone. Dropping its future cancels it.
    Exchange(Box<ExchangeScope>),
}

#[derive(Clone)]
pub(crate) struct ExchangeScope {
    id: RequestId,
    source: Option<Arc<dyn MessageSource>>,
    notifications: NotificationSink,
    observer: Option<Arc<dyn Observer>>,
}

impl RequestScope {
    pub(crate) fn exchange(
        id: RequestId,
        source: Option<Arc<dyn MessageSource>>,
        notifications: NotificationSink,
        observer: Option<Arc<dyn Observer>>,
    ) -> Self {
        Self::Exchange(Box::new(ExchangeScope { id, source, notifications, observer }))
    }

    /// The request's id.
    pub(crate) fn id(&self) -> &RequestId {
        match self {
            Self::Connection(context) => context.request_id().expect("the context of a request has its id"),
            Self::Exchange(exchange) => &exchange.id,
        }
    }

    /// How the request arrived, if the transport can tell.
    pub(crate) fn source(&self) -> Option<&Arc<dyn MessageSource>> {
        match self {
            Self::Connection(context) => context.source(),
            Self::Exchange(exchange) => exchange.source.as_ref(),
        }
    }

    /// Whether the request arrived in a JSON-RPC batch.
    pub(crate) fn in_batch(&self) -> bool {
        matches!(self, Self::Connection(context) if context.in_batch())
    }

    /// The client at the other end of the connection. What is sent through it belongs to the request. None for an
    /// exchange: nothing but notifications can be sent there.
    pub(crate) fn peer(&self) -> Option<&Peer> {
        match self {
            Self::Connection(context) => Some(context.peer()),
            Self::Exchange(_) => None,
        }
    }

    /// Encodes a result. On a busy connection it shares memory with what else is sent.
    pub(crate) fn encode<T: Serialize + ?Sized>(&self, value: &T) -> Result<RawJson, ErrorObject> {
        let encoded = match self {
            Self::Connection(context) => context.peer().encode_answer(value),
            Self::Exchange(_) => RawJson::encode(value),
        };
        encoded.map_err(ErrorObject::internal_error)
    }

    /// Sends a notification that belongs to the request, once there is room for it.
    pub(crate) fn notify<N: NotificationMethod>(&self, notification: &N) -> SendInScope<'_> {
        match self {
            Self::Connection(context) => SendInScope::Connection(context.peer().notify(notification)),
            Self::Exchange(exchange) => match RawJson::encode(notification) {
                Ok(params) => {
                    let notification = Notification::new(N::NAME, Some(params));
                    if let Some(observer) = &exchange.observer {
                        observe_notification(&**observer, &notification);
                    }
                    SendInScope::Exchange(exchange.notifications.send(notification))
                }
                Err(why) => {
                    let why = format!("the params have no JSON form: {why}");
                    SendInScope::Failed(Some(CallError::not_allowed(N::NAME, why)))
                }
            },
        }
    }

    /// Whether the client no longer wants the answer, or has left before there was one.
    pub(crate) fn is_cancelled(&self) -> bool {
        match self {
            Self::Connection(context) => context.is_cancelled(),
            Self::Exchange(exchange) => exchange.notifications.is_cancelled(),
        }
    }

    /// Completes when [`is_cancelled`](Self::is_cancelled) becomes true.
    pub(crate) fn cancelled(&self) -> CancelledInScope {
        match self {
            Self::Connection(context) => CancelledInScope::Connection(context.cancelled()),
            Self::Exchange(exchange) => CancelledInScope::Exchange(exchange.notifications.cancelled()),
        }
    }

    /// Answers the request before its future completes. The answer of an exchange is what the future returns, so for one
    /// this does nothing.
    pub(crate) fn answer_now(&self, answer: impl FnOnce() -> Result<RawJson, ErrorObject>) {
        if let Self::Connection(context) = self {
            context.answer(answer());
        }
    }

    /// Completes when the transport is about to end, and what lasts should be answered.
    pub(crate) fn closing(&self) -> Closing {
        match self {
            Self::Connection(context) => Closing::Connection(context.peer().closed()),
            Self::Exchange(exchange) => Closing::Exchange(exchange.notifications.closing()),
        }
    }
}

/// A notification that is being sent.
#[must_use = "a notification is not sent until it is awaited"]
pub(crate) enum SendInScope<'a> {
    Connection(Notify<'a>),
    Exchange(SendNotification<'a>),
    /// It has no JSON form.
    Failed(Option<CallError>),
}

impl Future for SendInScope<'_> {
    type Output = Result<(), CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Connection(notify) => Pin::new(notify).poll(cx),
            Self::Exchange(send) => {
                Pin::new(send).poll(cx).map(|sent| sent.map_err(|_| Closed::default().into()))
            }
            Self::Failed(error) => Poll::Ready(error.take().map_or(Ok(()), Err)),
        }
    }
}

#[must_use = "futures do nothing unless polled"]
pub(crate) enum CancelledInScope {
    Connection(agentwire_peer::Cancelled),
    Exchange(ExchangeEvent),
}

impl Future for CancelledInScope {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &mut *self {
            Self::Connection(cancelled) => Pin::new(cancelled).poll(cx),
            Self::Exchange(cancelled) => Pin::new(cancelled).poll(cx),
        }
    }
}

#[must_use = "futures do nothing unless polled"]
pub(crate) enum Closing {
    Connection(agentwire_peer::WhenClosed),
    Exchange(ExchangeEvent),
}

impl Future for Closing {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &mut *self {
            Self::Connection(closed) => Pin::new(closed).poll(cx).map(drop),
            Self::Exchange(closing) => Pin::new(closing).poll(cx),
        }
    }
}
