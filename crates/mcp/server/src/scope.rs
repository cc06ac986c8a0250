//! One request in the two shapes in which a transport delivers it: over a connection, or as an exchange.

use std::future::{Ready, ready};
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, Notification, NotificationMethod, RawJson, RequestId};
use agentwire_peer::observe::Observer;
use agentwire_peer::runtime::observe_notification;
use agentwire_peer::{CallError, Closed, Notify, Peer, RequestContext};
use agentwire_transport::{ExchangeEnded, ExchangeEvent, MessageSource, NotificationSink, SendNotification};
use futures::future::{Either, FutureExt, Map, MapErr, TryFutureExt};
use serde::Serialize;

/// A future in either shape: that of a connection, or that of an exchange.
type InScope<C, E> = Either<C, E>;

/// Completes when a notification is queued. It is not sent until this is awaited.
pub(crate) type SendInScope<'a> =
    InScope<Notify<'a>, Either<MapErr<SendNotification<'a>, fn(ExchangeEnded) -> CallError>, Failed>>;

/// A notification that has no JSON form.
type Failed = Ready<Result<(), CallError>>;

/// Completes when the client no longer wants the answer.
pub(crate) type CancelledInScope = InScope<agentwire_peer::Cancelled, ExchangeEvent>;

/// Completes when the transport is about to end.
pub(crate) type Closing = InScope<Map<agentwire_peer::WhenClosed, fn(Closed)>, ExchangeEvent>;

/// The id and source of a request, and what can be sent while it is answered.
#[derive(Clone)]
pub(crate) enum RequestScope {
    /// The connection carries other requests too.
    Connection(RequestContext),
    /// The request is modern. Dropping its future cancels it.
    Exchange(ExchangeScope),
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
        Self::Exchange(ExchangeScope { id, source, notifications, observer })
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

    /// The client at the other end of the connection. Messages sent through it belong to the request. `None` for
    /// an exchange, which carries only notifications.
    pub(crate) fn peer(&self) -> Option<&Peer> {
        match self {
            Self::Connection(context) => Some(context.peer()),
            Self::Exchange(_) => None,
        }
    }

    /// Encodes a result. On a busy connection it shares memory with what else is sent.
    pub(crate) fn encode<T: Serialize + ?Sized>(&self, value: &T) -> Result<RawJson, ErrorObject> {
        let encoded = match self {
            Self::Connection(context) => context.peer().encode_result(value),
            Self::Exchange(_) => RawJson::encode(value),
        };
        encoded.map_err(ErrorObject::internal_error)
    }

    /// Sends a notification that belongs to the request, once there is room for it.
    pub(crate) fn notify<N: NotificationMethod>(&self, notification: &N) -> SendInScope<'_> {
        match self {
            Self::Connection(context) => Either::Left(context.peer().notify(notification)),
            Self::Exchange(exchange) => Either::Right(match RawJson::encode(notification) {
                Ok(params) => {
                    let notification = Notification::new(N::NAME, Some(params));
                    if let Some(observer) = &exchange.observer {
                        observe_notification(&**observer, &notification);
                    }
                    let closed: fn(ExchangeEnded) -> CallError = |_| Closed::default().into();
                    Either::Left(exchange.notifications.send(notification).map_err(closed))
                }
                Err(why) => {
                    let why = format!("the params have no JSON form: {why}");
                    Either::Right(ready(Err(CallError::not_allowed(N::NAME, why))))
                }
            }),
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
            Self::Connection(context) => Either::Left(context.cancelled()),
            Self::Exchange(exchange) => Either::Right(exchange.notifications.cancelled()),
        }
    }

    /// Answers the request before its future completes. The answer of an exchange is what the future returns, so for one
    /// this does nothing.
    pub(crate) fn answer_now(&self, answer: impl FnOnce() -> Result<RawJson, ErrorObject>) {
        if let Self::Connection(context) = self {
            context.answer(answer());
        }
    }

    /// Completes when the transport is about to end. Requests that are still running should be answered then.
    pub(crate) fn closing(&self) -> Closing {
        match self {
            Self::Connection(context) => Either::Left(context.peer().closed().map(drop as fn(Closed))),
            Self::Exchange(exchange) => Either::Right(exchange.notifications.closing()),
        }
    }
}
