//! The running service of a request without a session. The response polls it and drops it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_jsonrpc::{Frame, Notification, RequestId, Response};
use agentwire_transport::NotificationStream;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};

use crate::server::endpoint::drain::cut_error;
use crate::server::endpoint::resources::Resources;
use crate::server::response_stream::ResponseStream;

/// The running service of one request. Dropping it cancels the request.
pub(crate) struct RunningExchange {
    /// None once it has been answered, has panicked, or its client has left.
    running: Option<Running>,
    resources: Arc<Resources>,
    is_closing: bool,
}

/// The service is dropped before the notifications: their end means to tasks of the service that the client has left.
struct Running {
    service: BoxFuture<'static, Response>,
    notifications: NotificationStream,
}

impl RunningExchange {
    /// Starts the service of an exchange that has been counted.
    pub(crate) fn start(
        resources: &Arc<Resources>,
        service: impl FnOnce() -> BoxFuture<'static, Response>,
        notifications: NotificationStream,
    ) -> Self {
        // A panic, which the panic hook has reported, ends this request alone: it has no answer then.
        let service = catch_unwind(AssertUnwindSafe(service)).ok();
        let running = service.map(|service| Running { service, notifications });
        Self { running, resources: resources.clone(), is_closing: false }
    }

    pub(crate) fn resources(&self) -> &Resources {
        &self.resources
    }

    /// Whether it has lasted beyond the grace of a shutdown.
    pub(crate) fn is_cut(&self) -> bool {
        self.resources.drain.is_cut()
    }

    /// Polls the service. Ready with the notifications that are left and its response; with `None` if it has panicked or was
    /// stopped.
    pub(crate) fn poll_service(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<(VecDeque<Notification>, Response)>> {
        let Some(Running { service, notifications }) = &mut self.running else {
            return Poll::Ready(None);
        };
        let answered = match catch_unwind(AssertUnwindSafe(|| service.poll_unpin(cx))) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(response)) => Some((notifications.finish(), response)),
            Err(_) => None,
        };
        self.stop();
        Poll::Ready(answered)
    }

    /// Ready with the next notification of the service.
    pub(crate) fn poll_notification(&mut self, cx: &mut Context<'_>) -> Poll<Notification> {
        match &mut self.running {
            Some(Running { notifications, .. }) => match notifications.poll_next_unpin(cx) {
                Poll::Ready(Some(notification)) => Poll::Ready(notification),
                _ => Poll::Pending,
            },
            None => Poll::Pending,
        }
    }

    /// Completes the service's `NotificationSink::closing`.
    pub(crate) fn begin_shutdown(&mut self, cx: &Context<'_>) {
        if std::mem::replace(&mut self.is_closing, true) {
            return;
        }
        if let Some(Running { notifications, .. }) = &self.running {
            notifications.begin_shutdown();
        }
        // The service was polled before that, and has to be polled again.
        cx.waker().wake_by_ref();
    }

    /// Drops the service. A panic of a destructor changes nothing.
    pub(crate) fn stop(&mut self) {
        let running = self.running.take();
        let _panicked = catch_unwind(AssertUnwindSafe(|| drop(running)));
    }
}

impl Drop for RunningExchange {
    fn drop(&mut self) {
        self.stop();
        self.resources.end_exchange();
    }
}

/// An exchange whose response is a stream. Puts the notifications and the response of the service into it.
pub(crate) struct StreamedExchange {
    exchange: RunningExchange,
    id: RequestId,
    stream: Arc<ResponseStream>,
}

impl StreamedExchange {
    pub(crate) fn new(exchange: RunningExchange, id: RequestId, stream: Arc<ResponseStream>) -> Self {
        Self { exchange, id, stream }
    }

    /// Ready when the response has been put into the stream, or the client has left.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.exchange.poll_service(cx) {
            Poll::Pending if self.exchange.is_cut() => {
                self.exchange.stop();
                self.put_all(VecDeque::new(), Response::new(self.id.clone(), Err(cut_error())));
                Poll::Ready(())
            }
            Poll::Ready(Some((notifications, response))) => {
                self.put_all(notifications, response);
                Poll::Ready(())
            }
            Poll::Ready(None) => Poll::Ready(()),
            Poll::Pending => self.poll_notifications(cx),
        }
    }

    /// Puts the last notifications and the response into the stream.
    pub(crate) fn put_all(&self, notifications: VecDeque<Notification>, response: Response) {
        for notification in notifications {
            self.put(notification);
        }
        self.stream.put(&Frame::Single(response.into()), 1, self.exchange.resources());
    }

    /// Puts a notification into the stream.
    pub(crate) fn put(&self, notification: Notification) {
        self.stream.put(&Frame::Single(notification.into()), 0, self.exchange.resources());
    }

    /// Moves notifications into the stream while it has room.
    fn poll_notifications(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let high_water = self.exchange.resources().config.limits.high_water;
        while self.stream.poll_room(cx, high_water).is_ready()
            && let Poll::Ready(notification) = self.exchange.poll_notification(cx)
        {
            self.put(notification);
        }
        match self.stream.poll_left(cx) {
            // The client has left, or its stream was cut.
            Poll::Ready(true) => {
                self.exchange.stop();
                return Poll::Ready(());
            }
            Poll::Ready(false) => self.exchange.begin_shutdown(cx),
            Poll::Pending => {}
        }
        Poll::Pending
    }
}

impl Drop for StreamedExchange {
    fn drop(&mut self) {
        self.exchange.stop();
        self.stream.detach();
    }
}
