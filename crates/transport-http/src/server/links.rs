use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::{FutureExt, Stream};
use tokio::time::Sleep;

use crate::server::Link;
use crate::server::shared::Shared;

/// The clients of an [`endpoint`](crate::server::endpoint()), as links to be served.
///
/// It must be asked for more for as long as the endpoint is used: whoever serves a link does it elsewhere, in a
/// task or in a [`FuturesUnordered`](futures::stream::FuturesUnordered) beside this. While it is asked, time goes
/// on for the endpoint: idle sessions end, silent streams are kept alive, streams that nobody reads are cut.
///
/// It ends when the endpoint is shut, or all copies of it are dropped. Dropping it makes the endpoint refuse
/// everything with 503.
///
/// Needs a tokio runtime with time.
#[derive(Debug)]
pub struct Links {
    shared: Arc<Shared>,
    tick: Option<Pin<Box<Sleep>>>,
}

impl Links {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, tick: None }
    }

    /// Lets the time pass that has passed.
    fn poll_time(&mut self, cx: &mut Context<'_>) {
        let period = self.shared.ticks.period;
        let tick = self.tick.get_or_insert_with(|| Box::pin(tokio::time::sleep(period)));
        while tick.poll_unpin(cx).is_ready() {
            if !self.shared.tick() && self.shared.stop_clock() {
                self.tick = None;
                return;
            }
            let next = tick.deadline() + period;
            tick.as_mut().reset(next);
        }
    }
}

impl Stream for Links {
    type Item = Link;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Link>> {
        let this = self.get_mut();
        let mut backlog = this.shared.backlog();
        if let Some(link) = backlog.links.pop_front() {
            drop(backlog);
            // Time is looked at when there is nothing else to do, but it begins now.
            if this.tick.is_none() && this.shared.is_ticking() {
                this.poll_time(cx);
            }
            return Poll::Ready(Some(link));
        }
        if backlog.closed {
            return Poll::Ready(None);
        }
        match &mut backlog.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            waker => *waker = Some(cx.waker().clone()),
        }
        drop(backlog);
        if this.shared.is_ticking() {
            this.poll_time(cx);
        }
        Poll::Pending
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        let mut backlog = self.shared.backlog();
        backlog.closed = true;
        let links = std::mem::take(&mut backlog.links);
        drop(backlog);
        // Each ends its conversation, which takes locks.
        drop(links);
    }
}
