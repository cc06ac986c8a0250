//! Erases the type of the endpoint's service. A panic in a session's future ends only that session.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use agentwire_jsonrpc::{Notification, Response};
use agentwire_transport::{Exchange, MessageSource, Service};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::server::Connection;
use crate::server::endpoint::resources::SessionTaskGuard;
use crate::server::inline_task::InlineTask;

/// The service of an endpoint, with its type erased.
pub(crate) struct SharedService(Box<dyn ErasedService + Send + Sync>);

/// [`Service`] with boxed futures.
trait ErasedService {
    fn connection(&self, connection: Connection) -> BoxFuture<'static, ()>;
    fn exchange(&self, exchange: Exchange) -> BoxFuture<'static, Response>;
    fn notification(&self, notification: Notification, source: Option<Arc<dyn MessageSource>>);
}

impl<S: Service<Connection>> ErasedService for S {
    /// A panic ends this session alone, because others share its thread.
    fn connection(&self, connection: Connection) -> BoxFuture<'static, ()> {
        AssertUnwindSafe(Service::connection(self, connection)).catch_unwind().map(drop).boxed()
    }

    fn exchange(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        Service::<Connection>::exchange(self, exchange).boxed()
    }

    fn notification(&self, notification: Notification, source: Option<Arc<dyn MessageSource>>) {
        Service::<Connection>::notification(self, notification, source);
    }
}

impl SharedService {
    pub(crate) fn new(service: impl Service<Connection> + Send + Sync + 'static) -> Self {
        Self(Box::new(service))
    }

    pub(crate) fn exchange(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        self.0.exchange(exchange)
    }

    pub(crate) fn notification(&self, notification: Notification, source: Option<Arc<dyn MessageSource>>) {
        self.0.notification(notification, source);
    }

    /// The task that serves a session, with its guard. The requests of the session poll it inline.
    pub(crate) fn task(
        &self,
        connection: Connection,
        guard: SessionTaskGuard,
    ) -> impl Future<Output = ()> + Send + use<> {
        let session = connection.session().clone();
        let (handle, task) = InlineTask::new(self.0.connection(connection));
        session.serve(task);
        async move {
            handle.await;
            drop(guard);
        }
    }
}

impl fmt::Debug for SharedService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedService").finish_non_exhaustive()
    }
}
