use std::fmt;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::FuturesUnordered;
use hyper::rt::Executor;

/// Futures that run within another one.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    running: FuturesUnordered<BoxFuture<'static, ()>>,
    coming: Arc<Mutex<Coming>>,
}

#[derive(Default)]
struct Coming {
    tasks: Vec<BoxFuture<'static, ()>>,
    waker: Option<Waker>,
}

impl fmt::Debug for Coming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coming").field("tasks", &self.tasks.len()).finish_non_exhaustive()
    }
}

/// Where a future is given to be run.
#[derive(Clone)]
pub(crate) struct Spawn(Arc<dyn Fn(BoxFuture<'static, ()>) + Send + Sync>);

impl Spawn {
    pub(crate) fn new(spawn: impl Fn(BoxFuture<'static, ()>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(spawn))
    }

    pub(crate) fn spawn(&self, task: BoxFuture<'static, ()>) {
        (self.0)(task);
    }
}

/// The streams of an HTTP/2 connection are futures of their own.
impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Spawn {
    fn execute(&self, future: F) {
        self.spawn(future.boxed());
    }
}

impl Tasks {
    /// Where futures are given to be run here.
    pub(crate) fn spawner(&self) -> Spawn {
        // Weak, because what runs here may hold one.
        let coming = Arc::downgrade(&self.coming);
        Spawn::new(move |task| {
            let Some(coming) = coming.upgrade() else {
                return;
            };
            let mut coming = coming.lock().expect("no panic while it was held");
            coming.tasks.push(task);
            let waker = coming.waker.take();
            drop(coming);
            if let Some(waker) = waker {
                waker.wake();
            }
        })
    }

    /// Lets everything go on that can.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) {
        loop {
            self.running.extend(self.coming(cx));
            match self.running.poll_next_unpin(cx) {
                Poll::Ready(Some(())) => {}
                // It may have given us another while it was polled; then the waker has been used.
                Poll::Ready(None) | Poll::Pending => return,
            }
        }
    }

    fn coming(&self, cx: &Context<'_>) -> Vec<BoxFuture<'static, ()>> {
        let mut coming = self.coming.lock().expect("no panic while it was held");
        match &mut coming.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            waker => *waker = Some(cx.waker().clone()),
        }
        std::mem::take(&mut coming.tasks)
    }
}
