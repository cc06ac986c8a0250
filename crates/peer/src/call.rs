use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::thread;
use std::time::{Duration, Instant};

use agentwire_connection::{CallFailure, CallId, CallOptions};
use agentwire_jsonrpc::{RawJson, TreeCost, noting};
use bytestring::ByteString;
use serde::de::DeserializeOwned;

use crate::Peer;
use crate::call_slots::{AnswerHook, ProgressHook};
use crate::error::CallError;
use crate::send_capacity::Ticket;
use crate::shared::Shared;
use crate::state::{State, Wait};
use crate::sync::Mutex;

/// A call to the peer: a value until it is awaited, which sends it.
///
/// Awaiting returns the decoded result. Dropping it before that cancels the call at the peer. There is no time-out unless
/// one is set.
#[must_use = "a call is not made until it is awaited"]
pub struct Call<R> {
    /// None for a call that [failed](Call::failed) without one.
    peer: Option<Peer>,
    outgoing: Outgoing<R>,
    stage: Stage,
    on_drop: Option<Box<dyn FnOnce() + Send>>,
    result: PhantomData<fn() -> R>,
}

/// The parts of a call that are needed to send it and to read its result.
struct Outgoing<R> {
    method: ByteString,
    options: CallOptions,
    progress: Option<ProgressHook>,
    decode: Option<Decode<R>>,
    check: Option<Check<R>>,
    /// Where the result is put when it arrives, if there is a check. Set when the request is sent.
    received: Option<Received<R>>,
}

/// Reads a result.
type Decode<R> = fn(&RawJson) -> Result<R, serde_json::Error>;

/// Accepts, changes or refuses a result when it arrives.
type Check<R> = Box<dyn FnOnce(R) -> Result<R, CallError> + Send>;

/// The result after decoding and checks, or the panic of a check.
type Received<R> = Arc<Mutex<Option<thread::Result<Result<R, CallError>>>>>;

enum Stage {
    /// Not sent; under this id, if one was reserved.
    New {
        id: Option<CallId>,
        params: Option<RawJson>,
        /// When it began to wait for room.
        since: Option<Instant>,
        ticket: Option<Ticket>,
    },
    /// Cannot be sent.
    Failed(CallError),
    /// Cannot be sent, has no peer, and was not polled. It is pending once, so that a loop of such calls lets others run.
    FailedUnpolled(CallError),
    Waiting(CallId),
    Done,
}

/// Why a call that can be sent, or was, has a peer.
const HAS_PEER: &str = "only a call that has failed has no peer";

impl<R> Call<R> {
    pub(crate) fn new(peer: Peer, method: ByteString, params: Result<Option<RawJson>, CallError>) -> Self {
        let stage = match params {
            Ok(params) => Stage::New { id: None, params, since: None, ticket: None },
            Err(error) => Stage::Failed(error),
        };
        Self::at(stage, Some(peer), method)
    }

    /// A call that fails when it is awaited, and is never sent.
    pub fn failed(error: CallError) -> Self {
        Self::at(Stage::FailedUnpolled(error), None, ByteString::new())
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

    /// Sends the call under an id that was [reserved](Peer::reserve_call).
    pub fn reserved(mut self, call: CallId) -> Self {
        if let Stage::New { id, .. } = &mut self.stage {
            *id = Some(call);
        }
        self
    }

    /// Sets how long to wait for the answer, counted from when the call is first awaited. Then the call fails, and is
    /// cancelled at the peer if the request has left.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.outgoing.options = self.outgoing.options.timeout(timeout);
        self
    }

    /// Lets each progress report start the wait anew, until `maximum` has passed since the call was sent.
    pub fn progress_maximum(mut self, maximum: Duration) -> Self {
        self.outgoing.options = self.outgoing.options.progress_maximum(maximum);
        self
    }

    /// Calls the hook with the params of each progress notification on this call, in order, before the answer.
    pub fn on_progress(mut self, hook: impl FnMut(RawJson) + Send + 'static) -> Self {
        self.outgoing.progress = Some(Box::new(hook));
        self
    }

    /// Decodes the result with this function, for results whose text decides their type.
    pub fn decode_by(mut self, decode: fn(&RawJson) -> Result<R, serde_json::Error>) -> Self {
        self.outgoing.decode = Some(decode);
        self
    }

    /// Runs on the decoded result when the answer arrives, and may refuse it.
    ///
    /// The driver runs it before it looks at the next message. So state that answers and notifications both change is
    /// changed in the order in which the peer sent them, however late the caller polls. It does not run where the call
    /// fails, or was dropped before. Several run in the order in which they were added, until one refuses. A panic
    /// reaches the caller.
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

    /// Runs on the decoded result when the answer arrives, in its order among the messages of the connection: a
    /// [`check`](Self::check) that refuses nothing.
    pub fn on_answer(self, hook: impl FnOnce(&R) + Send + 'static) -> Self
    where
        R: 'static,
    {
        self.check(move |result| {
            hook(&result);
            Ok(result)
        })
    }

    /// Runs when the answer is no longer awaited: when the call is dropped after it was sent and before it was answered,
    /// just before the cancel, and when its time-out has passed. For protocols that send more than a cancel.
    pub fn on_drop(mut self, hook: impl FnOnce() + Send + 'static) -> Self {
        self.on_drop = Some(Box::new(hook));
        self
    }
}

impl<R: DeserializeOwned + Send + 'static> Call<R> {
    /// See [`start_call`](crate::runtime::start_call).
    pub(crate) fn start(&mut self, cx: &Context<'_>) -> Result<(CallId, Option<Waker>), CallError> {
        let (id, params) = match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::New { id, params, ticket: None, .. } => (id, params),
            Stage::Failed(error) | Stage::FailedUnpolled(error) => return Err(error),
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

    /// Sends the request once there is room for it. Ready means that it was sent in this poll.
    fn poll_send(&mut self, cx: &Context<'_>) -> Poll<Result<(), CallError>> {
        if matches!(self.stage, Stage::Failed(_))
            && self.peer.as_ref().is_some_and(|peer| peer.shared.lock().must_yield())
        {
            return Wait::Yield.into_poll(cx.waker());
        }
        let Stage::New { id, params, since, ticket } = &mut self.stage else {
            return match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Failed(error) => Poll::Ready(Err(error)),
                Stage::FailedUnpolled(error) => {
                    self.stage = Stage::Failed(error);
                    Wait::Yield.into_poll(cx.waker())
                }
                _ => panic!("a call was awaited again after it had completed"),
            };
        };
        let peer = self.peer.as_ref().expect(HAS_PEER);
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
        } else if id.is_some_and(|id| state.is_known(id)) {
            Some(CallError::not_allowed(method.clone(), "another call has the id that was reserved"))
        } else {
            None
        };
        if let Some(error) = failed {
            if state.must_yield() {
                drop(state);
                return Wait::Yield.into_poll(cx.waker());
            }
            state.forget_capacity(ticket);
            self.stage = Stage::Done;
            return Poll::Ready(Err(error));
        }
        let due = state.next_deadline();
        if state.poll_capacity(ticket, cx.waker(), deadline).is_pending() {
            // The event loop keeps the time of those that wait for room, too.
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

impl<R: DeserializeOwned + Send + 'static> Outgoing<R> {
    /// Queues the request, and opens a slot for its outcome with the waker of `cx` in it.
    fn send(
        &mut self,
        peer: &Peer,
        state: &mut State,
        cx: &Context<'_>,
        id: Option<CallId>,
        params: Option<RawJson>,
        since: Instant,
    ) -> CallId {
        let on_answer = self.check.take().map(|check| {
            let received = Received::default();
            self.received = Some(received.clone());
            read_on_arrival(peer.shared.clone(), self.method.clone(), self.decode, check, received)
        });
        let call = id.unwrap_or_else(|| state.connection.reserve_call());
        state.open_slot(call, self.progress.take(), on_answer, cx.waker(), peer.shared.is_in_main());
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
        let outcome = ready!(state.poll_slot(call, cx.waker(), shared.is_in_main()));
        let closed = state.reason();
        drop(state);
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
                    None => CallError::from_failure(failure, method, closed),
                })
            }
        })
    }
}

/// Makes the hook that decodes and checks a result when it arrives.
fn read_on_arrival<R: DeserializeOwned + Send + 'static>(
    shared: Arc<Shared>,
    method: ByteString,
    decode: Option<Decode<R>>,
    check: Check<R>,
    received: Received<R>,
) -> AnswerHook {
    Box::new(move |result| {
        let read = || read(&shared, &method, decode, result).and_then(check);
        let outcome = catch_unwind(AssertUnwindSafe(read));
        *received.lock() = Some(outcome);
    })
}

/// Decodes a result. The handler gets the parts that had to be left out of it.
fn read<R: DeserializeOwned>(
    shared: &Shared,
    method: &ByteString,
    by: Option<Decode<R>>,
    result: RawJson,
) -> Result<R, CallError> {
    let limit = shared.value_limit();
    let (decoded, skipped) = noting(|| match by {
        Some(by) => by(&result),
        None => decode(&result, limit),
    });
    // It may be long, and is no longer needed.
    drop(result);
    if decoded.is_ok() && !skipped.is_empty() {
        let waker = shared.lock().skipped(method.clone(), skipped);
        waker.into_iter().for_each(Waker::wake);
    }
    decoded.map_err(|why| CallError::Decode { method: method.clone(), why: why.to_string() })
}

/// Decodes a result, unless that takes more memory than `limit`. Some peers write null where the protocols want an empty
/// object.
fn decode<R: DeserializeOwned>(result: &RawJson, limit: usize) -> Result<R, serde_json::Error> {
    if TreeCost::is_over(result.as_str(), limit) {
        let why = format_args!("it takes more than {limit} bytes of memory (Config::value_limit)");
        return Err(serde::de::Error::custom(why));
    }
    match result.decode() {
        Err(_) if result.is_null() => RawJson::EMPTY_OBJECT.decode(),
        decoded => decoded,
    }
}

impl<R> Drop for Call<R> {
    fn drop(&mut self) {
        let Some(Peer { shared, .. }) = &self.peer else { return };
        match &mut self.stage {
            Stage::Waiting(call) => {
                if let Some(hook) = self.on_drop.take()
                    && shared.lock().is_open(*call)
                {
                    hook();
                }
                let (slot, waker) = shared.lock().drop_slot(*call);
                drop(slot);
                waker.into_iter().for_each(Waker::wake);
            }
            Stage::New { ticket: ticket @ Some(_), .. } => shared.lock().forget_capacity(ticket),
            _ => {}
        }
    }
}

impl<R> fmt::Debug for Call<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("method", &self.outgoing.method).finish_non_exhaustive()
    }
}
