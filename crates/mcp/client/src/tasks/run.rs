//! Follows a task to its end, for the tasks of both protocols.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_jsonrpc::{RawJson, RequestMethod, code};
use agentwire_mcp_schema::CallToolRequest;
use agentwire_mcp_schema::task_extension::TaskStatus;
use agentwire_peer::{CallError, Clock, TokioClock};
use agentwire_sync::Mutex;
use futures_util::FutureExt;

use super::deadline::{Deadline, now};
use super::report::{Report, TaskHook, TaskState};
use super::requests::{cancel_later, state, unusable};
use super::settings::Tasks;
use crate::connection::Connection;
use crate::handler::hooks::contained;

/// The most consecutive requests about a task that may fail on their way.
const MAX_FAILURES: usize = 5;

/// The keys of a task's questions that have been answered.
pub(crate) type AnsweredKeys = Arc<Mutex<HashSet<String>>>;

/// A task that is followed to its end.
pub(crate) struct Run {
    pub(crate) connection: Arc<Connection>,
    pub(crate) id: String,
    pub(crate) answered: AnsweredKeys,
    pub(crate) deadline: Deadline,
    settings: Tasks,
    hook: Option<TaskHook>,
    seen: Option<TaskState>,
    since: Instant,
    next: Instant,
    /// Consecutive failures to ask for the task's state.
    failures: usize,
    /// Consecutive failures of follow-up requests (`tasks/update`, `tasks/result`); polling errors are counted separately.
    failed_steps: usize,
}

impl Run {
    pub(crate) fn new(
        connection: Arc<Connection>,
        id: String,
        deadline: Deadline,
        hook: Option<TaskHook>,
    ) -> Self {
        let settings = connection.tasks.clone().unwrap_or_default();
        let (answered, since) = (AnsweredKeys::default(), now());
        Self {
            connection,
            id,
            answered,
            deadline,
            settings,
            hook,
            seen: None,
            since,
            next: since,
            failures: 0,
            failed_steps: 0,
        }
    }

    /// A run for a call that waits for the task, from the report that answered the call.
    pub(crate) fn of_call(
        connection: &Arc<Connection>,
        report: &Report,
        deadline: Deadline,
        hook: Option<TaskHook>,
    ) -> Self {
        let mut run = Self::new(connection.clone(), report.task_id.clone(), deadline, hook);
        run.update(report);
        if report.status != TaskStatus::Working {
            // The report does not have its questions, or its result.
            run.next = now();
        }
        run
    }

    /// Continues from what was answered before.
    pub(crate) fn answered(mut self, answered: AnsweredKeys) -> Self {
        self.answered = answered;
        self
    }

    /// Records a report, and calls the hook if the state is new.
    pub(crate) fn update(&mut self, report: &Report) {
        let state = report.state();
        self.failures = 0;
        self.next = after(self.settings.interval(state.poll_interval));
        if self.seen.as_ref() == Some(&state) {
            return;
        }
        if self.seen.is_some() {
            self.deadline.restart();
        }
        if let Some(hook) = &self.hook {
            contained(|| hook.lock()(&state));
        }
        self.seen = Some(state);
    }

    /// Completes when the server need not keep the task any longer.
    pub(crate) async fn expired(&self) {
        let ttl = self.seen.as_ref().and_then(|state| state.ttl);
        match ttl.and_then(|ttl| self.since.checked_add(ttl)) {
            Some(deadline) => TokioClock::default().sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    }

    /// Asks for the task's state when the interval is over. Returns `None` if the transport failed and the request will be
    /// tried again. Dropping the future loses nothing: the next call asks again.
    pub(crate) async fn report(&mut self) -> Result<Option<Report>, CallError> {
        let report = {
            let asked = async {
                TokioClock::default().sleep_until(self.next).await;
                state(&self.connection, &self.id).await
            };
            futures_util::select_biased! {
                error = self.deadline.passed().fuse() => return Err(error),
                report = asked.fuse() => report,
            }
        };
        match report {
            Ok(report) => {
                self.update(&report);
                Ok(Some(report))
            }
            Err(error) => {
                self.failures += 1;
                self.schedule_retry(self.failures, error).map(|()| None)
            }
        }
    }

    /// Records the outcome of a follow-up request. Returns `None` if the request will be tried again.
    pub(crate) fn done<T>(&mut self, outcome: Result<T, CallError>) -> Result<Option<T>, CallError> {
        match outcome {
            Ok(done) => {
                self.failed_steps = 0;
                Ok(Some(done))
            }
            Err(error) => {
                self.failed_steps += 1;
                self.schedule_retry(self.failed_steps, error).map(|()| None)
            }
        }
    }

    /// Schedules another attempt of a request that failed on its way, after the interval. That is safe: asking changes nothing,
    /// and the server ignores an answer that comes twice.
    fn schedule_retry(&mut self, failures: usize, error: CallError) -> Result<(), CallError> {
        let again = matches!(error, CallError::Failed { .. } | CallError::TimedOut { .. });
        if !again || failures > MAX_FAILURES || self.connection.peer.is_closed() {
            return Err(error);
        }
        let suggested = self.seen.as_ref().and_then(|state| state.poll_interval);
        self.next = after(self.settings.interval(suggested));
        Ok(())
    }

    /// Fails if the task's time to live is over, though it is not done.
    pub(crate) fn check_age(&self) -> Result<(), CallError> {
        let ttl = self.seen.as_ref().and_then(|state| state.ttl);
        match ttl.and_then(|ttl| self.since.checked_add(ttl)) {
            Some(deadline) if deadline <= now() => unusable(format!(
                "the task has outlived its time to live, {:?}, and is not done",
                ttl.unwrap_or_default()
            )),
            _ => Ok(()),
        }
    }

    /// The task's status message, for the error of a task that failed without one.
    pub(crate) fn message(&self) -> &str {
        self.seen.as_ref().and_then(|state| state.message.as_deref()).unwrap_or("it does not say why")
    }
}

fn after(wait: Duration) -> Instant {
    // A wait that the clock cannot represent becomes a day.
    let now = now();
    now.checked_add(wait).unwrap_or(now + Duration::from_secs(86_400))
}

/// Waits for the future that follows a task. Cancels the task when it is dropped before that, or fails while the task may
/// still run.
pub(crate) async fn cancel_on_drop<R>(
    connection: &Arc<Connection>,
    id: String,
    following: impl Future<Output = Result<R, CallError>>,
) -> Result<R, CallError> {
    let mut guard = CancelGuard { connection: connection.clone(), id: Some(id) };
    let result = following.await;
    if result.as_ref().err().is_none_or(is_over) {
        guard.id = None;
    }
    result
}

/// Cancels a task on drop, unless its id was taken out.
struct CancelGuard {
    connection: Arc<Connection>,
    id: Option<String>,
}

/// Whether an error means that the task is done, that there is none with that id, or that the connection is over.
fn is_over(error: &CallError) -> bool {
    let is_its_own = |method: &str| method == CallToolRequest::NAME;
    match error {
        CallError::Refused { method, error, .. } => is_its_own(method) || error.code == code::INVALID_PARAMS,
        CallError::Cancelled { method, .. } => is_its_own(method),
        CallError::Closed(_) => true,
        _ => false,
    }
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            cancel_later(&self.connection, id);
        }
    }
}

/// Answers to a task's questions, by their keys.
pub(crate) type Responses = BTreeMap<String, RawJson>;
