use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_connection::{CallId, Connection};
use agentwire_jsonrpc::{NotificationMethod, RawJson, RequestId, RequestMethod};
use bytestring::ByteString;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::call::Call;
use crate::error::{CallError, Closed};
use crate::notify::Notify;
use crate::shared::Shared;

/// A handle on the other side of a connection: makes calls and sends notifications.
///
/// Cloning is cheap. Handles work from any task or thread, while the [`Driver`](crate::Driver) runs; after that every call
/// fails with [`Closed`](crate::Closed).
#[derive(Clone, Debug)]
pub struct Peer {
    pub(crate) shared: Arc<Shared>,
    in_reply_to: Option<RequestId>,
}

impl Peer {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, in_reply_to: None }
    }

    /// Returns a handle whose messages belong to a request of the peer's.
    pub(crate) fn relating(&self, request: RequestId) -> Self {
        Self { shared: self.shared.clone(), in_reply_to: Some(request) }
    }

    /// The request of the peer's that the messages of this handle belong to, if any.
    pub(crate) fn in_reply_to(&self) -> Option<&RequestId> {
        self.in_reply_to.as_ref()
    }

    /// Returns a handle whose messages belong to no request.
    #[must_use]
    pub fn unrelated(&self) -> Self {
        Self { shared: self.shared.clone(), in_reply_to: None }
    }

    /// Makes a call, to be awaited.
    pub fn call<M: RequestMethod>(&self, params: &M) -> Call<M::Response> {
        self.call_method(ByteString::from_static(M::NAME), Some(params))
    }

    /// Makes a call of a method that has no type, to be awaited.
    pub fn call_method<P, R>(&self, method: impl Into<ByteString>, params: Option<&P>) -> Call<R>
    where
        P: Serialize + ?Sized,
        R: DeserializeOwned + Send + 'static,
    {
        let method = method.into();
        let params = self.encode(&method, params);
        Call::new(self.clone(), method, params)
    }

    /// Makes a call whose parameters are encoded already.
    pub fn call_encoded<R>(&self, method: impl Into<ByteString>, params: Option<RawJson>) -> Call<R> {
        Call::new(self.clone(), method.into(), Ok(params))
    }

    /// Encodes the parameters of a call, sharing memory with other messages.
    ///
    /// # Errors
    ///
    /// [`CallError::Encode`] when they have no JSON form.
    pub fn encode_params<P>(&self, method: &ByteString, params: &P) -> Result<RawJson, CallError>
    where
        P: Serialize + ?Sized,
    {
        let failed =
            |why: serde_json::Error| CallError::Encode { method: method.clone(), why: why.to_string() };
        self.shared.encode(params).map_err(failed)
    }

    /// Makes a call that fails when it is awaited, without being sent.
    pub fn refuse_call<R>(&self, error: CallError) -> Call<R> {
        Call::new(self.clone(), ByteString::new(), Err(error))
    }

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

    /// Makes a notification that fails when it is awaited, without being sent.
    pub fn refuse_notify(&self, error: CallError) -> Notify<'_> {
        Notify::new(self, ByteString::new(), Err(error))
    }

    /// Queues a notification without waiting for room, for code that cannot wait, such as a destructor. The caller bounds
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

    /// Queues a notification without waiting for room, unless an identical one is already queued. So the queue grows only
    /// with the number of different notifications, however slowly the peer reads.
    ///
    /// # Errors
    ///
    /// As [`notify_now`](Self::notify_now).
    pub fn notify_coalesced<N: NotificationMethod>(&self, params: &N) -> Result<(), CallError> {
        let method = ByteString::from_static(N::NAME);
        let params = self.encode(&method, Some(params))?;
        Ok(self.queue_by(method, params, Connection::notify_coalesced)?)
    }

    /// Queues a notification without waiting for room.
    pub(crate) fn queue(&self, method: ByteString, params: Option<RawJson>) -> Result<(), Closed> {
        self.queue_by(method, params, |connection, method, params, in_reply_to| {
            connection.notify(method, params, in_reply_to);
            true
        })
    }

    fn queue_by(
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

    /// Reserves an id for a call whose parameters carry it; see [`Call::reserved`].
    pub fn reserve_call(&self) -> CallId {
        self.shared.lock().connection.reserve_call()
    }

    /// Whether a call was sent and is unanswered. False once the answer has arrived, even if its caller has not taken it,
    /// and once the call was dropped.
    pub fn is_unanswered(&self, call: CallId) -> bool {
        self.shared.lock().is_open(call)
    }

    /// Whether the request of a call is still in the queue. Then dropping the call withdraws the request.
    pub fn is_queued(&self, call: CallId) -> bool {
        self.shared.lock().connection.is_queued(call)
    }

    /// Sets whether the peer may send batches from now on.
    pub fn take_batches(&self, batches: bool) {
        self.shared.lock().connection.take_batches(batches);
    }

    /// Whether the connection is closed: the peer has closed its side, or nothing can be sent any more.
    pub fn is_closed(&self) -> bool {
        self.shared.lock().closed().is_some()
    }

    /// Completes when the peer has closed its side or the driver has ended, with the reason where there is one.
    pub fn closed(&self) -> WhenClosed {
        WhenClosed { peer: self.clone(), key: None }
    }

    /// Encodes an answer, into memory that is shared with other messages of the connection.
    ///
    /// # Errors
    ///
    /// When the value has no JSON form.
    pub fn encode_answer<T: Serialize + ?Sized>(&self, value: &T) -> Result<RawJson, serde_json::Error> {
        self.shared.encode(value)
    }

    fn encode<P: Serialize + ?Sized>(
        &self,
        method: &ByteString,
        params: Option<&P>,
    ) -> Result<Option<RawJson>, CallError> {
        params.map(|params| self.encode_params(method, params)).transpose()
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
