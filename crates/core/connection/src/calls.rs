//! Tracks the open outgoing calls with their deadlines. A progress report can extend a call's deadline.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use agentwire_jsonrpc::RequestId;
use agentwire_wire_derive::Build;

use crate::Dialect;
use crate::event::{CallFailure, CallId};

/// How long the only open call waits for its own response after an error without an id.
pub(crate) const SHORT_GRACE: Duration = Duration::from_millis(250);

/// How long a call waits for its own response after another message that may have answered it.
pub(crate) const LONG_GRACE: Duration = Duration::from_secs(1);

/// The most cancelled calls whose responses are still expected. Most MCP peers never answer a cancelled call.
const MAX_CANCELLED: usize = 256;

/// How long a call waits for its response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Build)]
#[non_exhaustive]
pub struct CallOptions {
    /// How long to wait for the response. `None` waits until the connection ends.
    pub timeout: Option<Duration>,
    /// The longest wait that progress reports may extend a call to, counted from when it was made (default: progress does
    /// not extend it). Each report restarts the time-out. A maximum below the time-out has no effect.
    pub progress_maximum: Option<Duration>,
}

impl CallOptions {
    /// Returns options without a time-out.
    pub fn new() -> Self {
        Self::default()
    }
}

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) uncancellable: bool,
    /// Whether the peer may end it by the cancel notification.
    pub(crate) ended_by_cancel: bool,
    /// The request of the peer that it belongs to.
    pub(crate) in_reply_to: Option<RequestId>,
    options: CallOptions,
    made: Instant,
    deadline: Option<Instant>,
    /// The failure of the call if no response of its own comes within [`SHORT_GRACE`] or [`LONG_GRACE`].
    pub(crate) suspected_failure: Option<CallFailure>,
}

/// The open calls of this side.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    open: BTreeMap<CallId, Call>,
    deadlines: BTreeSet<(Instant, CallId)>,
    last: u64,
    /// The cancelled calls that the peer may still answer.
    cancelled: BTreeSet<CallId>,
    /// The last call made before this side last sent a notification or a response. An error without an id may be about that
    /// message. `None` once the peer has answered a later call, because it reads in order.
    before_other_message: Option<CallId>,
    /// An error without an id that belongs to one of several calls, and the last of these calls.
    unclaimed_error: Option<Box<(CallId, CallFailure)>>,
}

/// The call that a response without a readable id probably belongs to.
pub(crate) enum Suspect {
    /// The only open call.
    Certain(CallId),
    /// The only open call, unless the response reports an error in the notification before it.
    Likely(CallId),
    /// One of the open calls, of which this is the newest, unless the response reports an error in a notification before them.
    OneOf(CallId),
    Unknown,
}

impl Calls {
    /// Reserves an id. Ids begin at 1, because some peers take 0 for "none", and are used once.
    pub(crate) fn reserve(&mut self) -> CallId {
        self.last += 1;
        CallId(self.last)
    }

    pub(crate) fn insert(
        &mut self,
        now: Instant,
        id: CallId,
        method: &str,
        dialect: &Dialect,
        options: CallOptions,
        in_reply_to: Option<RequestId>,
    ) {
        // A caller may use an id twice by mistake; the first deadline must not outlive it.
        self.remove(id);
        // A time-out that the clock cannot represent sets no limit.
        let deadline = options.timeout.and_then(|timeout| now.checked_add(timeout));
        self.deadlines.extend(deadline.map(|deadline| (deadline, id)));
        let uncancellable = dialect.uncancellable.contains(&method);
        let ended_by_cancel = dialect.ended_by_cancel.contains(&method);
        let call = Call {
            uncancellable,
            ended_by_cancel,
            in_reply_to,
            options,
            made: now,
            deadline,
            suspected_failure: None,
        };
        self.open.insert(id, call);
    }

    /// Records that a notification or a response was queued. The peer may report an error about it without an id.
    #[inline]
    pub(crate) fn note_other_message(&mut self) {
        self.before_other_message = Some(CallId(self.last));
    }

    /// Takes a call that the peer has answered. The peer reads messages in order, so a later error without an id is not about
    /// a message before the call.
    #[inline]
    pub(crate) fn take_answered(&mut self, id: CallId) -> Option<Call> {
        let call = self.take(id)?;
        self.before_other_message.take_if(|before| *before < id);
        Some(call)
    }

    /// The open call with the number that a string id contains, such as `"2"`.
    pub(crate) fn named_by_text(&self, id: &RequestId) -> Option<CallId> {
        let call = CallId::from_request_id(&id.number_in_text()?)?;
        self.open.contains_key(&call).then_some(call)
    }

    /// Returns the call that a response without a readable id probably belongs to.
    pub(crate) fn suspect(&self) -> Suspect {
        let mut open = self.open.keys();
        match (open.next(), open.next_back(), self.before_other_message) {
            (Some(only), None, None) => Suspect::Certain(*only),
            (Some(first), _, Some(before)) if before >= *first => Suspect::Unknown,
            (Some(only), None, _) => Suspect::Likely(*only),
            (Some(_), Some(last), _) => Suspect::OneOf(*last),
            (None, ..) => Suspect::Unknown,
        }
    }

    /// Keeps an error without an id that belongs to one of the calls up to `last`.
    pub(crate) fn keep_unclaimed_error(&mut self, last: CallId, failure: CallFailure) {
        self.unclaimed_error = Some(Box::new((last, failure)));
    }

    #[inline]
    pub(crate) fn has_unclaimed_error(&self) -> bool {
        self.unclaimed_error.is_some()
    }

    /// Schedules the failure of the call that the kept error belongs to, if only one such call is left.
    #[cold]
    pub(crate) fn fail_soon_by_unclaimed_error(&mut self, now: Instant) {
        let Some(error) = self.unclaimed_error.take() else { return };
        let mut suspects = self.open.range(..=error.0).map(|(call, _)| *call);
        match (suspects.next(), suspects.next()) {
            (Some(only), None) => self.fail_soon(now, only, error.1, LONG_GRACE),
            (Some(_), Some(_)) => self.unclaimed_error = Some(error),
            (None, _) => {}
        }
    }

    /// Schedules the failure of a call after a wait, unless a response or progress comes first.
    pub(crate) fn fail_soon(&mut self, now: Instant, id: CallId, failure: CallFailure, wait: Duration) {
        let Some(call) = self.open.get_mut(&id) else { return };
        let soon = now.checked_add(wait);
        let sooner = soon.filter(|soon| call.deadline.is_none_or(|deadline| *soon < deadline));
        if let Some(soon) = sooner {
            call.suspected_failure.get_or_insert(failure);
            self.set_deadline(id, Some(soon));
        }
    }

    fn set_deadline(&mut self, id: CallId, deadline: Option<Instant>) {
        if let Some(call) = self.open.get_mut(&id) {
            let earlier = std::mem::replace(&mut call.deadline, deadline);
            earlier.map(|earlier| self.deadlines.remove(&(earlier, id)));
            self.deadlines.extend(deadline.map(|deadline| (deadline, id)));
        }
    }

    /// Notes a call that was cancelled at the peer.
    pub(crate) fn note_cancelled(&mut self, id: CallId) {
        self.cancelled.insert(id);
        if self.cancelled.len() > MAX_CANCELLED {
            self.cancelled.pop_first();
        }
    }

    /// Forgets a cancelled call. Returns whether its response was expected.
    pub(crate) fn forget_cancelled(&mut self, id: CallId) -> bool {
        self.cancelled.remove(&id)
    }

    /// Removes a call that gets no response. Drops the unclaimed error, which may belong to this call.
    pub(crate) fn remove(&mut self, id: CallId) -> Option<Call> {
        let call = self.take(id)?;
        self.unclaimed_error.take_if(|error| id <= error.0);
        Some(call)
    }

    fn take(&mut self, id: CallId) -> Option<Call> {
        let call = self.open.remove(&id)?;
        if let Some(deadline) = call.deadline {
            self.deadlines.remove(&(deadline, id));
        }
        Some(call)
    }

    /// Records progress on a call. Drops a suspected failure. If the call has a `progress_maximum`, restarts its time-out, up to
    /// that maximum. Returns false if the call is not open.
    pub(crate) fn progress(&mut self, now: Instant, id: CallId) -> bool {
        self.clear_suspected_failure(id);
        let Self { open, deadlines, .. } = self;
        let Some(call) = open.get_mut(&id) else {
            return false;
        };
        if let (Some(timeout), Some(maximum)) = (call.options.timeout, call.options.progress_maximum)
            && let (Some(deadline), Some(extended)) = (&mut call.deadline, now.checked_add(timeout))
        {
            deadlines.remove(&(*deadline, id));
            // A maximum that the clock cannot represent sets no limit.
            let latest = call.made.checked_add(maximum).map_or(extended, |last| extended.min(last));
            *deadline = latest.max(*deadline);
            deadlines.insert((*deadline, id));
        }
        true
    }

    /// The peer works on the call, so the error was about something else.
    fn clear_suspected_failure(&mut self, id: CallId) {
        if let Some(call) = self.open.get_mut(&id)
            && call.suspected_failure.take().is_some()
        {
            let deadline = call.options.timeout.and_then(|timeout| call.made.checked_add(timeout));
            self.set_deadline(id, deadline);
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Takes one call whose deadline has passed. Also returns how long it waited.
    pub(crate) fn take_expired(&mut self, now: Instant) -> Option<(CallId, Call, Duration)> {
        let (deadline, id) = *self.deadlines.first().filter(|(deadline, _)| *deadline <= now)?;
        let call = self.remove(id)?;
        let waited = deadline - call.made;
        Some((id, call, waited))
    }

    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = (CallId, Call)> + use<> {
        self.deadlines.clear();
        std::mem::take(&mut self.open).into_iter()
    }

    pub(crate) fn find(&self, id: CallId) -> Option<&Call> {
        self.open.get(&id)
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }
}
