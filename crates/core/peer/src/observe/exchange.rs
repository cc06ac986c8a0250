//! Reports a single request without a connection to an `Observer`: its frames, its call and its notifications.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use agentwire_jsonrpc::{Message, Notification, Request, RequestId, Response};
use agentwire_transport::MessageSource;
use bytestring::ByteString;

use super::connection::outcome;
use super::open_call::OpenCall;
use super::{CallObserver, CallStart, Direction, Observer, Outcome};
use crate::panics::guarded;

/// Reports one exchange as if it were a connection: its frames, its call, its notifications.
///
/// Dropping it before [`end`](Self::end) reports the call as cancelled, because the caller is gone.
pub struct ExchangeObservation {
    observer: Arc<dyn Observer>,
    call: Option<OpenCall>,
    id: RequestId,
    revision: Option<ByteString>,
    now: fn() -> Instant,
}

impl ExchangeObservation {
    /// Reports the request. `now` reads the clock.
    pub fn begin(
        observer: Arc<dyn Observer>,
        request: &Request,
        source: Option<&Arc<dyn MessageSource>>,
        revision: Option<ByteString>,
        now: fn() -> Instant,
    ) -> Self {
        report_frame(&*observer, Direction::In, request.clone());
        let Request { id, method, params, .. } = request;
        let call = CallStart {
            direction: Direction::In,
            method,
            id,
            params: params.as_ref(),
            source,
            revision: revision.as_deref(),
            context: None,
        };
        let call = OpenCall::begin(&*observer, &call, method, now());
        Self { observer, call, id: id.clone(), revision, now }
    }

    /// Returns the observer of the call. `None` if the call is not observed.
    pub fn call_observer(&self) -> Option<&dyn CallObserver> {
        self.call.as_ref().map(|call| &**call.observer())
    }

    /// Reports the response.
    pub fn end(mut self, response: &Response) {
        report_frame(&*self.observer, Direction::Out, response.clone());
        self.end_call(outcome(response));
    }

    fn end_call(&mut self, outcome: Outcome<'_>) {
        if let Some(call) = self.call.take() {
            call.end(&self.id, outcome, (self.now)(), self.revision.as_deref());
        }
    }
}

impl Drop for ExchangeObservation {
    fn drop(&mut self) {
        if let Some(call) = &self.call {
            call.cancelled();
            self.end_call(Outcome::Cancelled);
        }
    }
}

impl fmt::Debug for ExchangeObservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExchangeObservation").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Reports a notification that is sent in the course of an exchange.
pub fn observe_notification(observer: &dyn Observer, notification: &Notification) {
    report_frame(observer, Direction::Out, notification.clone());
    guarded(|| observer.notification(Direction::Out, notification));
}

fn report_frame(observer: &dyn Observer, direction: Direction, message: impl Into<Message>) {
    let bytes = message.into().size_hint();
    guarded(|| observer.frame(direction, bytes));
}
