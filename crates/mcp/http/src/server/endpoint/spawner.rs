//! Runs futures in tasks, and catches their panics.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};

/// Runs futures in tasks, by a function such as `tokio::spawn`.
#[derive(Clone)]
pub struct Spawner(Arc<dyn Fn(BoxFuture<'static, ()>) + Send + Sync>);

impl Spawner {
    /// Runs futures by a function, such as `|task| drop(tokio::spawn(task))`.
    pub fn new(spawn: impl Fn(BoxFuture<'static, ()>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(spawn))
    }

    /// Runs each future in a task of the tokio runtime in whose context it is spawned.
    pub(crate) fn tokio() -> Self {
        Self::new(|task| drop(tokio::spawn(task)))
    }

    /// Runs a future until it ends or its runner is dropped. A panic, which the panic hook has reported, ends this future
    /// alone: other futures may run in the same task.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.spawn_caught(AssertUnwindSafe(task).catch_unwind().map(drop).boxed());
    }

    /// Runs a future whose panics are caught.
    pub(crate) fn spawn_caught(&self, task: BoxFuture<'static, ()>) {
        (self.0)(task);
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
