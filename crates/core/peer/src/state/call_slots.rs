//! The calls that futures wait for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Poll, Waker};

use agentwire_connection::{CallFailure, CallId};
use agentwire_jsonrpc::RawJson;
use agentwire_transport::TransportError;

use crate::state::waker_slots::replace;

/// The result of a call, or why it has none, with the transport's error where there is one.
pub(crate) type Outcome = Result<RawJson, (CallFailure, Option<Arc<TransportError>>)>;

/// Decodes and checks the result of a call when it arrives.
pub(crate) type ResultHook = Box<dyn FnOnce(RawJson) + Send>;

/// Called with the params of each progress notification on a call.
pub(crate) type ProgressHook = Box<dyn FnMut(RawJson) + Send>;

/// The slots of all calls that a future waits for.
#[derive(Default)]
pub(crate) struct CallSlots(BTreeMap<CallId, CallSlot>);

/// A call that a future waits for.
///
/// Its hooks and its error may own anything, so it is dropped without the lock.
pub(crate) struct CallSlot {
    waker: Option<Waker>,
    /// Whether the waker was stored while the `main` of `Driver::run` was polled. If it is the driver's own waker then, it is not
    /// woken, because the driver polls `main` anyway.
    is_main: bool,
    outcome: Option<Result<RawJson, CallFailure>>,
    /// The transport's report on a call that it could not carry.
    error: Option<Arc<TransportError>>,
    progress: Option<ProgressHook>,
    /// `None` once it has run. A call that fails keeps it until the slot is dropped.
    on_result: Option<ResultHook>,
}

/// The next step of the event loop when the outcome of a call is known.
pub(crate) enum SettleAction {
    /// Run the hook on the result without the lock, then settle the call again with what is left of the result.
    Read(ResultHook, RawJson),
    /// Wake the caller, which may be the main future.
    Wake(Waker, bool),
    /// Nothing: no future waits.
    Done,
}

impl CallSlots {
    /// Opens the slot of a call. The caller's future is polled with `waker`.
    pub(crate) fn open(
        &mut self,
        call: CallId,
        progress: Option<ProgressHook>,
        on_result: Option<ResultHook>,
        waker: &Waker,
        is_main: bool,
    ) {
        let waker = Some(waker.clone());
        let slot = CallSlot { waker, is_main, outcome: None, error: None, progress, on_result };
        self.0.insert(call, slot);
    }

    /// Takes the slot of a call that has an outcome; `Ready(None)` if there is no such call. While the call is open, stores
    /// `waker` and adds the replaced one to `replaced`, to be dropped without the lock.
    pub(crate) fn poll(
        &mut self,
        call: CallId,
        waker: &Waker,
        is_main: bool,
        replaced: &mut Vec<Waker>,
    ) -> Poll<Option<CallSlot>> {
        let Some(slot) = self.0.get_mut(&call) else { return Poll::Ready(None) };
        if slot.outcome.is_some() {
            return Poll::Ready(self.0.remove(&call));
        }
        slot.is_main = is_main;
        match &mut slot.waker {
            Some(place) => replaced.extend(replace(place, waker)),
            place => *place = Some(waker.clone()),
        }
        Poll::Pending
    }

    /// Takes the slot of a call, whether it has an outcome or not.
    pub(crate) fn remove(&mut self, call: CallId) -> Option<CallSlot> {
        self.0.remove(&call)
    }

    /// Whether a future waits for this call, or has not taken its outcome yet.
    pub(crate) fn is_known(&self, call: CallId) -> bool {
        self.0.contains_key(&call)
    }

    /// Whether a call is unanswered.
    pub(crate) fn is_open(&self, call: CallId) -> bool {
        self.0.get(&call).is_some_and(CallSlot::is_open)
    }

    /// Keeps the error of a call that the transport could not carry, until the caller gets it.
    pub(crate) fn set_error(&mut self, call: CallId, error: Arc<TransportError>) {
        if let Some(slot) = self.0.get_mut(&call) {
            slot.error = Some(error);
        }
    }

    /// The transport's error, for a call that it could not carry.
    pub(crate) fn error(&self, call: CallId) -> Option<Arc<TransportError>> {
        self.0.get(&call)?.error.clone()
    }

    /// Stores the outcome of a call. A result that has a hook is [read](SettleAction::Read) first.
    pub(crate) fn settle(&mut self, call: CallId, outcome: Result<RawJson, CallFailure>) -> SettleAction {
        let Some(slot) = self.0.get_mut(&call) else { return SettleAction::Done };
        let hook = if outcome.is_ok() { slot.on_result.take() } else { None };
        match (outcome, hook) {
            (Ok(result), Some(hook)) => SettleAction::Read(hook, result),
            (outcome, _) => {
                slot.outcome = Some(outcome);
                match slot.waker.take() {
                    Some(waker) => SettleAction::Wake(waker, slot.is_main),
                    None => SettleAction::Done,
                }
            }
        }
    }

    /// Takes the progress hook, to call it without the lock; [`put_progress_hook`](Self::put_progress_hook) puts it back.
    pub(crate) fn take_progress_hook(&mut self, call: CallId) -> Option<ProgressHook> {
        self.0.get_mut(&call)?.progress.take()
    }

    /// Returns the hook if the call was dropped since, so that it is dropped without the lock.
    pub(crate) fn put_progress_hook(&mut self, call: CallId, hook: ProgressHook) -> Option<ProgressHook> {
        match self.0.get_mut(&call) {
            Some(slot) => slot.progress.replace(hook),
            None => Some(hook),
        }
    }
}

impl CallSlot {
    pub(crate) fn is_open(&self) -> bool {
        self.outcome.is_none()
    }

    /// Returns the outcome, with the transport's error where that is why the call failed.
    pub(crate) fn into_outcome(self) -> Outcome {
        self.outcome.unwrap_or(Err(CallFailure::Closed)).map_err(|failure| (failure, self.error))
    }
}
