//! The trait that answers the peer's requests and receives its notifications, and the context of one request.

pub(crate) mod future;
pub(crate) mod method_trait;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use agentwire_connection::IncomingId;
use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request, RequestId, Response, Skipped};
use agentwire_transport::{MessageSource, TransportError};

use crate::peer::Peer;

/// Answers the peer's requests and receives its notifications.
///
/// All requests share it and run concurrently within one future. Nothing needs to be `Send` unless the future of the
/// connection is to be spawned.
pub trait Handler {
    /// Answers a request.
    ///
    /// This function runs in the order of arrival, before any later message is handled. The first poll of its future does too, unless
    /// [`Config::backlog_limit`](crate::Config::backlog_limit) bytes are queued. In that case no future is polled, and the requests
    /// start in their order when there is room. The future may call the peer and wait for it. If it panics, the response is an internal
    /// error.
    fn request(
        &self,
        request: Request,
        context: RequestContext,
    ) -> impl Future<Output = Result<RawJson, ErrorObject>>;

    /// Called for each notification, one by one, in order, and before any later response resolves. It must not take long.
    fn notification(&self, notification: Notification, peer: &Peer);

    /// Called for a response that belongs to no call. It is late, repeated, or the error for a message that the peer could not read. The
    /// default ignores it.
    fn unmatched_response(&self, response: Response) {
        drop(response);
    }

    /// Called for the response to a call that was dropped and therefore cancelled. The default ignores it.
    fn cancelled_response(&self, response: Response) {
        drop(response);
    }

    /// Called when malformed parts were left out of the result of a call; see
    /// [`collect_skipped`](agentwire_jsonrpc::collect_skipped). The default ignores them. It is not called for values that a handler
    /// decodes itself.
    fn skipped(&self, method: &str, skipped: Skipped) {
        let _ = (method, skipped);
    }

    /// Called for a message that could not be read and belongs to no call: a line over the limit, text that is not
    /// JSON-RPC, or a malformed notification. Its content is lost. The default ignores it.
    fn unreadable(&self, error: ErrorObject) {
        drop(error);
    }

    /// Called when messages of the peer outside of the streams of this side's requests may be lost. It is called in order: after the
    /// earlier messages and before the later ones. With an `end`, no more such messages arrive; see
    /// [`Packet::Gap`](agentwire_transport::Packet::Gap). The default ignores it.
    fn gap(&self, end: Option<Arc<TransportError>>) {
        drop(end);
    }
}

/// The context of one request, for its handler.
#[derive(Clone, Debug)]
pub struct RequestContext {
    pub(crate) peer: Peer,
    pub(crate) incoming: IncomingId,
    pub(crate) in_batch: bool,
    pub(crate) source: Option<Arc<dyn MessageSource>>,
}

impl RequestContext {
    /// The peer that sent the request. Messages sent through this handle belong to the request. A transport with several streams sends
    /// them on that of the request.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The request's id.
    pub fn request_id(&self) -> Option<&RequestId> {
        self.peer.in_reply_to()
    }

    /// Whether the request came in a batch.
    pub fn in_batch(&self) -> bool {
        self.in_batch
    }

    /// The source of the request, if the transport provides one: over HTTP, the head of the HTTP request.
    pub fn source(&self) -> Option<&Arc<dyn MessageSource>> {
        self.source.as_ref()
    }

    /// Whether the peer has cancelled the request, or the connection ended before the response.
    pub fn is_cancelled(&self) -> bool {
        self.peer.shared.lock().is_cancelled(self.incoming)
    }

    /// Returns a future that completes when the peer cancels the request, and when the connection ends before the response.
    ///
    /// The future may outlive this value, and the connection. It never completes once the request is answered.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled::new(self.peer.clone(), self.incoming)
    }

    /// Answers the request now, while its handler goes on. The handler's own outcome is ignored.
    ///
    /// It is for protocols in which the response means that work has started. An answered request cannot be cancelled, and no longer
    /// counts against [`Config::request_limit`](crate::Config::request_limit), so the caller needs its own limit.
    pub fn answer(&self, outcome: Result<RawJson, ErrorObject>) {
        let mut state = self.peer.shared.lock();
        state.answer(self.incoming, outcome);
        let waker = state.changed();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Cancels the request, for protocols with further ways to cancel.
    pub fn cancel(&self) {
        let wakers = self.peer.shared.lock().cancel(self.incoming);
        wakers.into_iter().for_each(std::task::Waker::wake);
    }
}

/// See [`RequestContext::cancelled`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Cancelled {
    peer: Peer,
    incoming: IncomingId,
    key: Option<usize>,
}

impl Cancelled {
    pub(crate) fn new(peer: Peer, incoming: IncomingId) -> Self {
        Self { peer, incoming, key: None }
    }
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<()> {
        let this = &mut *self;
        let found = this.peer.shared.lock().poll_cancelled(this.incoming, &mut this.key, cx.waker());
        found.into_poll(cx.waker())
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.peer.shared.lock().forget_cancelled(self.incoming, key);
        }
    }
}
