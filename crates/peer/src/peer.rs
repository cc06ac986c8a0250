use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_connection::{CallId, Connection};
use agentwire_jsonrpc::{Method, Notice, RawJson, RequestId};
use bytestring::ByteString;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::call::{Call, Notify};
use crate::error::{CallError, Closed};
use crate::shared::Shared;

/// A handle on the other side of a connection: what calls it and tells it things.
///
/// Cloning is cheap. Handles work from any task or thread, for as long as the [`Driver`](crate::Driver) runs;
/// after that every call fails with [`Closed`](crate::Closed).
#[derive(Clone, Debug)]
pub struct Peer {
    pub(crate) shared: Arc<Shared>,
    related: Option<RequestId>,
}

impl Peer {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, related: None }
    }

    /// The same peer, in the course of a request of its own.
    pub(crate) fn relating(&self, request: RequestId) -> Self {
        Self { shared: self.shared.clone(), related: Some(request) }
    }

    /// The peer's request in the course of which this handle speaks, if it was made for one.
    pub(crate) fn related(&self) -> Option<&RequestId> {
        self.related.as_ref()
    }

    /// The same peer, but what is said belongs to no request.
    #[must_use]
    pub fn unrelated(&self) -> Self {
        Self { shared: self.shared.clone(), related: None }
    }

    /// A call, to be awaited.
    pub fn call<M: Method>(&self, params: &M) -> Call<M::Response> {
        self.call_method(ByteString::from_static(M::NAME), Some(params))
    }

    /// A call of a method that has no type, to be awaited.
    pub fn call_method<P, R>(&self, method: impl Into<ByteString>, params: Option<&P>) -> Call<R>
    where
        P: Serialize + ?Sized,
        R: DeserializeOwned + Send + 'static,
    {
        let method = method.into();
        let params = self.encode(&method, params);
        Call::new(self.clone(), method, params)
    }

    /// A call whose parameters are encoded already, to be awaited.
    pub fn call_encoded<R>(&self, method: impl Into<ByteString>, params: Option<RawJson>) -> Call<R> {
        Call::new(self.clone(), method.into(), Ok(params))
    }

    /// Encodes the parameters of a call, sharing memory with what else is sent.
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

    /// A call that fails when it is awaited, without being sent.
    pub fn refuse_call<R>(&self, error: CallError) -> Call<R> {
        Call::new(self.clone(), ByteString::new(), Err(error))
    }

    /// A notification, to be awaited: it waits while much is still to be sent.
    pub fn notify<N: Notice>(&self, params: &N) -> Notify<'_> {
        self.notify_method(ByteString::from_static(N::NAME), Some(params))
    }

    /// A notification that has no type, to be awaited.
    pub fn notify_method<P>(&self, method: impl Into<ByteString>, params: Option<&P>) -> Notify<'_>
    where
        P: Serialize + ?Sized,
    {
        let method = method.into();
        let params = self.encode(&method, params);
        Notify { peer: self, method, params: Some(params), room: None }
    }

    /// A notification that fails when it is awaited, without being sent.
    pub fn refuse_notify(&self, error: CallError) -> Notify<'_> {
        Notify { peer: self, method: ByteString::new(), params: Some(Err(error)), room: None }
    }

    /// Sends a notification without waiting for room: for the few that must be said from where nothing can
    /// wait, such as a destructor. What is said so is bounded by nobody but the caller.
    ///
    /// # Errors
    ///
    /// When the connection is over or the params have no JSON form.
    pub fn post<N: Notice>(&self, params: &N) -> Result<(), CallError> {
        let method = ByteString::from_static(N::NAME);
        let params = self.encode(&method, Some(params))?;
        self.post_by(method, params, |connection, method, params, related| {
            connection.notify(method, params, related);
            true
        })
    }

    /// Sends a notification without waiting for room, unless the very same waits to be sent already: for news of
    /// which one is as good as many. So what is said grows only with what there is to tell of, however slowly the
    /// peer reads.
    ///
    /// # Errors
    ///
    /// As [`post`](Self::post).
    pub fn post_once<N: Notice>(&self, params: &N) -> Result<(), CallError> {
        let method = ByteString::from_static(N::NAME);
        let params = self.encode(&method, Some(params))?;
        self.post_by(method, params, Connection::notify_once)
    }

    fn post_by(
        &self,
        method: ByteString,
        params: Option<RawJson>,
        say: fn(&mut Connection, ByteString, Option<RawJson>, Option<RequestId>) -> bool,
    ) -> Result<(), CallError> {
        let mut state = self.shared.lock();
        if let Some(closed) = state.closed() {
            return Err(closed.into());
        }
        let said = say(&mut state.connection, method, params, self.related.clone());
        let waker = if said { state.changed() } else { None };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }

    /// Takes an id for a call whose parameters carry it; see [`Call::reserved`].
    pub fn reserve_call(&self) -> CallId {
        self.shared.lock().connection.reserve_call()
    }

    /// Whether a call was made and waits for its answer. False once the answer has come, also where its caller has not
    /// seen it, and once the call was dropped.
    pub fn is_unanswered(&self, call: CallId) -> bool {
        self.shared.lock().is_open(call)
    }

    /// Whether a call was made and its request is still in the queue. If so, it has no answer once it is dropped.
    pub fn is_queued(&self, call: CallId) -> bool {
        self.shared.lock().connection.is_queued(call)
    }

    /// Whether the peer may send batches from now on.
    pub fn take_batches(&self, batches: bool) {
        self.shared.lock().connection.take_batches(batches);
    }

    /// Whether the connection is over: the peer has closed its side, or nothing can be sent any more.
    pub fn is_closed(&self) -> bool {
        self.shared.lock().over().is_some()
    }

    /// Completes when the peer has closed its side or the driver has ended, with the reason where there is one.
    pub fn closed(&self) -> WhenClosed {
        WhenClosed { peer: self.clone(), key: None }
    }

    /// Encodes an answer, sharing memory with what else is sent.
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
        let found = this.peer.shared.lock().poll_end(&mut this.key, cx.waker());
        found.into_poll(cx.waker())
    }
}

impl Drop for WhenClosed {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.peer.shared.lock().forget_end(key);
        }
    }
}
