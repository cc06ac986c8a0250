//! Polls a handler's future for one request. A panic in it becomes the response `internal error`.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_connection::IncomingId;
use agentwire_jsonrpc::{ErrorObject, RawJson};

use crate::observe::CallObserver;
use crate::observe::open_call::in_scope;

/// The outcome of a request, and the request that it answers.
pub(crate) type RequestOutcome = (IncomingId, Result<RawJson, ErrorObject>);

/// The future of a handler for one request. A panic in it fails only this request. The panic hook has reported it.
pub(crate) struct HandlerFuture<C> {
    pub(crate) incoming: IncomingId,
    /// The size of the request's params in bytes.
    bytes: usize,
    observer: Option<Arc<dyn CallObserver>>,
    /// `None` if the handler panicked before it returned its future.
    outcome: Option<Pin<Box<C>>>,
}

impl<C> HandlerFuture<C> {
    /// Calls the handler.
    pub(crate) fn start(
        incoming: IncomingId,
        bytes: usize,
        observer: Option<Arc<dyn CallObserver>>,
        handler: impl FnOnce() -> C,
    ) -> Self {
        // Boxed when it is made, because it may be large and would be moved with every request.
        let start = || in_scope(observer.as_deref(), || Box::pin(handler()));
        let outcome = catch_unwind(AssertUnwindSafe(start)).ok();
        Self { incoming, bytes, observer, outcome }
    }
}

impl<C: Future<Output = Result<RawJson, ErrorObject>>> Future for HandlerFuture<C> {
    /// The response, and the size of the request's params in bytes.
    type Output = (RequestOutcome, usize);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { observer, outcome, .. } = &mut *self;
        let polled = outcome.as_mut().and_then(|outcome| {
            let poll = || in_scope(observer.as_deref(), || outcome.as_mut().poll(cx));
            catch_unwind(AssertUnwindSafe(poll)).ok()
        });
        let outcome = match polled {
            Some(Poll::Pending) => return Poll::Pending,
            Some(Poll::Ready(outcome)) => outcome,
            None => Err(ErrorObject::internal_error("the handler panicked")),
        };
        Poll::Ready(((self.incoming, outcome), self.bytes))
    }
}
