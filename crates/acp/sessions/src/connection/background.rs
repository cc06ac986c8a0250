//! Futures that run beside the connection, within the future of `serve`.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

use futures_channel::mpsc;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;

/// Accepts futures whose output is not needed. Clones share one queue.
#[derive(Clone)]
pub(crate) struct Background(mpsc::UnboundedSender<BoxFuture<'static, ()>>);

impl Background {
    /// Returns the sender, and the tasks that must be polled.
    pub(crate) fn new() -> (Self, Tasks) {
        let (sender, arriving) = mpsc::unbounded();
        (Self(sender), Tasks { arriving, running: FuturesUnordered::new() })
    }

    /// Runs a future. It is first polled after the connection, so the updates of a future that a handler runs just before it
    /// returns follow the handler's answer.
    ///
    /// The queue has no bound of its own: each future belongs to an open session or to a terminal, and their numbers are
    /// limited.
    pub(crate) fn run(&self, task: impl Future<Output = ()> + Send + 'static) {
        // Sending fails after the connection has ended; the task is dropped then.
        let _over = self.0.unbounded_send(Box::pin(task));
    }
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Background").finish_non_exhaustive()
    }
}

/// The futures that run in the background. Dropping this drops all of them.
pub(crate) struct Tasks {
    arriving: mpsc::UnboundedReceiver<BoxFuture<'static, ()>>,
    running: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl Tasks {
    /// Polls `main` and then the tasks, until `main` completes.
    pub(crate) async fn run_with<F: Future>(&mut self, main: F) -> F::Output {
        let mut main = pin!(main);
        poll_fn(|cx| {
            let outcome = main.as_mut().poll(cx);
            self.poll(cx);
            outcome
        })
        .await
    }

    fn poll(&mut self, cx: &mut Context<'_>) {
        loop {
            let mut arrived = false;
            while let Poll::Ready(Some(task)) = self.arriving.poll_next_unpin(cx) {
                self.running.push(task);
                arrived = true;
            }
            while let Poll::Ready(Some(())) = self.running.poll_next_unpin(cx) {}
            if !arrived {
                return;
            }
        }
    }
}
