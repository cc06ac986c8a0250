//! `Cancelled`: the future that completes when the request is cancelled.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::scope::CancelledInScope;

/// See [`Context::cancelled`](crate::Context::cancelled).
#[must_use = "futures do nothing unless polled"]
pub struct Cancelled {
    request: CancelledInScope,
    /// A call may go on as a task, which is cancelled in another way.
    task: Option<crate::tasks::TaskCancelled>,
}

impl Cancelled {
    pub(crate) fn new(request: CancelledInScope, task: Option<crate::tasks::TaskCancelled>) -> Self {
        Self { request, task }
    }
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(task) = &mut self.task
            && Pin::new(task).poll(cx).is_ready()
        {
            return Poll::Ready(());
        }
        Pin::new(&mut self.request).poll(cx)
    }
}

impl fmt::Debug for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancelled").finish_non_exhaustive()
    }
}
