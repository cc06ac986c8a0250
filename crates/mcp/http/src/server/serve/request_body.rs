//! The body of a request. A short unread rest is read before the response is sent.
//!
//! hyper closes an HTTP/1 connection whose request body is incomplete when the response is written, and does not announce it. A
//! client that sends head and body apart and is refused by the head alone would use the connection again, and lose its next
//! request (RFC 9112, sections 9.3 and 9.6).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, header};
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;

use crate::server::serve::connection_state::ConnectionState;

/// The longest rest of a request body that is read before its response, in bytes.
const UNREAD_LIMIT: u64 = 64 * 1024;
/// How long a response waits for this rest.
const UNREAD_TIME: Duration = Duration::from_secs(1);

/// The body of a request, as a [`Mount`](crate::server::Mount) receives it.
///
/// It may be dropped before its end. In HTTP/1, up to 64 KiB of the rest are then read before the response is sent, for
/// up to one second. If the rest is longer, the response has `Connection: close`.
#[derive(Debug)]
pub struct RequestBody {
    /// Taken when this is dropped.
    incoming: Option<Incoming>,
    /// Receives the unread rest. `None` if the connection does not need it.
    state: Option<Arc<ConnectionState>>,
}

impl RequestBody {
    pub(crate) fn new(incoming: Incoming, headers: &HeaderMap, state: &Arc<ConnectionState>) -> Self {
        // A client that expects 100 (Continue) sends no body after another status, and hyper handles that.
        let is_needed =
            !incoming.is_end_stream() && !state.is_http2() && !headers.contains_key(header::EXPECT);
        Self { incoming: Some(incoming), state: is_needed.then(|| state.clone()) }
    }
}

impl http_body::Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.incoming {
            Some(incoming) => Pin::new(incoming).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.as_ref().map_or_else(SizeHint::default, Incoming::size_hint)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        let rest = self.incoming.take().filter(|incoming| !incoming.is_end_stream());
        if let Some((rest, state)) = rest.zip(self.state.take()) {
            state.set_unread(rest);
        }
    }
}

/// Reads the rest of a body to its end. Returns false if it is too long, takes too long or fails.
pub(crate) async fn read_rest(mut body: Incoming) -> bool {
    let read = async {
        let mut left = UNREAD_LIMIT;
        while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            let length = frame.map(|frame| frame.data_ref().map_or(0, Bytes::len) as u64);
            match length.ok().and_then(|length| left.checked_sub(length)) {
                Some(rest) => left = rest,
                None => return false,
            }
        }
        true
    };
    tokio::time::timeout(UNREAD_TIME, read).await.unwrap_or(false)
}
