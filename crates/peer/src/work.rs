use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use agentwire_connection::OwedId;
use agentwire_jsonrpc::{ErrorObject, RawJson, Request};
use futures::FutureExt;
use futures::future::Either;

use crate::handler::{Handler, RequestContext};

/// What a handler said, and to which request.
pub(crate) type Answer = (OwedId, Result<RawJson, ErrorObject>);

/// A handler at work on a request.
pub(crate) struct Work<C> {
    pub(crate) owed: OwedId,
    /// How many bytes of params the request came with.
    bytes: usize,
    answer: Pin<Box<C>>,
}

impl<C> Work<C> {
    pub(crate) fn new(owed: OwedId, bytes: usize, answer: C) -> Self {
        Self { owed, bytes, answer: Box::pin(answer) }
    }
}

impl<C: Future<Output = Answer>> Future for Work<C> {
    /// The answer, and how many bytes of params its request came with.
    type Output = (Answer, usize);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let bytes = self.bytes;
        self.answer.as_mut().poll(cx).map(|answer| (answer, bytes))
    }
}

/// Runs a handler on one request. The call is inside the guard too: what a handler does before it has made
/// its future counts as the handler.
pub(crate) fn answer<H: Handler>(
    handler: &H,
    request: Request,
    context: RequestContext,
) -> impl Future<Output = Answer> {
    let owed = context.owed;
    let started = catch_unwind(AssertUnwindSafe(|| handler.request(request, context)));
    // No async block: it would hold the future twice, as what it was given and as what it waits for, and both
    // would be moved with every request.
    let guarded = match started {
        Ok(future) => Either::Left(AssertUnwindSafe(future).catch_unwind()),
        Err(panic) => Either::Right(std::future::ready(Err(panic))),
    };
    guarded.map(move |outcome| {
        (owed, outcome.unwrap_or_else(|_panic| Err(ErrorObject::internal_error("the handler panicked"))))
    })
}
