use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::{FutureExt, Stream, StreamExt};
use futures_channel::mpsc::UnboundedReceiver;
use tokio::time::Sleep;

use crate::server::Connection;
use crate::server::endpoint_core::EndpointCore;

/// The connections of the sessions that clients open, to be served. While it is polled, time goes on for the endpoint: idle sessions end, silent
/// streams are kept alive, streams that are not read are cut.
///
/// It ends when the endpoint has begun to shut down, or all copies of it are dropped. Once it is dropped, the endpoint opens no session.
///
/// Needs a tokio runtime with time.
#[derive(Debug)]
pub(crate) struct Incoming {
    core: Arc<EndpointCore>,
    coming: UnboundedReceiver<Connection>,
    tick: Option<Pin<Box<Sleep>>>,
}

impl Incoming {
    pub(crate) fn new(core: Arc<EndpointCore>, coming: UnboundedReceiver<Connection>) -> Self {
        Self { core, coming, tick: None }
    }

    /// Lets the time pass that has passed.
    fn poll_time(&mut self, cx: &mut Context<'_>) {
        let period = self.core.resources.ticks.period;
        let tick = self.tick.get_or_insert_with(|| Box::pin(tokio::time::sleep(period)));
        while tick.poll_unpin(cx).is_ready() {
            if !self.core.tick() && self.core.stop_clock() {
                self.tick = None;
                return;
            }
            let next = tick.deadline() + period;
            tick.as_mut().reset(next);
        }
    }
}

impl Stream for Incoming {
    type Item = Connection;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Connection>> {
        let this = self.get_mut();
        let next = this.coming.poll_next_unpin(cx);
        // While connections come, time is looked at only to begin. It goes on when there is nothing else to do.
        let is_due = next.is_pending() || this.tick.is_none() && matches!(next, Poll::Ready(Some(_)));
        if is_due && this.core.resources.clock.is_running(cx) {
            this.poll_time(cx);
        }
        next
    }
}
