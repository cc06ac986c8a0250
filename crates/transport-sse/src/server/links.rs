use std::pin::Pin;
use std::task::{Context, Poll};

use futures::channel::mpsc::UnboundedReceiver;
use futures::{Stream, StreamExt};

use crate::server::Link;

/// The clients of an [`endpoint`](crate::server::endpoint()), as links to be served.
///
/// It ends when the endpoint is shut, or all copies of it are dropped. Dropping it makes the endpoint refuse new
/// clients with 503.
#[derive(Debug)]
pub struct Links(pub(crate) UnboundedReceiver<Link>);

impl Stream for Links {
    type Item = Link;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Link>> {
        self.0.poll_next_unpin(cx)
    }
}
