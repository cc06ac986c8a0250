use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agentwire_connection::{CallId, CallOptions};
use agentwire_jsonrpc::RawJson;
use bytestring::ByteString;
use serde::de::DeserializeOwned;

use crate::Peer;
use crate::error::CallError;
use crate::shared::ProgressHook;

/// A call to the peer: a value until it is awaited, which sends it.
///
/// Awaiting gives the decoded result. Dropping it before that tells the peer that nobody waits any more.
/// There is no time-out unless one is set.
#[must_use = "a call is not made until it is awaited"]
pub struct Call<R> {
    peer: Peer,
    method: ByteString,
    stage: Stage,
    options: CallOptions,
    progress: Option<ProgressHook>,
    check: Option<Check<R>>,
    on_drop: Option<Box<dyn FnOnce() + Send>>,
    result: PhantomData<fn() -> R>,
}

/// Looks at a result before the caller does.
type Check<R> = Box<dyn FnOnce(R) -> Result<R, CallError> + Send>;

enum Stage {
    /// Not made yet; under this id, if one was reserved.
    New {
        id: Option<CallId>,
        params: Option<RawJson>,
        room: Option<usize>,
    },
    /// Cannot be made.
    Failed(CallError),
    Waiting(CallId),
    Done,
}

impl<R> Call<R> {
    pub(crate) fn new(peer: Peer, method: ByteString, params: Result<Option<RawJson>, CallError>) -> Self {
        let stage = match params {
            Ok(params) => Stage::New { id: None, params, room: None },
            Err(error) => Stage::Failed(error),
        };
        Self {
            peer,
            method,
            stage,
            options: CallOptions::new(),
            progress: None,
            check: None,
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

    /// Waits so long for the answer. Then the call fails, and the peer is told.
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

    /// Looks at the result before the caller does, and may refuse it.
    pub fn check(mut self, check: impl FnOnce(R) -> Result<R, CallError> + Send + 'static) -> Self {
        self.check = Some(Box::new(check));
        self
    }

    /// Runs when the call is dropped after it was sent and before it was answered, just before the peer is
    /// told. For protocols that have more to say then.
    pub fn on_drop(mut self, hook: impl FnOnce() + Send + 'static) -> Self {
        self.on_drop = Some(Box::new(hook));
        self
    }

    /// Sends the request once there is room for it.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<Result<CallId, CallError>> {
        let Stage::New { id, params, room } = &mut self.stage else {
            return Poll::Ready(match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Waiting(call) => {
                    self.stage = Stage::Waiting(call);
                    Ok(call)
                }
                Stage::Failed(error) => Err(error),
                _ => panic!("a call was awaited again after it had completed"),
            });
        };
        let now = self.peer.shared.now();
        let mut state = self.peer.shared.lock();
        if let Some(closed) = state.closed() {
            state.forget_room(room);
            self.stage = Stage::Done;
            return Poll::Ready(Err(closed.into()));
        }
        ready!(state.poll_room(room, cx.waker()));
        let call = id.unwrap_or_else(|| state.connection.reserve_call());
        state.open_slot(call, self.progress.take());
        let related = self.peer.related().cloned();
        state.connection.call(now, call, self.method.clone(), params.take(), self.options, related);
        let waker = state.changed();
        drop(state);
        self.stage = Stage::Waiting(call);
        if let Some(waker) = waker {
            waker.wake();
        }
        Poll::Ready(Ok(call))
    }
}

impl<R: DeserializeOwned> Future for Call<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let call = ready!(this.poll_send(cx))?;
        let mut state = this.peer.shared.lock();
        let outcome = ready!(state.poll_slot(call, cx.waker()));
        let closed = state.reason();
        drop(state);
        this.stage = Stage::Done;
        Poll::Ready(match outcome {
            Ok(result) => {
                let result = result
                    .decode()
                    .map_err(|why| CallError::Decode { method: this.method.clone(), why: why.to_string() })?;
                match this.check.take() {
                    Some(check) => check(result),
                    None => Ok(result),
                }
            }
            Err(failure) => Err(CallError::from_failure(failure, this.method.clone(), closed)),
        })
    }
}

impl<R> Drop for Call<R> {
    fn drop(&mut self) {
        match &mut self.stage {
            Stage::Waiting(call) => {
                if let Some(hook) = self.on_drop.take() {
                    hook();
                }
                let (slot, waker) = self.peer.shared.lock().drop_slot(*call);
                drop(slot);
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            Stage::New { room: room @ Some(_), .. } => self.peer.shared.lock().forget_room(room),
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
pub struct Notify {
    pub(crate) peer: Peer,
    pub(crate) method: ByteString,
    /// None once it is sent.
    pub(crate) params: Option<Result<Option<RawJson>, CallError>>,
    pub(crate) room: Option<usize>,
}

impl Future for Notify {
    type Output = Result<(), CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut state = this.peer.shared.lock();
        if let Some(closed) = state.closed() {
            state.forget_room(&mut this.room);
            return Poll::Ready(Err(closed.into()));
        }
        ready!(state.poll_room(&mut this.room, cx.waker()));
        let params = match this.params.take() {
            Some(Ok(params)) => params,
            Some(Err(error)) => return Poll::Ready(Err(error)),
            None => return Poll::Ready(Ok(())),
        };
        let related = this.peer.related().cloned();
        state.connection.notify(std::mem::take(&mut this.method), params, related);
        let waker = state.changed();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for Notify {
    fn drop(&mut self) {
        if self.room.is_some() {
            self.peer.shared.lock().forget_room(&mut self.room);
        }
    }
}
