use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_jsonrpc::{Notification, Response};
use agentwire_transport::{Exchange, MessageSource, Service};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::server::Link;
use crate::server::visit::Served;

/// What serves every client of an endpoint.
pub(crate) struct Serving(Box<dyn ErasedService + Send + Sync>);

/// [`Service`] with boxed futures.
trait ErasedService {
    fn connection(&self, link: Link) -> Running;
    fn exchange(&self, exchange: Exchange) -> BoxFuture<'static, Response>;
    fn notification(&self, notification: Notification, source: Option<Arc<dyn MessageSource>>);
}

impl<S: Service<Link>> ErasedService for S {
    fn connection(&self, link: Link) -> Running {
        Running::new(Service::connection(self, link))
    }

    fn exchange(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        Service::<Link>::exchange(self, exchange).boxed()
    }

    fn notification(&self, notification: Notification, source: Option<Arc<dyn MessageSource>>) {
        Service::<Link>::notification(self, notification, source);
    }
}

/// One session being served. It ends also where its server panics, because others share its thread.
pub(crate) struct Running(BoxFuture<'static, ()>);

impl Serving {
    pub(crate) fn new(service: impl Service<Link> + Send + Sync + 'static) -> Self {
        Self(Box::new(service))
    }

    pub(crate) fn exchange(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        self.0.exchange(exchange)
    }

    pub(crate) fn notification(&self, notification: Notification, source: Option<Arc<dyn MessageSource>>) {
        self.0.notification(notification, source);
    }

    /// What serves a session in a task of its own. It can be visited there.
    pub(crate) fn task(&self, link: Link) -> impl Future<Output = ()> + Send + use<> {
        let session = link.session().clone();
        let (home, served) = Served::new(self.0.connection(link));
        session.serve(served);
        home
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
