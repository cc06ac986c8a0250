//! Adds the notifications without a session to the server's log. The observer logs all other messages.

use std::sync::Arc;

use agentwire_jsonrpc::{Notification, Response};
use agentwire_transport::{Exchange, MessageSource, Service};

use super::log::RequestLog;

/// Logs the notifications that belong to no session.
pub(super) struct LoggedService<S> {
    service: S,
    log: RequestLog,
}

impl<S> LoggedService<S> {
    pub(super) fn new(service: S, log: RequestLog) -> Self {
        Self { service, log }
    }
}

impl<C, S: Service<C>> Service<C> for LoggedService<S> {
    fn connection(&self, connection: C) -> impl Future<Output = ()> + Send + 'static {
        self.service.connection(connection)
    }

    fn exchange(&self, exchange: Exchange) -> impl Future<Output = Response> + Send + 'static {
        self.service.exchange(exchange)
    }

    fn notification(&self, notification: Notification, source: Option<Arc<dyn MessageSource>>) {
        self.log.notification(&notification);
        self.service.notification(notification, source);
    }
}
