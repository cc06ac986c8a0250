//! The time limit of a call that waits for its task.

use std::sync::Arc;
use std::time::Instant;

use agentwire_jsonrpc::RequestMethod;
use agentwire_mcp_schema::CallToolRequest;
use agentwire_peer::{CallError, Clock, TokioClock};
use agentwire_sync::{Mutex, MutexGuard};

use crate::raw::Waits;

/// The time limit of a call that waits for its task. Each change of the task extends it as a progress report does. The time
/// in which the client answers questions does not count.
#[derive(Clone)]
pub(crate) struct Deadline(Arc<Mutex<Times>>);

struct Times {
    waits: Waits,
    began: Instant,
    deadline: Option<Instant>,
    paused: Option<Instant>,
}

impl Deadline {
    pub(crate) fn new(waits: Waits) -> Self {
        let began = now();
        let deadline = waits.timeout.and_then(|timeout| began.checked_add(timeout));
        Self(Arc::new(Mutex::new(Times { waits, began, deadline, paused: None })))
    }

    /// No time limit.
    pub(crate) fn none() -> Self {
        Self::new(Waits::default())
    }

    /// Starts the wait again, because the task has changed.
    pub(crate) fn restart(&self) {
        let mut times = self.lock();
        if let Some(timeout) = times.waits.timeout
            && let (Some(deadline), Some(extended)) = (times.deadline, now().checked_add(timeout))
        {
            let last = times.waits.progress_maximum.and_then(|maximum| times.began.checked_add(maximum));
            let latest = last.map_or(extended, |last| extended.min(last));
            times.deadline = Some(latest.max(deadline));
        }
    }

    /// Stops the time.
    pub(crate) fn pause(&self) {
        self.lock().paused.get_or_insert_with(now);
    }

    /// Starts the whole timeout again after a [`pause`](Self::pause). The maximum moves by the length of the pause.
    pub(crate) fn resume(&self) {
        let mut times = self.lock();
        if let Some(paused) = times.paused.take() {
            let now = now();
            times.began += now.saturating_duration_since(paused);
            times.deadline = times.waits.timeout.and_then(|timeout| now.checked_add(timeout));
        }
    }

    /// Completes when the time is over, with the error of the call.
    pub(crate) async fn passed(&self) -> CallError {
        loop {
            let (due, began) = {
                let times = self.lock();
                (times.deadline.filter(|_| times.paused.is_none()), times.began)
            };
            match due {
                Some(due) if due <= now() => {
                    let waited = due.saturating_duration_since(began);
                    return CallError::timed_out(CallToolRequest::NAME, waited);
                }
                Some(due) => TokioClock::default().sleep_until(due).await,
                None => std::future::pending().await,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Times> {
        self.0.lock()
    }
}

pub(crate) fn now() -> Instant {
    TokioClock::default().now()
}
