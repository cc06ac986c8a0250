//! The shutdown signal of served connections, shared by all connections of a configuration.

use std::fmt;
use std::future::{Future, pending};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;

/// The signal at which the connections of a configuration end; see [`Config::shutdown`](crate::Config::shutdown).
#[derive(Clone)]
pub struct Shutdown(Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>);

impl Shutdown {
    pub(crate) fn new(signal: impl Future<Output = ()> + Send + 'static) -> Self {
        let signal = async {
            // The panic hook has reported it. The connections go on.
            if AssertUnwindSafe(signal).catch_unwind().await.is_err() {
                pending::<()>().await;
            }
        };
        let signal = signal.boxed().shared();
        Self(Arc::new(move || signal.clone().boxed()))
    }

    /// Whether the signal has been given. For servers of requests without a connection.
    pub fn is_given(&self) -> bool {
        self.signal().now_or_never().is_some()
    }

    /// Returns a future that completes with the signal. Each connection has its own.
    pub fn signal(&self) -> BoxFuture<'static, ()> {
        (self.0)()
    }
}

impl fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shutdown").finish_non_exhaustive()
    }
}
