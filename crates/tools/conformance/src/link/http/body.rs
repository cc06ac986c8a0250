//! The body of a request, which signals when it has been written.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::oneshot;

/// A body of one piece. Its length is known, so that the request has a `Content-Length`.
pub(super) struct RequestBody {
    bytes: Full<Bytes>,
    written: Option<oneshot::Sender<()>>,
}

impl RequestBody {
    pub(super) fn new(bytes: Vec<u8>, written: oneshot::Sender<()>) -> Self {
        Self { bytes: Full::new(Bytes::from(bytes)), written: Some(written) }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    /// The connection takes the body when there is room for it, and writes it with what it already has.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Some(written) = self.written.take() {
            // Most requests are sent without waiting for it.
            let _waits = written.send(());
        }
        Pin::new(&mut self.bytes).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.bytes.size_hint()
    }
}
