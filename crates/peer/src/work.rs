use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use agentwire_connection::OwedId;
use agentwire_jsonrpc::{ErrorObject, RawJson};

/// What a handler said, and to which request.
pub(crate) type Answer = (OwedId, Result<RawJson, ErrorObject>);

/// A handler at work on a request. What panics in it has been reported by the panic hook, and fails this request only.
pub(crate) struct Work<C> {
    pub(crate) owed: OwedId,
    /// How many bytes of params the request came with.
    bytes: usize,
    /// None where the handler panicked before it had made its future.
    answer: Option<Pin<Box<C>>>,
}

impl<C> Work<C> {
    /// Calls the handler.
    pub(crate) fn start(owed: OwedId, bytes: usize, handler: impl FnOnce() -> C) -> Self {
        // Boxed as it is made: it may be large, and would be moved with every request.
        Self { owed, bytes, answer: catch_unwind(AssertUnwindSafe(|| Box::pin(handler()))).ok() }
    }
}

impl<C: Future<Output = Result<RawJson, ErrorObject>>> Future for Work<C> {
    /// The answer, and how many bytes of params its request came with.
    type Output = (Answer, usize);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self
            .answer
            .as_mut()
            .and_then(|answer| catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(cx))).ok());
        let outcome = match polled {
            Some(Poll::Pending) => return Poll::Pending,
            Some(Poll::Ready(outcome)) => outcome,
            None => Err(ErrorObject::internal_error("the handler panicked")),
        };
        Poll::Ready(((self.owed, outcome), self.bytes))
    }
}
