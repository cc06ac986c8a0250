use std::sync::Arc;
use std::time::Instant;

use agentwire_jsonrpc::Method;
use agentwire_mcp_schema::CallToolRequest;
use agentwire_peer::{CallError, Clock, TokioClock};
use agentwire_sync::{Mutex, MutexGuard};

use crate::call::Waits;

/// How long a call waits for its task: as long as for an answer, where each change of the task is as good as a report of
/// progress. The time in which we answer questions does not count.
#[derive(Clone)]
pub(crate) struct Patience(Arc<Mutex<Times>>);

struct Times {
    waits: Waits,
    began: Instant,
    deadline: Option<Instant>,
    paused: Option<Instant>,
}

impl Patience {
    pub(crate) fn new(waits: Waits) -> Self {
        let began = now();
        let deadline = waits.timeout.and_then(|timeout| began.checked_add(timeout));
        Self(Arc::new(Mutex::new(Times { waits, began, deadline, paused: None })))
    }

    /// For whoever waits for as long as it takes.
    pub(crate) fn endless() -> Self {
        Self::new(Waits::default())
    }

    /// There is news.
    pub(crate) fn restart(&self) {
        let mut times = self.lock();
        if let (Some(timeout), Some(maximum)) = (times.waits.timeout, times.waits.progress_maximum)
            && let (Some(deadline), Some(extended)) = (times.deadline, now().checked_add(timeout))
        {
            let latest = times.began.checked_add(maximum).map_or(extended, |last| extended.min(last));
            times.deadline = Some(latest.max(deadline));
        }
    }

    /// From here on the time does not count.
    pub(crate) fn pause(&self) {
        self.lock().paused.get_or_insert_with(now);
    }

    /// From here on it counts again, from the beginning.
    pub(crate) fn resume(&self) {
        let mut times = self.lock();
        if let Some(paused) = times.paused.take() {
            let now = now();
            times.began += now.saturating_duration_since(paused);
            times.deadline = times.waits.timeout.and_then(|timeout| now.checked_add(timeout));
        }
    }

    /// Completes when it has been long enough.
    pub(crate) async fn over(&self) -> CallError {
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
