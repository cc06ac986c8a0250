//! `Driver`: the future that runs all connections of a hub.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, FuturesUnordered, unfold};
use futures_util::{FutureExt, StreamExt};

use crate::config::HubConfig;
use crate::connection;
use crate::state::Shared;

/// Runs all connections of a [`Hub`](crate::Hub) in one future, including those to servers that are added later.
///
/// It completes when the hub is closed, or all its handles are dropped, and every server has ended. Dropping it before
/// that kills the servers. It needs a tokio runtime with I/O and time enabled.
#[must_use = "nothing happens unless the driver is polled"]
pub struct Driver {
    shared: Arc<Shared>,
    config: HubConfig,
    /// The servers to start; `None` once the hub is closed.
    starting: Option<BoxStream<'static, usize>>,
    /// One future for each server.
    running: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl Driver {
    pub(crate) fn new(shared: Arc<Shared>, config: HubConfig) -> Self {
        let starts = unfold(shared.clone(), async |shared| Some((shared.next_start().await?, shared)));
        Self { shared, config, starting: Some(starts.boxed()), running: FuturesUnordered::new() }
    }

    /// Starts the connections to queued servers. Returns whether there was one.
    fn start(&mut self, cx: &mut Context<'_>) -> bool {
        let mut started = false;
        while let Some(starting) = &mut self.starting
            && let Poll::Ready(next) = starting.poll_next_unpin(cx)
        {
            match next {
                Some(place) => {
                    let connections = connection::run(self.shared.clone(), place, self.config.clone());
                    self.running.push(connections.boxed());
                    started = true;
                }
                None => self.starting = None,
            }
        }
        started
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let started = self.start(cx);
            while let Poll::Ready(Some(())) = self.running.poll_next_unpin(cx) {}
            if !started {
                break;
            }
        }
        if self.starting.is_none() && self.running.is_empty() { Poll::Ready(()) } else { Poll::Pending }
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
