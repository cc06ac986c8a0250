use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use crate::state::Shared;

/// What runs the connections of a [`Hub`](crate::Hub), all in one future.
///
/// It completes when the hub is closed, or all handles on it are dropped, and every server has ended. Dropping
/// it before kills them. It needs a tokio runtime with I/O and time enabled.
#[must_use = "nothing happens unless the driver is polled"]
pub struct Driver {
    shared: Arc<Shared>,
    /// One future for each connection, and one that completes when the hub is closed.
    running: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl Driver {
    pub(crate) fn new(
        shared: Arc<Shared>,
        connections: impl Iterator<Item = BoxFuture<'static, ()>>,
    ) -> Self {
        let closing = shared.clone();
        let running: FuturesUnordered<_> = connections.collect();
        running.push(async move { closing.until_closing().await }.boxed());
        Self { shared, running }
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        while let Poll::Ready(Some(())) = self.running.poll_next_unpin(cx) {}
        if self.running.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.running.clear();
        self.shared.over();
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("running", &self.running.len()).finish_non_exhaustive()
    }
}
