//! The calls that futures wait for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Poll, Waker};

use agentwire_connection::{CallFailure, CallId};
use agentwire_jsonrpc::{RawJson, RequestId};
use agentwire_transport::TransportError;

use crate::locked::DeferredDrop;
use crate::state::{State, replace};

/// The slots of all calls that a future waits for.
pub(crate) type CallSlots = BTreeMap<CallId, CallSlot>;

/// A call that a future waits for.
#[derive(Default)]
pub(crate) struct CallSlot {
    waker: Option<Waker>,
    /// Whether the main future may be the one that waits.
    is_main: bool,
    outcome: Option<Result<RawJson, CallFailure>>,
    /// The transport's report on a call that it could not carry.
    error: Option<Arc<TransportError>>,
    progress: Option<ProgressHook>,
    on_answer: Option<AnswerHook>,
}

/// The result of a call, or why it has none, with the transport's error where there is one.
pub(crate) type Outcome = Result<RawJson, (CallFailure, Option<Arc<TransportError>>)>;

/// Decodes and checks the result of a call when it arrives.
pub(crate) type AnswerHook = Box<dyn FnOnce(RawJson) + Send>;

/// Called with the params of each progress notification on a call.
pub(crate) type ProgressHook = Box<dyn FnMut(RawJson) + Send>;

/// What the event loop must do when the outcome of a call is known.
pub(crate) enum Settled {
    /// Run the hook on the result without the lock, then settle the call again with what is left of the result.
    Read(AnswerHook, RawJson),
    /// Wake the caller, which may be the main future.
    Wake(Waker, bool),
    /// Nothing: no future waits.
    Done,
}

impl State {
    /// Opens the slot of a call. The caller's future is polled with `waker`.
    pub(crate) fn open_slot(
        &mut self,
        call: CallId,
        progress: Option<ProgressHook>,
        on_answer: Option<AnswerHook>,
        waker: &Waker,
        is_main: bool,
    ) {
        let waker = Some(waker.clone());
        let slot = CallSlot { waker, is_main, outcome: None, error: None, progress, on_answer };
        self.waiters_mut().calls.insert(call, slot);
    }

    fn slot(&self, call: CallId) -> Option<&CallSlot> {
        self.waiters()?.calls.get(&call)
    }

    fn slot_mut(&mut self, call: CallId) -> Option<&mut CallSlot> {
        self.waiters_if_any()?.calls.get_mut(&call)
    }

    fn take_slot(&mut self, call: CallId) -> Option<CallSlot> {
        self.waiters_if_any()?.calls.remove(&call)
    }

    /// Returns the outcome of a call, with the transport's error where that is why it failed.
    pub(crate) fn poll_slot(&mut self, call: CallId, waker: &Waker, is_main: bool) -> Poll<Outcome> {
        let Some(slot) = self.slot_mut(call) else {
            return Poll::Ready(Err((CallFailure::Closed, None)));
        };
        if slot.outcome.is_none() {
            slot.is_main = is_main;
            let replaced = match &mut slot.waker {
                Some(place) => replace(place, waker),
                place => {
                    *place = Some(waker.clone());
                    None
                }
            };
            self.deferred_drops.extend(replaced);
            return Poll::Pending;
        }
        let slot = self.take_slot(call);
        let outcome = slot.and_then(|mut slot| {
            let outcome = slot.outcome.take();
            let error = slot.error.take();
            self.deferred_drops.push(DeferredDrop::CallSlot(slot));
            Some(outcome?.map_err(|failure| (failure, error)))
        });
        Poll::Ready(outcome.unwrap_or(Err((CallFailure::Closed, None))))
    }

    /// Whether a future waits for this call, or has not taken its outcome yet.
    pub(crate) fn is_known(&self, call: CallId) -> bool {
        self.slot(call).is_some()
    }

    /// Whether a call is unanswered.
    pub(crate) fn is_open(&self, call: CallId) -> bool {
        self.slot(call).is_some_and(|slot| slot.outcome.is_none())
    }

    /// Closes the slot of a call whose future was dropped.
    pub(crate) fn drop_slot(&mut self, call: CallId) -> (Option<CallSlot>, Option<Waker>) {
        let slot = self.take_slot(call);
        let waker = match &slot {
            Some(slot) if slot.outcome.is_none() => {
                self.connection.cancel(call, "the caller no longer waits");
                self.changed()
            }
            _ => None,
        };
        (slot, waker)
    }

    /// Fails a call that the transport could not carry.
    pub(crate) fn fail(&mut self, id: &RequestId, error: Arc<TransportError>) {
        if let Some(slot) = self.connection.handle_failure(id).and_then(|call| self.slot_mut(call)) {
            slot.error = Some(error);
        }
    }

    /// The transport's error, for a call that it could not carry.
    pub(crate) fn transport_error(&self, call: CallId) -> Option<Arc<TransportError>> {
        self.slot(call)?.error.clone()
    }

    /// Stores the outcome of a call. A result that has a hook is [read](Settled::Read) first.
    pub(crate) fn settle(&mut self, call: CallId, outcome: Result<RawJson, CallFailure>) -> Settled {
        let Some(slot) = self.slot_mut(call) else { return Settled::Done };
        match (outcome, slot.on_answer.take()) {
            (Ok(result), Some(hook)) => Settled::Read(hook, result),
            (outcome, unused) => {
                slot.outcome = Some(outcome);
                let settled = match slot.waker.take() {
                    Some(waker) => Settled::Wake(waker, slot.is_main),
                    None => Settled::Done,
                };
                self.deferred_drops.extend(unused.map(DeferredDrop::AnswerHook));
                settled
            }
        }
    }

    /// Takes the progress hook, to call it without the lock; [`put_hook`](Self::put_hook) puts it back.
    pub(crate) fn take_hook(&mut self, call: CallId) -> Option<ProgressHook> {
        self.slot_mut(call)?.progress.take()
    }

    /// Returns the hook if the call was dropped meanwhile, so that it is dropped without the lock.
    pub(crate) fn put_hook(&mut self, call: CallId, hook: ProgressHook) -> Option<ProgressHook> {
        match self.slot_mut(call) {
            Some(slot) => slot.progress.replace(hook),
            None => Some(hook),
        }
    }
}
