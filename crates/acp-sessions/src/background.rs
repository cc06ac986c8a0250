//! What goes on beside the connection, within the same future.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

use futures::StreamExt;
use futures::channel::mpsc;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;

/// Where work is handed over that nobody waits for. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct Background(mpsc::UnboundedSender<BoxFuture<'static, ()>>);

impl Background {
    /// The way in, and what does the work as long as it is polled.
    pub(crate) fn new() -> (Self, Tasks) {
        let (sender, arriving) = mpsc::unbounded();
        (Self(sender), Tasks { arriving, running: FuturesUnordered::new() })
    }

    /// Hands over work. It is begun after the connection has been polled: what a handler hands over just before it
    /// returns its answer comes after that answer.
    ///
    /// The queue has no bound of its own. Each piece belongs to an open session or to a terminal, and those have.
    pub(crate) fn run(&self, work: impl Future<Output = ()> + Send + 'static) {
        // Where nobody polls any more, the connection is over, and the work with it.
        let _over = self.0.unbounded_send(Box::pin(work));
    }
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Background").finish_non_exhaustive()
    }
}

/// The work that was handed over. Dropping it drops all of that.
pub(crate) struct Tasks {
    arriving: mpsc::UnboundedReceiver<BoxFuture<'static, ()>>,
    running: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl Tasks {
    /// Polls `main` and then the work, until `main` completes.
    pub(crate) async fn beside<F: Future>(&mut self, main: F) -> F::Output {
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
            while let Poll::Ready(Some(work)) = self.arriving.poll_next_unpin(cx) {
                self.running.push(work);
                arrived = true;
            }
            while let Poll::Ready(Some(())) = self.running.poll_next_unpin(cx) {}
            if !arrived {
                return;
            }
        }
    }
}
