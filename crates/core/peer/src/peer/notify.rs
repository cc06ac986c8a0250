//! The future that sends one notification as soon as the send queue has room.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use agentwire_jsonrpc::{NotificationMethod, RawJson};
use bytestring::ByteString;
use serde::Serialize;

use crate::error::CallError;
use crate::peer::Peer;
use crate::state::Wait;
use crate::state::send_capacity::Ticket;

/// A notification that waits for room in the queue; see [`Peer::notify`].
#[derive(Debug)]
#[must_use = "a notification is not sent until it is awaited"]
pub struct Notify<'a> {
    peer: &'a Peer,
    method: ByteString,
    /// `None` once the notification is queued.
    params: Option<Result<Option<RawJson>, CallError>>,
    ticket: Option<Ticket>,
}

/// Notifications.
impl Peer {
    /// Makes a notification, to be awaited: it waits while [`Config::high_water`](crate::Config::high_water) bytes are
    /// queued.
    pub fn notify<N: NotificationMethod>(&self, params: &N) -> Notify<'_> {
        self.notify_method(ByteString::from_static(N::NAME), Some(params))
    }

    /// Makes a notification that has no type, to be awaited.
    pub fn notify_method<P>(&self, method: impl Into<ByteString>, params: Option<&P>) -> Notify<'_>
    where
        P: Serialize + ?Sized,
    {
        let method = method.into();
        let params = self.encode(&method, params);
        Notify::new(self, method, params)
    }
}

impl<'a> Notify<'a> {
    pub(crate) fn new(
        peer: &'a Peer,
        method: ByteString,
        params: Result<Option<RawJson>, CallError>,
    ) -> Self {
        Self { peer, method, params: Some(params), ticket: None }
    }
}

impl Future for Notify<'_> {
    type Output = Result<(), CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(params) = &this.params else { return Poll::Ready(Ok(())) };
        let mut state = this.peer.shared.lock();
        let closed = state.write_closed();
        if params.is_err() || closed.is_some() {
            if state.must_yield() {
                drop(state);
                return Wait::Yield.into_poll(cx.waker());
            }
            let waker = state.forget_capacity(&mut this.ticket);
            drop(state);
            waker.into_iter().for_each(Waker::wake);
            let failed = this.params.take().and_then(Result::err);
            return Poll::Ready(failed.or(closed.map(CallError::from)).map_or(Ok(()), Err));
        }
        let message = (&*this.method, params.as_ref().ok().and_then(Option::as_ref));
        ready!(state.poll_capacity(&mut this.ticket, cx.waker(), None, message));
        let params = this.params.take().and_then(Result::ok).flatten();
        let in_reply_to = this.peer.in_reply_to().cloned();
        state.connection.notify(std::mem::take(&mut this.method), params, in_reply_to);
        let waker = state.changed();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(()))
    }
}

impl Drop for Notify<'_> {
    fn drop(&mut self) {
        if self.ticket.is_some() {
            let waker = self.peer.shared.lock().forget_capacity(&mut self.ticket);
            waker.into_iter().for_each(Waker::wake);
        }
    }
}
