//! What serves a session, without the guard against panics.

use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::BoxFuture;

pub(crate) struct Running(pub(crate) BoxFuture<'static, ()>);

impl Running {
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll_unpin(cx)
    }
}
