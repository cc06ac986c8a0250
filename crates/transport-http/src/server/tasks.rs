//! Runs spawned futures inside another future, or through a function such as `tokio::spawn`. Catches their panics.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agentwire_sync::Mutex;
use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::FuturesUnordered;

use crate::server::coalescing_waker::CoalescingWaker;

/// How many futures are polled before the futures beside these get their turn. hyper yields once for each request that it
/// reads.
const ROUNDS: usize = 32;

/// Runs futures: within another future, or by a function such as `tokio::spawn`.
#[derive(Clone)]
pub struct Spawner(Arc<dyn Fn(BoxFuture<'static, ()>) + Send + Sync>);

impl Spawner {
    /// Runs futures by a function, such as `|task| drop(tokio::spawn(task))`.
    pub fn new(spawn: impl Fn(BoxFuture<'static, ()>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(spawn))
    }

    /// Runs a future until it ends or its runner is dropped. A panic, which the panic hook has reported, ends this future
    /// alone: other connections may run in the same task.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        (self.0)(AssertUnwindSafe(task).catch_unwind().map(drop).boxed());
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
pub(crate) struct Tasks {
    running: FuturesUnordered<BoxFuture<'static, ()>>,
    coming: Arc<Mutex<Vec<BoxFuture<'static, ()>>>>,
    wakes: Arc<CoalescingWaker>,
    /// `wakes` as a waker.
    waker: Waker,
}

impl Default for Tasks {
    fn default() -> Self {
        let wakes = CoalescingWaker::new();
        let waker = wakes.clone().into();
        Self { running: FuturesUnordered::new(), coming: Arc::default(), wakes, waker }
    }
}

impl Tasks {
    /// Gives futures to these tasks.
    pub(crate) fn spawner(&self) -> Spawner {
        // Weak, because a future that runs here may hold a spawner.
        let coming = Arc::downgrade(&self.coming);
        let waker = self.waker.clone();
        Spawner::new(move |task| {
            let Some(coming) = coming.upgrade() else {
                return;
            };
            coming.lock().push(task);
            waker.wake_by_ref();
        })
    }

    /// Polls the futures that are woken. Ready while there is none.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.wakes.task().register(cx.waker());
        let mut inner = Context::from_waker(&self.waker);
        for _ in 0..ROUNDS {
            self.wakes.begin_poll();
            self.running.extend(std::mem::take(&mut *self.coming.lock()));
            match self.running.poll_next_unpin(&mut inner) {
                Poll::Ready(Some(())) => {}
                polled => {
                    if !self.wakes.end_poll() {
                        return polled.map(drop);
                    }
                }
            }
        }
        // The rest is polled after the other futures of the task.
        self.wakes.end_poll();
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
