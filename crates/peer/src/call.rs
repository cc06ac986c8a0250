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
use crate::error::CallError;
use crate::room::Ticket;
use crate::shared::{AnswerHook, ProgressHook, Shared, Wait};
use crate::sync::Mutex;

/// A call to the peer: a value until it is awaited, which sends it.
///
/// Awaiting gives the decoded result. Dropping it before that tells the peer that nobody waits any more.
/// There is no time-out unless one is set.
#[must_use = "a call is not made until it is awaited"]
pub struct Call<R> {
    /// None for a call that [failed](Call::failed) without one.
    peer: Option<Peer>,
    method: ByteString,
    stage: Stage,
    options: CallOptions,
    progress: Option<ProgressHook>,
    decode: Option<Decode<R>>,
    check: Option<Check<R>>,
    /// Where the result is put when it arrives, if there is a check. Set when the request is sent.
    received: Option<Received<R>>,
    on_drop: Option<Box<dyn FnOnce() + Send>>,
    result: PhantomData<fn() -> R>,
}

/// Reads a result.
type Decode<R> = fn(&RawJson) -> Result<R, serde_json::Error>;

/// Accepts, changes or refuses a result when it arrives.
type Check<R> = Box<dyn FnOnce(R) -> Result<R, CallError> + Send>;

/// The result after decoding and checks, or the panic of a check.
type Received<R> = Arc<Mutex<Option<thread::Result<Result<R, CallError>>>>>;

enum Stage {
    /// Not made yet; under this id, if one was reserved.
    New {
        id: Option<CallId>,
        params: Option<RawJson>,
        /// Since when it waits for room.
        since: Option<Instant>,
        room: Option<Ticket>,
    },
    /// Cannot be made.
    Failed(CallError),
    /// The same without a peer, before its first poll: it is pending once, so that a loop of such calls lets others run.
    FailedUnpolled(CallError),
    Waiting(CallId),
    Done,
}

impl<R> Call<R> {
    pub(crate) fn new(peer: Peer, method: ByteString, params: Result<Option<RawJson>, CallError>) -> Self {
        let stage = match params {
            Ok(params) => Stage::New { id: None, params, since: None, room: None },
            Err(error) => Stage::Failed(error),
        };
        Self::at(stage, Some(peer), method)
    }

    /// A call that fails when it is awaited, and is not sent.
    pub fn failed(error: CallError) -> Self {
        Self::at(Stage::FailedUnpolled(error), None, ByteString::new())
    }

    fn at(stage: Stage, peer: Option<Peer>, method: ByteString) -> Self {
        Self {
            peer,
            method,
            stage,
            options: CallOptions::new(),
            progress: None,
            decode: None,
            check: None,
            received: None,
            on_drop: None,
            result: PhantomData,
        }
    }

    /// Makes the call under an id that was [reserved](Peer::reserve_call).
    pub fn reserved(mut self, call: CallId) -> Self {
        if let Stage::New { id, .. } = &mut self.stage {
            *id = Some(call);
        }
        self
    }

    /// Waits so long for the answer, counted from when the call is first awaited. Then the call fails, and the
    /// peer is told if the request has left.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.timeout(timeout);
        self
    }

    /// Each progress report starts the wait anew, until `maximum` has passed since the call was made.
    pub fn progress_maximum(mut self, maximum: Duration) -> Self {
        self.options = self.options.progress_maximum(maximum);
        self
    }

    /// Hears the params of each progress notification on this call, in order, before the answer.
    pub fn on_progress(mut self, hook: impl FnMut(RawJson) + Send + 'static) -> Self {
        self.progress = Some(Box::new(hook));
        self
    }

    /// Reads the result in another way than all are: where its text decides what it is read as.
    pub fn decode_by(mut self, decode: fn(&RawJson) -> Result<R, serde_json::Error>) -> Self {
        self.decode = Some(decode);
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
        self.check = Some(match self.check.take() {
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

    /// Runs when nobody waits for the answer any more: when the call is dropped after it was sent and before it
    /// was answered, just before the peer is told, and when its time is over. For protocols that have more to
    /// say then.
    pub fn on_drop(mut self, hook: impl FnOnce() + Send + 'static) -> Self {
        self.on_drop = Some(Box::new(hook));
        self
    }

    /// Sends the request once there is room for it.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<Result<CallId, CallError>>
    where
        R: DeserializeOwned + Send + 'static,
    {
        let Some(peer) = &self.peer else {
            return match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::FailedUnpolled(error) => {
                    self.stage = Stage::Failed(error);
                    Wait::Yield.into_poll(cx.waker())
                }
                stage => Poll::Ready(stage.sent().1),
            };
        };
        let shared = &peer.shared;
        if matches!(self.stage, Stage::Failed(_)) && shared.lock().must_yield() {
            return Wait::Yield.into_poll(cx.waker());
        }
        let Stage::New { id, params, since, room } = &mut self.stage else {
            let (stage, call) = std::mem::replace(&mut self.stage, Stage::Done).sent();
            self.stage = stage;
            return Poll::Ready(call);
        };
        let now = shared.now();
        let since = *since.get_or_insert(now);
        let deadline = self.options.timeout.and_then(|timeout| since.checked_add(timeout));
        let mut state = shared.lock();
        let late = deadline.filter(|deadline| *deadline <= now);
        let failed = if let Some(closed) = state.over() {
            Some(closed.into())
        } else if let Some(deadline) = late {
            Some(CallError::TimedOut { method: self.method.clone(), after: deadline - since })
        } else if id.is_some_and(|id| state.is_known(id)) {
            Some(CallError::not_allowed(self.method.clone(), "another call has the id that was reserved"))
        } else {
            None
        };
        if let Some(error) = failed {
            if state.must_yield() {
                drop(state);
                return Wait::Yield.into_poll(cx.waker());
            }
            state.forget_room(room);
            self.stage = Stage::Done;
            return Poll::Ready(Err(error));
        }
        let due = state.next_deadline();
        if state.poll_room(room, cx.waker(), deadline).is_pending() {
            // The driver keeps the time of those who wait, too.
            let waker = if state.next_deadline() == due { None } else { state.changed() };
            drop(state);
            waker.into_iter().for_each(Waker::wake);
            return Poll::Pending;
        }
        let on_answer = self.check.take().map(|check| {
            let received = Received::default();
            self.received = Some(received.clone());
            read_on_arrival(shared.clone(), self.method.clone(), self.decode, check, received)
        });
        let call = id.unwrap_or_else(|| state.connection.reserve_call());
        state.open_slot(call, self.progress.take(), on_answer);
        let related = peer.related().cloned();
        state.connection.call(since, call, self.method.clone(), params.take(), self.options, related);
        let waker = state.changed();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        self.stage = Stage::Waiting(call);
        Poll::Ready(Ok(call))
    }
}

impl Stage {
    /// The id of a call that was sent, or why it was not, and the stage after that.
    fn sent(self) -> (Self, Result<CallId, CallError>) {
        match self {
            Self::Waiting(call) => (self, Ok(call)),
            Self::Failed(error) => (Self::Done, Err(error)),
            Self::New { .. } | Self::FailedUnpolled(_) | Self::Done => {
                panic!("a call was awaited again after it had completed")
            }
        }
    }
}

impl<R: DeserializeOwned + Send + 'static> Future for Call<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let call = ready!(this.poll_send(cx))?;
        let shared = &this.peer.as_ref().expect("a call that was sent has a peer").shared;
        let mut state = shared.lock();
        let outcome = ready!(state.poll_slot(call, cx.waker(), shared.is_in_main()));
        let closed = state.reason();
        drop(state);
        this.stage = Stage::Done;
        Poll::Ready(match outcome {
            Ok(result) => match this.received.take() {
                Some(received) => {
                    let received = received.lock().take();
                    received
                        .expect("the driver decodes the result first")
                        .unwrap_or_else(|panic| resume_unwind(panic))
                }
                None => read(shared, &this.method, this.decode, result),
            },
            Err((failure, fault)) => {
                if let (CallFailure::TimedOut(_), Some(hook)) = (&failure, this.on_drop.take()) {
                    hook();
                }
                Err(match fault {
                    Some(fault) => CallError::Failed { method: this.method.clone(), fault },
                    None => CallError::from_failure(failure, this.method.clone(), closed),
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

/// Decodes a result. The handler is told of what had to be left out of it.
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
    // It may be long, and is needed no more.
    drop(result);
    if decoded.is_ok() && !skipped.is_empty() {
        let waker = shared.lock().skipped(method.clone(), skipped);
        waker.into_iter().for_each(Waker::wake);
    }
    decoded.map_err(|why| CallError::Decode { method: method.clone(), why: why.to_string() })
}

/// Decodes a result, unless that takes more memory than it may. Peers that have nothing to say write null where the
/// protocols want an empty object.
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
            Stage::New { room: room @ Some(_), .. } => shared.lock().forget_room(room),
            _ => {}
        }
    }
}

impl<R> fmt::Debug for Call<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("method", &self.method).finish_non_exhaustive()
    }
}

/// A notification on its way; see [`Peer::notify`].
#[derive(Debug)]
#[must_use = "a notification is not sent until it is awaited"]
pub struct Notify<'a> {
    pub(crate) peer: &'a Peer,
    pub(crate) method: ByteString,
    /// None once it is sent.
    pub(crate) params: Option<Result<Option<RawJson>, CallError>>,
    pub(crate) room: Option<Ticket>,
}

impl Future for Notify<'_> {
    type Output = Result<(), CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(params) = &this.params else { return Poll::Ready(Ok(())) };
        let mut state = this.peer.shared.lock();
        let closed = state.closed();
        if params.is_err() || closed.is_some() {
            if state.must_yield() {
                drop(state);
                return Wait::Yield.into_poll(cx.waker());
            }
            state.forget_room(&mut this.room);
            let failed = this.params.take().and_then(Result::err);
            return Poll::Ready(failed.or(closed.map(CallError::from)).map_or(Ok(()), Err));
        }
        ready!(state.poll_room(&mut this.room, cx.waker(), None));
        let params = this.params.take().and_then(Result::ok).flatten();
        let related = this.peer.related().cloned();
        state.connection.notify(std::mem::take(&mut this.method), params, related);
        let waker = state.changed();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(()))
    }
}

impl Drop for Notify<'_> {
    fn drop(&mut self) {
        if self.room.is_some() {
            self.peer.shared.lock().forget_room(&mut self.room);
        }
    }
}
