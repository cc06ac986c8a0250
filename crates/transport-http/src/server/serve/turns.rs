use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::Response;
use http_body::{Frame, SizeHint};

use crate::server::Body;

/// Whose turn it is on a connection: its client's, to say the head of a request, or ours, to answer it.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    begun: AtomicU32,
    ended: AtomicU32,
    /// Several requests are answered at once, as in HTTP/2.
    multiplexed: AtomicBool,
}

/// The time from the head of a request to the end of the response.
#[derive(Debug)]
pub(crate) struct Turn(Arc<Turns>);

/// A response in the making, or its body.
pub(crate) struct InTurn<T> {
    inner: T,
    turn: Option<Turn>,
}

impl Turns {
    /// A request has come.
    pub(crate) fn begin(self: &Arc<Self>, version: http::Version) -> Turn {
        if version == http::Version::HTTP_2 {
            self.multiplexed.store(true, Ordering::Relaxed);
        }
        self.begun.fetch_add(1, Ordering::Relaxed);
        Turn(self.clone())
    }

    /// How many requests have been answered, if the next is waited for.
    pub(crate) fn waits(&self) -> Option<u32> {
        let begun = self.begun.load(Ordering::Relaxed);
        let waits = begun == self.ended.load(Ordering::Relaxed) && !self.multiplexed.load(Ordering::Relaxed);
        waits.then_some(begun)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

impl<T> InTurn<T> {
    pub(crate) fn new(inner: T, turn: Turn) -> Self {
        Self { inner, turn: Some(turn) }
    }
}

impl<T, E> Future for InTurn<T>
where
    T: Future<Output = Result<Response<Body>, E>> + Unpin,
{
    type Output = Result<Response<InTurn<Body>>, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = ready!(Pin::new(&mut self.inner).poll(cx));
        let turn = self.turn.take();
        Poll::Ready(response.map(|response| response.map(|inner| InTurn { inner, turn })))
    }
}

impl http_body::Body for InTurn<Body> {
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
