use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use agentwire_connection::IncomingId;
use agentwire_jsonrpc::{ErrorObject, RawJson};

/// The outcome of a request, and the request that it answers.
pub(crate) type Answer = (IncomingId, Result<RawJson, ErrorObject>);

/// The future of a handler for one request. A panic in it fails this request only; the panic hook has reported it.
pub(crate) struct HandlerFuture<C> {
    pub(crate) incoming: IncomingId,
    /// The size of the request's params in bytes.
    bytes: usize,
    /// None where the handler panicked before it returned its future.
    outcome: Option<Pin<Box<C>>>,
}

impl<C> HandlerFuture<C> {
    /// Calls the handler.
    pub(crate) fn start(incoming: IncomingId, bytes: usize, handler: impl FnOnce() -> C) -> Self {
        // Boxed as it is made: it may be large, and would be moved with every request.
        Self { incoming, bytes, outcome: catch_unwind(AssertUnwindSafe(|| Box::pin(handler()))).ok() }
    }
}

impl<C: Future<Output = Result<RawJson, ErrorObject>>> Future for HandlerFuture<C> {
    /// The answer, and the size of the request's params in bytes.
    type Output = (Answer, usize);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self
            .outcome
            .as_mut()
            .and_then(|outcome| catch_unwind(AssertUnwindSafe(|| outcome.as_mut().poll(cx))).ok());
        let outcome = match polled {
            Some(Poll::Pending) => return Poll::Pending,
            Some(Poll::Ready(outcome)) => outcome,
            None => Err(ErrorObject::internal_error("the handler panicked")),
        };
        Poll::Ready(((self.incoming, outcome), self.bytes))
    }
}
