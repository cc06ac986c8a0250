use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::{BoxFuture, Either};

use crate::server::Link;
use crate::server::visit::Served;

/// What serves every client of an endpoint.
pub(crate) struct Serving(Box<dyn Fn(Link) -> Running + Send + Sync>);

/// One client being served. It ends also where its server panics, because others share its thread.
pub(crate) struct Running(BoxFuture<'static, ()>);

impl Serving {
    pub(crate) fn new<H, F>(handler: H) -> Self
    where
        H: Fn(Link) -> F + Send + Sync + 'static,
        F: Future<Output: 'static> + Send + 'static,
    {
        Self(Box::new(move |link| Running::new(handler(link))))
    }

    pub(crate) fn start(&self, link: Link) -> Running {
        (self.0)(link)
    }

    /// What serves a link in a task of its own. A session can be visited there.
    pub(crate) fn task(&self, link: Link) -> impl Future<Output = ()> + Send + use<> {
        let session = link.as_session().cloned();
        let running = self.start(link);
        match session {
            Some(session) => {
                let (home, served) = Served::new(running);
                session.serve(served);
                Either::Left(home)
            }
            None => Either::Right(running),
        }
    }
}

impl Running {
    pub(crate) fn new<T: 'static>(serving: impl Future<Output = T> + Send + 'static) -> Self {
        Self(AssertUnwindSafe(serving).catch_unwind().map(drop).boxed())
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll_unpin(cx)
    }
}

impl Future for Running {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll_unpin(cx)
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").finish_non_exhaustive()
    }
}
