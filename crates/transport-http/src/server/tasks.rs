use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::FuturesUnordered;

/// Where a future is given to be run: within another one, or wherever a function says.
#[derive(Clone)]
pub struct Spawner(Arc<dyn Fn(BoxFuture<'static, ()>) + Send + Sync>);

impl Spawner {
    /// Runs what it is given by means of a function, such as `|task| drop(tokio::spawn(task))`.
    pub fn new(spawn: impl Fn(BoxFuture<'static, ()>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(spawn))
    }

    /// Runs a future, to its end or to that of what runs it.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        (self.0)(task.boxed());
    }
}

impl fmt::Debug for Spawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawner").finish_non_exhaustive()
    }
}

/// The streams of an HTTP/2 connection are futures of their own.
#[cfg(feature = "hyper")]
impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Spawner {
    fn execute(&self, future: F) {
        self.spawn(future);
    }
}

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

impl Tasks {
    /// Where futures are given to be run here.
    pub(crate) fn spawner(&self) -> Spawner {
        // Weak, because what runs here may hold one.
        let coming = Arc::downgrade(&self.coming);
        Spawner::new(move |task| {
            let Some(coming) = coming.upgrade() else {
                return;
            };
            let mut coming = lock(&coming);
            coming.tasks.push(task);
            let waker = coming.waker.take();
            drop(coming);
            if let Some(waker) = waker {
                waker.wake();
            }
        })
    }

    /// Lets everything go on that can. Ready while there is nothing.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            self.running.extend(self.coming(cx));
            match self.running.poll_next_unpin(cx) {
                Poll::Ready(Some(())) => {}
                // It may have given us another while it was polled; then the waker has been used.
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn coming(&self, cx: &Context<'_>) -> Vec<BoxFuture<'static, ()>> {
        let mut coming = lock(&self.coming);
        match &mut coming.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            waker => *waker = Some(cx.waker().clone()),
        }
        std::mem::take(&mut coming.tasks)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no panic while it was held")
}
