//! The handle on a connection's other side. Queues notifications, encodes params and results, and waits for the connection's end.

pub(crate) mod encode_buffer;
pub(crate) mod notify;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_connection::Connection;
use agentwire_jsonrpc::{NotificationMethod, RawJson, RequestId};
use bytestring::ByteString;
use serde::Serialize;

use crate::error::{CallError, Closed};
use crate::peer_inner::PeerInner;

/// A handle on the other side of a connection: makes calls and sends notifications.
///
/// Cloning is cheap. Handles work from any task or thread, while the [`Driver`](crate::Driver) runs; after that every call
/// fails with [`Closed`](crate::Closed).
#[derive(Clone, Debug)]
pub struct Peer {
    pub(crate) shared: Arc<PeerInner>,
    in_reply_to: Option<RequestId>,
}

impl Peer {
    pub(crate) fn new(shared: Arc<PeerInner>) -> Self {
        Self { shared, in_reply_to: None }
    }

    /// Returns a handle whose messages belong to a request of the peer.
    pub(crate) fn relating(&self, request: RequestId) -> Self {
        Self { shared: self.shared.clone(), in_reply_to: Some(request) }
    }

    /// The request of the peer that the messages of this handle belong to, if any.
    pub(crate) fn in_reply_to(&self) -> Option<&RequestId> {
        self.in_reply_to.as_ref()
    }

    /// Queues a notification without waiting for room, for code that cannot wait, such as a destructor. The caller must bound
    /// how much it queues this way.
    ///
    /// # Errors
    ///
    /// When nothing can be sent any more or the params have no JSON form.
    pub fn notify_now<N: NotificationMethod>(&self, params: &N) -> Result<(), CallError> {
        let method = ByteString::from_static(N::NAME);
        let params = self.encode(&method, Some(params))?;
        Ok(self.queue(method, params)?)
    }

    /// Queues a notification without waiting for room.
    pub(crate) fn queue(&self, method: ByteString, params: Option<RawJson>) -> Result<(), Closed> {
        self.queue_by(method, params, |connection, method, params, in_reply_to| {
            connection.notify(method, params, in_reply_to);
            true
        })
    }

    pub(crate) fn queue_by(
        &self,
        method: ByteString,
        params: Option<RawJson>,
        queue: fn(&mut Connection, ByteString, Option<RawJson>, Option<RequestId>) -> bool,
    ) -> Result<(), Closed> {
        let mut state = self.shared.lock();
        if let Some(closed) = state.write_closed() {
            return Err(closed);
        }
        let is_queued = queue(&mut state.connection, method, params, self.in_reply_to.clone());
        let waker = if is_queued { state.changed() } else { None };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }

    /// Whether the connection is closed: the peer has closed its side, or nothing can be sent any more.
    pub fn is_closed(&self) -> bool {
        self.shared.lock().closed().is_some()
    }

    /// Completes when the peer has closed its side or the driver has ended. Returns the reason, if there is one.
    pub fn closed(&self) -> WhenClosed {
        WhenClosed { peer: self.clone(), key: None }
    }

    /// Encodes a response, into memory that is shared with other messages of the connection.
    ///
    /// # Errors
    ///
    /// When the value has no JSON form.
    pub fn encode_result<T: Serialize + ?Sized>(&self, value: &T) -> Result<RawJson, serde_json::Error> {
        self.shared.encode(value)
    }

    /// Encodes the parameters of a call or notification, if there are any.
    pub(crate) fn encode<P: Serialize + ?Sized>(
        &self,
        method: &ByteString,
        params: Option<&P>,
    ) -> Result<Option<RawJson>, CallError> {
        params.map(|params| self.encode_value(method, params)).transpose()
    }

    pub(crate) fn encode_value<P: Serialize + ?Sized>(
        &self,
        method: &ByteString,
        params: &P,
    ) -> Result<RawJson, CallError> {
        let failed =
            |why: serde_json::Error| CallError::Encode { method: method.clone(), why: why.to_string() };
        self.shared.encode(params).map_err(failed)
    }
}

/// See [`Peer::closed`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct WhenClosed {
    peer: Peer,
    key: Option<usize>,
}

impl Future for WhenClosed {
    type Output = Closed;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Closed> {
        let this = &mut *self;
        let found = this.peer.shared.lock().poll_closed(&mut this.key, cx.waker());
        found.into_poll(cx.waker())
    }
}

impl Drop for WhenClosed {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.peer.shared.lock().forget_closed(key);
        }
    }
}
