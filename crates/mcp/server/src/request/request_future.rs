//! Runs the function of a request, and answers with its result.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll, ready};

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_mcp_schema::EmptyResult;
use futures::future::BoxFuture;

use crate::Context;
use crate::input::SingleUse;
use crate::scope::RequestScope;

/// A function at work. It returns the text of the answer.
pub(crate) type HandlerFuture = BoxFuture<'static, Result<RawJson, ErrorObject>>;

/// The answer to a request, or the future that will return it.
pub(crate) enum Reply {
    Done(Result<RawJson, ErrorObject>),
    /// A function that is dropped when the request is cancelled.
    Handler(Context, HandlerFuture),
    /// A call that may become a task, and handles its cancellation itself.
    Task(HandlerFuture),
}

impl Reply {
    pub(crate) fn done(answer: RawJson) -> Self {
        Self::Done(Ok(answer))
    }

    /// The empty result, in a session.
    pub(crate) fn empty(scope: &RequestScope) -> Result<Self, ErrorObject> {
        scope.encode(&EmptyResult::default()).map(Self::done)
    }
}

/// Runs a function until it returns, asks what only the next round answers, or is cancelled.
pub(crate) struct RequestFuture {
    handler: HandlerFuture,
    /// Set once the function has to wait.
    cancelled: Option<agentwire_peer::Cancelled>,
    context: Context,
    /// Whether `detach` took the handler.
    is_detached: bool,
    /// The answer of an ended round. It waits until the store has undone the single use of the round's `requestState`.
    ended: Option<(BoxFuture<'static, ()>, Result<RawJson, ErrorObject>)>,
}

impl RequestFuture {
    pub(crate) fn new(context: Context, handler: HandlerFuture) -> Self {
        Self { handler, cancelled: None, context, is_detached: false, ended: None }
    }

    /// Returns the function's future as it stands.
    pub(crate) fn detach(mut self) -> HandlerFuture {
        self.is_detached = true;
        std::mem::replace(&mut self.handler, Box::pin(std::future::pending()))
    }
}

impl Future for RequestFuture {
    type Output = Result<RawJson, ErrorObject>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Some((giving_back, _)) = &mut this.ended {
            ready!(giving_back.as_mut().poll(cx));
        }
        if let Some((_, answer)) = this.ended.take() {
            return Poll::Ready(answer);
        }
        // The function first: one that waits for its cancellation may still act on it.
        if let Poll::Ready(answer) = this.handler.as_mut().poll(cx) {
            return Poll::Ready(answer);
        }
        // An exchange is cancelled by dropping this future.
        if let RequestScope::Connection(request) = this.context.scope() {
            let cancelled = this.cancelled.get_or_insert_with(|| request.cancelled());
            if Pin::new(cancelled).poll(cx).is_ready() {
                return Poll::Ready(Err(ErrorObject::request_cancelled()));
            }
        }
        match this.context.round() {
            // The function waits for an answer that only the next round brings. It is dropped, as when it is cancelled.
            Some(round) if round.ends(cx) => {
                let answer = round.end().and_then(|wanted| this.context.encode(wanted));
                let Some(mut giving_back) = round.single_use().and_then(SingleUse::give_back) else {
                    return Poll::Ready(answer);
                };
                this.handler = Box::pin(std::future::pending());
                if giving_back.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(answer);
                }
                this.ended = Some((giving_back, answer));
                Poll::Pending
            }
            _ => Poll::Pending,
        }
    }
}

/// A clone of the context may outlive the request, but no progress may follow the answer, and no question.
impl Drop for RequestFuture {
    fn drop(&mut self) {
        if !self.is_detached {
            self.context.close_round();
            self.context.progress_state().end();
        }
    }
}
