//! A stream of the connections of new sessions for `Endpoint::run`. Polling it also advances the endpoint's clock.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::{FutureExt, Stream, StreamExt};
use futures_channel::mpsc::UnboundedReceiver;
use tokio::time::Sleep;

use crate::server::Connection;
use crate::server::endpoint::endpoint_core::EndpointCore;
use crate::server::nodes;

/// Yields the connections of new sessions, to be served. While it is polled, it counts the ticks of the endpoint: idle
/// sessions end, silent streams get comments, unread streams are cut.
///
/// It ends when the endpoint has shut down. Once it is dropped, the endpoint opens no session. It needs a tokio runtime
/// with time.
#[derive(Debug)]
pub(crate) struct NewConnections {
    core: Arc<EndpointCore>,
    coming: UnboundedReceiver<Connection>,
    tick: Option<Pin<Box<Sleep>>>,
}

impl NewConnections {
    pub(crate) fn new(core: Arc<EndpointCore>, coming: UnboundedReceiver<Connection>) -> Self {
        Self { core, coming, tick: None }
    }

    /// Counts the ticks that are due.
    fn poll_time(&mut self, cx: &mut Context<'_>) {
        let period = self.core.resources.ticks.period;
        let tick = self.tick.get_or_insert_with(|| Box::pin(tokio::time::sleep(period)));
        while tick.poll_unpin(cx).is_ready() {
            let goes_on = self.core.tick();
            nodes::tick(&self.core);
            if !goes_on && self.core.stop_clock() {
                self.tick = None;
                return;
            }
            let next = tick.deadline() + period;
            tick.as_mut().reset(next);
        }
    }
}

impl Stream for NewConnections {
    type Item = Connection;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Connection>> {
        let this = self.get_mut();
        this.core.set_running();
        let next = this.coming.poll_next_unpin(cx);
        // While connections come, the timer is only started. It is polled when no connection is ready.
        let is_due = next.is_pending() || this.tick.is_none() && matches!(next, Poll::Ready(Some(_)));
        if is_due && this.core.resources.clock.is_running(cx) {
            this.poll_time(cx);
        }
        next
    }
}
