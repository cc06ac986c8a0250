use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use agentwire_connection::OwedId;
use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request, RequestId, Response, Skipped};
use agentwire_transport::Origin;

use crate::Peer;

/// Whoever answers the peer's requests and hears its notifications.
///
/// It is shared by all calls, which run at the same time within one future. Nothing needs to be `Send` unless
/// the future of the connection is to be spawned.
pub trait Handler {
    /// Answers a request.
    ///
    /// What this does before it returns the future happens in the order of arrival, before any later message
    /// is looked at; so does the part of the future before its first wait, unless
    /// [`Config::backlog_limit`](crate::Config::backlog_limit) bytes wait to be sent. While that is so the future is not
    /// polled, and requests begin in their order as soon as there is room. The future may call the peer and wait for it.
    /// If it panics, the answer is an internal error.
    fn request(
        &self,
        request: Request,
        context: RequestContext,
    ) -> impl Future<Output = Result<RawJson, ErrorObject>>;

    /// Hears a notification. Notifications come one by one, in order, and before any later answer resolves,
    /// so this must not take long.
    fn notification(&self, notification: Notification, peer: &Peer);

    /// Hears an answer that belongs to no call: late, repeated, or the peer's complaint about a message that
    /// it could not read.
    fn stray(&self, response: Response) {
        drop(response);
    }

    /// Called when the result of a call of ours has been decoded, and parts of it were left out because they could not be
    /// read; see [`noting`](agentwire_jsonrpc::noting). Of what a handler decodes itself it knows by itself. It is passed
    /// over unless this is written.
    fn skipped(&self, method: &str, skipped: Skipped) {
        let _ = (method, skipped);
    }

    /// Called for a message that could not be read and belongs to no call: a line over the limit, text that is no
    /// JSON-RPC, or a malformed notification. Whatever it said is lost. It is passed over unless this is written.
    fn unreadable(&self, error: ErrorObject) {
        drop(error);
    }
}

/// What a handler holds of one request while it answers it.
#[derive(Clone, Debug)]
pub struct RequestContext {
    pub(crate) peer: Peer,
    pub(crate) owed: OwedId,
    pub(crate) in_batch: bool,
    pub(crate) origin: Option<Arc<dyn Origin>>,
}

impl RequestContext {
    /// The peer that asked. What is said through this handle belongs to the request, which decides the
    /// stream it takes on transports that have several.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The request's id.
    pub fn request_id(&self) -> Option<&RequestId> {
        self.peer.related()
    }

    /// Whether the request came in a batch.
    pub fn in_batch(&self) -> bool {
        self.in_batch
    }

    /// How the request came in, where its transport tells the requests of one connection apart by more than their
    /// ids. For one that came over HTTP it is the head of the HTTP request that brought it.
    pub fn origin(&self) -> Option<&Arc<dyn Origin>> {
        self.origin.as_ref()
    }

    /// Whether the peer has said that it no longer wants the answer, or the connection has ended before there was one.
    pub fn is_cancelled(&self) -> bool {
        self.peer.shared.lock().is_cancelled(self.owed)
    }

    /// Completes when the peer says that it no longer wants the answer, and when the connection ends before there is one.
    ///
    /// It belongs to the request and may outlive this value, and the connection. It never completes once the request is
    /// answered.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled { peer: self.peer.clone(), owed: self.owed, key: None }
    }

    /// Answers the request now, while its handler goes on. What the handler gives in the end is passed over.
    ///
    /// For protocols in which an answer says that work has begun. What the peer can still say of the request it can say
    /// no more: an answered request cannot be cancelled, and counts no longer against
    /// [`Config::request_limit`](crate::Config::request_limit), so that whoever uses this sets a bound of their own.
    pub fn answer(&self, outcome: Result<RawJson, ErrorObject>) {
        let mut state = self.peer.shared.lock();
        state.connection.answer(self.owed, outcome);
        state.forget_owed(self.owed);
        let waker = state.changed();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Treats the request as cancelled, for protocols that have other words for it.
    pub fn cancel(&self) {
        let wakers = self.peer.shared.lock().cancel(self.owed);
        wakers.into_iter().for_each(std::task::Waker::wake);
    }
}

/// See [`RequestContext::cancelled`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Cancelled {
    peer: Peer,
    owed: OwedId,
    key: Option<usize>,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<()> {
        let this = &mut *self;
        let found = this.peer.shared.lock().poll_cancelled(this.owed, &mut this.key, cx.waker());
        found.into_poll(cx.waker())
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.peer.shared.lock().forget_cancelled(self.owed, key);
        }
    }
}
