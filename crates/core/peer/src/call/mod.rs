//! The future of one outgoing request: waits for queue room, sends the request, and decodes the response. Dropping it cancels the
//! call.

pub(crate) mod result;

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use agentwire_connection::{CallFailure, CallId, CallOptions};
use agentwire_jsonrpc::{RawJson, RequestMethod};
use bytestring::ByteString;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::call::result::{Check, Decode, Received, read, read_on_arrival};
use crate::error::CallError;
use crate::observe::make_call;
use crate::peer::Peer;
use crate::state::call_slots::{CallSlot, ProgressHook};
use crate::state::send_capacity::Ticket;
use crate::state::{PeerState, Wait};

/// A call to the peer. Awaiting it sends the request and returns the decoded result.
///
/// Dropping it before the response cancels the call at the peer. It has no time-out unless one is set.
///
/// ```
/// use std::time::Duration;
///
/// use agentwire_jsonrpc::RawJson;
/// use agentwire_peer::{CallError, Peer};
///
/// async fn ping(peer: &Peer) -> Result<(), CallError> {
///     let _: RawJson = peer.call_method("ping", None::<&()>).timeout(Duration::from_secs(5)).await?;
///     Ok(())
/// }
/// # let _ = ping;
/// ```
#[must_use = "a call is not made until it is awaited"]
pub struct Call<R> {
    /// `None` for a call that has [failed](Self::without_peer) and has no peer.
    peer: Option<Peer>,
    pub(crate) outgoing: Outgoing<R>,
    stage: Stage,
    /// Runs when the response is no longer awaited.
    pub(crate) on_drop: Option<Box<dyn FnOnce() + Send>>,
    result: PhantomData<fn() -> R>,
}

/// The parts of a call that are needed to send it and to read its result.
pub(crate) struct Outgoing<R> {
    method: ByteString,
    options: CallOptions,
    progress: Option<ProgressHook>,
    pub(crate) decode: Option<Decode<R>>,
    check: Option<Check<R>>,
    /// The slot for the checked result, if there is a check. Set when the request is sent.
    received: Option<Received<R>>,
}

enum Stage {
    /// Not sent.
    New {
        /// The id, if one was reserved.
        id: Option<CallId>,
        params: Option<RawJson>,
        /// The time since which it waits for room.
        since: Option<Instant>,
        ticket: Option<Ticket>,
    },
    /// Cannot be sent.
    Failed {
        error: CallError,
        /// Whether it must be pending for one poll, so that a loop of such calls lets other futures run. If the call has a peer,
        /// [`PeerState::must_yield`] decides instead.
        must_yield: bool,
    },
    /// Sent with this id, and waits for the response.
    Waiting(CallId),
    Done,
}

/// The reason why a call that can be sent, or was sent, has a peer.
const HAS_PEER: &str = "only a call that has failed has no peer";

/// Calls.
impl Peer {
    /// Makes a call, which is sent when it is awaited.
    pub fn call<M: RequestMethod>(&self, params: &M) -> Call<M::Response> {
        self.call_method(ByteString::from_static(M::NAME), Some(params))
    }

    /// Makes a call of a method by its name, which is sent when it is awaited.
    pub fn call_method<P, R>(&self, method: impl Into<ByteString>, params: Option<&P>) -> Call<R>
    where
        P: Serialize + ?Sized,
        R: DeserializeOwned + Send + 'static,
    {
        let method = method.into();
        let params = self.encode(&method, params);
        Call::new(self.clone(), method, params)
    }
}

impl<R> Call<R> {
    pub(crate) fn new(peer: Peer, method: ByteString, params: Result<Option<RawJson>, CallError>) -> Self {
        let stage = match params {
            Ok(params) => Stage::New { id: None, params, since: None, ticket: None },
            Err(error) => Stage::Failed { error, must_yield: false },
        };
        Self::at(stage, Some(peer), method)
    }

    /// Makes a call that fails when it is awaited, and has no peer.
    pub(crate) fn without_peer(error: CallError) -> Self {
        Self::at(Stage::Failed { error, must_yield: true }, None, ByteString::new())
    }

    fn at(stage: Stage, peer: Option<Peer>, method: ByteString) -> Self {
        let outgoing = Outgoing {
            method,
            options: CallOptions::new(),
            progress: None,
            decode: None,
            check: None,
            received: None,
        };
        Self { peer, outgoing, stage, on_drop: None, result: PhantomData }
    }

    /// Sets the id under which the call is sent.
    pub(crate) fn set_id(&mut self, call: CallId) {
        if let Stage::New { id, .. } = &mut self.stage {
            *id = Some(call);
        }
    }

    /// Sets how long to wait for the response, counted from when the call is first awaited. After that the call fails, and is
    /// cancelled at the peer if the request is sent.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.outgoing.options = self.outgoing.options.timeout(timeout);
        self
    }

    /// Lets each progress report restart the time-out, until `maximum` has passed since the call was sent.
    pub fn progress_maximum(mut self, maximum: Duration) -> Self {
        self.outgoing.options = self.outgoing.options.progress_maximum(maximum);
        self
    }

    /// Calls the hook with the params of each progress notification on this call, in order, before the response.
    pub fn on_progress(mut self, hook: impl FnMut(RawJson) + Send + 'static) -> Self {
        self.outgoing.progress = Some(Box::new(hook));
        self
    }

    /// Adds a check of the decoded result, which runs when the response arrives and may refuse or change the result.
    ///
    /// The driver runs it before it handles the next message. So state that both responses and notifications change is changed in the
    /// order in which the peer sent them, even if the caller polls late. It does not run if the call fails or was dropped before.
    /// Several checks run in the order in which they were added, until one refuses. A panic reaches the caller.
    pub fn check(mut self, check: impl FnOnce(R) -> Result<R, CallError> + Send + 'static) -> Self
    where
        R: 'static,
    {
        self.outgoing.check = Some(match self.outgoing.check.take() {
            Some(earlier) => Box::new(|result| earlier(result).and_then(check)),
            None => Box::new(check),
        });
        self
    }

    /// Adds a hook that gets the decoded result when the response arrives, before the next message is handled. It is a
    /// [`check`](Self::check) that always accepts.
    pub fn on_result(self, hook: impl FnOnce(&R) + Send + 'static) -> Self
    where
        R: 'static,
    {
        self.check(move |result| {
            hook(&result);
            Ok(result)
        })
    }
}

impl<R: DeserializeOwned + Send + 'static> Call<R> {
    /// See [`start_call`](crate::runtime::start_call).
    pub(crate) fn start(&mut self, cx: &Context<'_>) -> Result<(CallId, Option<Waker>), CallError> {
        let (id, params) = match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::New { id, params, ticket: None, .. } => (id, params),
            Stage::Failed { error, .. } => return Err(error),
            _ => panic!("a call was started again"),
        };
        let peer = self.peer.as_ref().expect(HAS_PEER);
        let now = peer.shared.now();
        let mut state = peer.shared.lock();
        if let Some(closed) = state.closed() {
            return Err(closed.into());
        }
        let call = self.outgoing.send(peer, &mut state, cx, id, params, now);
        self.stage = Stage::Waiting(call);
        Ok((call, state.changed()))
    }

    /// Sends the request once there is room for it. Ready if it was sent in this poll.
    fn poll_send(&mut self, cx: &Context<'_>) -> Poll<Result<(), CallError>> {
        let Stage::New { id, params, since, ticket } = &mut self.stage else {
            return self.poll_failed(cx).map(Err);
        };
        let peer = self.peer.as_ref().expect(HAS_PEER);
        if since.is_none()
            && let Some(observer) = peer.shared.observer()
        {
            let revision = peer.shared.revision();
            let reserve = || peer.shared.lock().connection.reserve_call();
            make_call(observer, &self.outgoing.method, params, revision, || *id.get_or_insert_with(reserve));
        }
        let now = peer.shared.now();
        let since = *since.get_or_insert(now);
        let deadline = self.outgoing.options.timeout.and_then(|timeout| since.checked_add(timeout));
        let mut state = peer.shared.lock();
        let late = deadline.filter(|deadline| *deadline <= now);
        let method = &self.outgoing.method;
        let failed = if let Some(closed) = state.closed() {
            Some(closed.into())
        } else if let Some(deadline) = late {
            Some(CallError::TimedOut { method: method.clone(), after: deadline - since })
        } else if id.is_some_and(|id| state.calls.is_known(id)) {
            Some(CallError::not_allowed(method.clone(), "another call has the id that was reserved"))
        } else {
            None
        };
        if let Some(error) = failed {
            let waker = state.forget_capacity(ticket);
            drop(state);
            waker.into_iter().for_each(Waker::wake);
            peer.shared.forget_context(*id);
            self.stage = Stage::Failed { error, must_yield: false };
            return self.poll_failed(cx).map(Err);
        }
        let due = state.next_deadline();
        if state.poll_capacity(ticket, cx.waker(), deadline, (&**method, params.as_ref())).is_pending() {
            // The event loop also keeps the deadlines of calls that wait for room.
            let waker = if state.next_deadline() == due { None } else { state.changed() };
            drop(state);
            waker.into_iter().for_each(Waker::wake);
            return Poll::Pending;
        }
        let (id, params) = (*id, params.take());
        let call = self.outgoing.send(peer, &mut state, cx, id, params, since);
        self.stage = Stage::Waiting(call);
        let waker = state.changed();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(()))
    }
}

impl<R> Call<R> {
    /// Fails a call that cannot be sent. Pending for one poll if other futures must run first.
    #[cold]
    fn poll_failed(&mut self, cx: &Context<'_>) -> Poll<CallError> {
        let Stage::Failed { error, must_yield } = std::mem::replace(&mut self.stage, Stage::Done) else {
            panic!("a call was awaited again after it had completed");
        };
        let must_yield = self.peer.as_ref().map_or(must_yield, |peer| peer.shared.lock().must_yield());
        if must_yield {
            self.stage = Stage::Failed { error, must_yield: false };
            return Wait::Yield.into_poll(cx.waker());
        }
        Poll::Ready(error)
    }
}

impl<R: DeserializeOwned + Send + 'static> Outgoing<R> {
    /// Queues the request, and opens a slot for its outcome with the waker of `cx`.
    fn send(
        &mut self,
        peer: &Peer,
        state: &mut PeerState,
        cx: &Context<'_>,
        id: Option<CallId>,
        params: Option<RawJson>,
        since: Instant,
    ) -> CallId {
        let on_result = self.check.take().map(|check| {
            let received = Received::default();
            self.received = Some(received.clone());
            read_on_arrival(peer.shared.clone(), self.method.clone(), self.decode, check, received)
        });
        let call = id.unwrap_or_else(|| state.connection.reserve_call());
        state.calls.open(call, self.progress.take(), on_result, cx.waker(), peer.shared.is_in_main());
        let in_reply_to = peer.in_reply_to().cloned();
        state.connection.call(since, call, self.method.clone(), params, self.options, in_reply_to);
        call
    }
}

impl<R: DeserializeOwned + Send + 'static> Future for Call<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Stage::Waiting(call) = this.stage else {
            ready!(this.poll_send(cx))?;
            // The slot has the waker.
            return Poll::Pending;
        };
        let Peer { shared, .. } = this.peer.as_ref().expect(HAS_PEER);
        let mut state = shared.lock();
        let slot = ready!(state.poll_call(call, cx.waker(), shared.is_in_main()));
        drop(state);
        let outcome = slot.map_or(Err((CallFailure::Closed, None)), CallSlot::into_outcome);
        shared.forget_context(Some(call));
        this.stage = Stage::Done;
        let Outgoing { method, decode, received, .. } = &mut this.outgoing;
        Poll::Ready(match outcome {
            Ok(result) => match received.take() {
                Some(received) => {
                    let received = received.lock().take();
                    received
                        .expect("the driver decodes the result first")
                        .unwrap_or_else(|panic| resume_unwind(panic))
                }
                None => read(shared, method, *decode, result),
            },
            Err((failure, fault)) => {
                if let (CallFailure::TimedOut(_), Some(hook)) = (&failure, this.on_drop.take()) {
                    hook();
                }
                let method = method.clone();
                Err(match fault {
                    Some(fault) => CallError::Failed { method, fault },
                    None => CallError::from_failure(failure, method, shared.lock().reason()),
                })
            }
        })
    }
}

impl<R> Drop for Call<R> {
    fn drop(&mut self) {
        let Some(Peer { shared, .. }) = &self.peer else { return };
        match &mut self.stage {
            Stage::Waiting(call) => {
                if let Some(hook) = self.on_drop.take()
                    && shared.lock().calls.is_open(*call)
                {
                    hook();
                }
                let (slot, waker) = shared.lock().drop_call(*call);
                drop(slot);
                waker.into_iter().for_each(Waker::wake);
                shared.forget_context(Some(*call));
            }
            Stage::New { id, ticket, .. } => {
                if ticket.is_some() {
                    let waker = shared.lock().forget_capacity(ticket);
                    waker.into_iter().for_each(Waker::wake);
                }
                shared.forget_context(*id);
            }
            _ => {}
        }
    }
}

impl<R> fmt::Debug for Call<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("method", &self.outgoing.method).finish_non_exhaustive()
    }
}
