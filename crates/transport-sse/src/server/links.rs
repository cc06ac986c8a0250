use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::Stream;

use crate::server::Link;
use crate::server::shared::Shared;

/// The clients of an [`endpoint`](crate::server::endpoint()), as links to be served.
///
/// It ends when the endpoint is shut, or all copies of it are dropped. Dropping it makes the endpoint refuse new
/// clients with 503.
#[derive(Debug)]
pub struct Links {
    shared: Arc<Shared>,
}

impl Links {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

impl Stream for Links {
    type Item = Link;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Link>> {
        let Some(mut backlog) = self.shared.backlog() else {
            return Poll::Ready(None);
        };
        if let Some(link) = backlog.links.pop_front() {
            return Poll::Ready(Some(link));
        }
        if backlog.closed {
            return Poll::Ready(None);
        }
        match &mut backlog.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            waker => *waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        let Some(mut backlog) = self.shared.backlog() else {
            return;
        };
        backlog.closed = true;
        let links = std::mem::take(&mut backlog.links);
        drop(backlog);
        // Each ends its session, which takes locks.
        drop(links);
    }
}
