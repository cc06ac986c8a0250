//! A request without a session: its service runs within the response, and is dropped with it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_jsonrpc::{Frame, Message, Response};
use agentwire_transport::{Exchange, NotificationStream};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};

use crate::server::outlet::Outlet;
use crate::server::shared::Shared;

/// Runs the service of one request, and puts what it sends into the response. Dropping it cancels the request.
pub(crate) struct RunningExchange {
    /// None once it has been answered, has panicked, or its client has left.
    running: Option<Running>,
    outlet: Arc<Outlet>,
    shared: Arc<Shared>,
    is_closing: bool,
}

/// The service is dropped before the stream, whose end tells what is left of the service that the client has gone.
struct Running {
    service: BoxFuture<'static, Response>,
    notifications: NotificationStream,
}

impl RunningExchange {
    /// Starts the service of an exchange that has been counted.
    pub(crate) fn start(
        exchange: Exchange,
        notifications: NotificationStream,
        outlet: Arc<Outlet>,
        shared: &Arc<Shared>,
    ) -> Self {
        // A panic, which the panic hook has reported, ends this request alone: it has no answer then.
        let service = catch_unwind(AssertUnwindSafe(|| shared.serving.exchange(exchange))).ok();
        let running = service.map(|service| Running { service, notifications });
        Self { running, outlet, shared: shared.clone(), is_closing: false }
    }

    /// Ready when the response has been put into the stream, or the client has left.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(Running { service, notifications }) = &mut self.running else {
            return Poll::Ready(());
        };
        let polled = catch_unwind(AssertUnwindSafe(|| service.poll_unpin(cx)));
        let response = match polled {
            Ok(Poll::Ready(response)) => response,
            Ok(Poll::Pending) => return self.poll_notifications(cx),
            Err(_) => {
                self.stop();
                return Poll::Ready(());
            }
        };
        for notification in notifications.finish() {
            self.put(notification.into(), 0);
        }
        self.put(response.into(), 1);
        self.stop();
        Poll::Ready(())
    }

    /// Moves what the service sends while the stream has room for it.
    fn poll_notifications(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let high_water = self.shared.config.high_water;
        while let Some(Running { notifications, .. }) = &mut self.running
            && self.outlet.poll_room(cx, high_water).is_ready()
            && let Poll::Ready(Some(notification)) = notifications.poll_next_unpin(cx)
        {
            self.put(notification.into(), 0);
        }
        match self.outlet.poll_left(cx) {
            // The client has left, or is not waited for any more.
            Poll::Ready(true) => {
                self.stop();
                Poll::Ready(())
            }
            Poll::Ready(false) if !self.is_closing => {
                self.is_closing = true;
                if let Some(Running { notifications, .. }) = &self.running {
                    notifications.begin_shutdown();
                }
                // The service may have to look.
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            _ => Poll::Pending,
        }
    }

    /// Drops the service. A panic of a destructor changes nothing.
    fn stop(&mut self) {
        let running = self.running.take();
        let _panicked = catch_unwind(AssertUnwindSafe(|| drop(running)));
    }

    fn put(&self, message: Message, answers: usize) {
        self.outlet.put(&Frame::Single(message), answers, &self.shared);
    }
}

impl Drop for RunningExchange {
    fn drop(&mut self) {
        self.stop();
        self.outlet.hang_up();
        self.shared.end_exchange();
    }
}
