//! A response and its body, which hold the guard of their request.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{HeaderValue, Response, header};
use http_body::{Frame, SizeHint};

use crate::server::Body;
use crate::server::serve::connection_state::RequestGuard;
use crate::server::serve::request_body::read_rest;

/// A response in the making, or its body.
pub(crate) struct GuardedResponse<T> {
    inner: T,
    guard: Option<RequestGuard>,
    /// The response, while the rest of the request is read.
    ready: Option<Box<DeferredResponse>>,
}

/// A response that waits for the rest of its request.
struct DeferredResponse {
    response: Response<Body>,
    rest: BoxFuture<'static, bool>,
}

impl<T> GuardedResponse<T> {
    pub(crate) fn new(inner: T, guard: RequestGuard) -> Self {
        Self { inner, guard: Some(guard), ready: None }
    }

    /// Moves the guard to the body of the response.
    fn respond(&mut self, response: Response<Body>) -> Response<GuardedResponse<Body>> {
        let guard = self.guard.take();
        response.map(|inner| GuardedResponse { inner, guard, ready: None })
    }
}

impl<T, E> Future for GuardedResponse<T>
where
    T: Future<Output = Result<Response<Body>, E>> + Unpin,
{
    type Output = Result<Response<GuardedResponse<Body>>, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut ready = match this.ready.take() {
            Some(ready) => ready,
            None => {
                let response = ready!(Pin::new(&mut this.inner).poll(cx))?;
                let unread = this.guard.as_ref().and_then(RequestGuard::take_unread);
                let Some(body) = unread else { return Poll::Ready(Ok(this.respond(response))) };
                Box::new(DeferredResponse { response, rest: read_rest(body).boxed() })
            }
        };
        match ready.rest.poll_unpin(cx) {
            Poll::Ready(true) => {}
            Poll::Ready(false) => {
                ready.response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Poll::Pending => {
                this.ready = Some(ready);
                return Poll::Pending;
            }
        }
        Poll::Ready(Ok(this.respond(ready.response)))
    }
}

impl http_body::Body for GuardedResponse<Body> {
    type Data = Bytes;
    type Error = <Body as http_body::Body>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
