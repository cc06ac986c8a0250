//! An open call with its observer: reports the call's end with its duration, and runs work in the observer's scope.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Instant;

use agentwire_jsonrpc::RequestId;
use bytestring::ByteString;

use super::{CallEnd, CallObserver, CallStart, Direction, Observer, Outcome};
use crate::panics::guarded;

/// A call that has an observer and has not ended.
pub(crate) struct OpenCall {
    direction: Direction,
    method: ByteString,
    began: Instant,
    observer: Arc<dyn CallObserver>,
    /// An earlier open call with the same id, which the peer should not have used again.
    pub(crate) earlier: Option<Box<OpenCall>>,
}

impl OpenCall {
    /// Reports the start of a call. Returns `None` if the observer ignores the rest of the call.
    pub(crate) fn begin(
        observer: &dyn Observer,
        call: &CallStart<'_>,
        method: &ByteString,
        now: Instant,
    ) -> Option<Self> {
        let mut call_observer = None;
        guarded(|| call_observer = observer.call_started(call));
        let (direction, method) = (call.direction, method.clone());
        Some(Self { direction, method, began: now, observer: call_observer?, earlier: None })
    }

    pub(crate) fn observer(&self) -> &Arc<dyn CallObserver> {
        &self.observer
    }

    pub(crate) fn cancelled(&self) {
        guarded(|| self.observer.cancelled());
    }

    /// Reports the end of the call.
    pub(crate) fn end(self, id: &RequestId, outcome: Outcome<'_>, now: Instant, revision: Option<&str>) {
        let Self { direction, method, began, observer, .. } = self;
        let duration = now.saturating_duration_since(began);
        // The observer's destructor is the user's code too.
        guarded(move || {
            observer.ended(&CallEnd { direction, method: &method, id, outcome, duration, revision });
        });
    }
}

/// Runs work on a call within the observer's scope. The work runs exactly once, whatever the observer does. A panic of the work is
/// resumed here.
#[inline]
pub fn in_scope<R>(observer: Option<&dyn CallObserver>, work: impl FnOnce() -> R) -> R {
    match observer {
        None => work(),
        Some(observer) => in_observer_scope(observer, work),
    }
}

// Never inlined: a poll without an observer must stay small.
#[inline(never)]
fn in_observer_scope<R>(observer: &dyn CallObserver, work: impl FnOnce() -> R) -> R {
    let (mut work, mut output) = (Some(work), None);
    guarded(|| {
        observer.in_scope(&mut || {
            output = output.take().or_else(|| work.take().map(|work| catch_unwind(AssertUnwindSafe(work))));
        });
    });
    match (output, work) {
        (Some(output), _) => output.unwrap_or_else(|panic| resume_unwind(panic)),
        (None, work) => work.expect("work without an output has not run")(),
    }
}
