//! Requests that outlive their calls, such as cancelling a task. Nothing is spawned: they run within the future of the
//! connection, and have 1 s when that ends.

use std::time::Duration;

use agentwire_peer::{Clock, TokioClock};
use futures_channel::mpsc;
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, select};
use futures_util::stream::FuturesUnordered;

/// How long the queue may take at the end of a connection.
const GRACE: Duration = Duration::from_secs(1);

/// The sender by which calls queue work that runs after them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cleanup(Option<mpsc::UnboundedSender<BoxFuture<'static, ()>>>);

impl Cleanup {
    /// Creates a queue: its sender and its receiver.
    pub(crate) fn queue() -> (Self, CleanupQueue) {
        let (sender, receiver) = mpsc::unbounded();
        (Self(Some(sender)), CleanupQueue { receiver, running: FuturesUnordered::new() })
    }

    /// Queues a future. Drops it if the connection has ended.
    pub(crate) fn push(&self, future: BoxFuture<'static, ()>) {
        if let Some(sender) = &self.0 {
            let _ = sender.unbounded_send(future);
        }
    }
}

/// Runs the futures that calls queue.
pub(crate) struct CleanupQueue {
    receiver: mpsc::UnboundedReceiver<BoxFuture<'static, ()>>,
    running: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl CleanupQueue {
    /// Runs futures until all senders are dropped.
    pub(crate) async fn run(&mut self) {
        loop {
            futures_util::select! {
                future = self.receiver.next() => match future {
                    Some(future) => self.running.push(future),
                    None => return,
                },
                () = self.running.select_next_some() => {}
            }
        }
    }

    /// Runs the queued futures, for at most [`GRACE`].
    pub(crate) async fn finish(mut self) {
        self.receiver.close();
        while let Some(future) = self.receiver.next().await {
            self.running.push(future);
        }
        if self.running.is_empty() {
            return;
        }
        let all = std::pin::pin!(self.running.collect::<Vec<()>>());
        drop(select(all, TokioClock::default().sleep(GRACE)).await);
    }
}
