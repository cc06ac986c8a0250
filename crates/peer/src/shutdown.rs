//! The signal at which served connections end.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};

/// The signal at which the connections of a configuration end; see [`Config::shutdown`](crate::Config::shutdown).
#[derive(Clone)]
pub struct Shutdown(Shared<BoxFuture<'static, ()>>);

impl Shutdown {
    pub(crate) fn new(signal: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(signal.boxed().shared())
    }
}

/// Completes with the signal, in each clone.
impl Future for Shutdown {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll_unpin(cx)
    }
}

impl fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shutdown").finish_non_exhaustive()
    }
}
