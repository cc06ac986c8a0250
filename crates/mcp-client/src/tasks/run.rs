use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agentwire_jsonrpc::{Method, RawJson, code};
use agentwire_mcp_schema::task_extension::TaskStatus;
use agentwire_mcp_schema::{CallToolRequest, ProgressNotification, ProgressToken};
use agentwire_peer::{CallError, Clock, TokioClock};
use agentwire_sync::Mutex;
use futures::FutureExt;
use serde::de::DeserializeOwned;

use super::patience::{Patience, now};
use super::{Report, TaskHook, TaskState, Tasks, core, extension};
use crate::Server;
use crate::call::Waits;

/// How often in a row a request about a task may fail on its way.
const MOST_FAILURES: usize = 5;

/// The questions of a task that have been answered, by their keys.
pub(crate) type Answered = Arc<Mutex<HashSet<String>>>;

/// A task that is followed to its end.
pub(crate) struct Run {
    pub(crate) server: Server,
    pub(crate) id: String,
    pub(crate) answered: Answered,
    pub(crate) patience: Patience,
    settings: Tasks,
    hook: Option<TaskHook>,
    seen: Option<TaskState>,
    since: Instant,
    next: Instant,
    /// How often in a row it could not be asked after.
    failures: usize,
    /// How often in a row what else is to be done about it failed, which a server that can be asked after may go on with.
    failed_steps: usize,
}

impl Run {
    pub(crate) fn new(server: Server, id: String, patience: Patience, hook: Option<TaskHook>) -> Self {
        let settings = server.tasks_settings().cloned().unwrap_or_default();
        let (answered, since) = (Answered::default(), now());
        Self {
            server,
            id,
            answered,
            patience,
            settings,
            hook,
            seen: None,
            since,
            next: since,
            failures: 0,
            failed_steps: 0,
        }
    }

    /// Goes on from what was answered before.
    pub(crate) fn answered(mut self, answered: Answered) -> Self {
        self.answered = answered;
        self
    }

    /// Waits until the task is done, and gives its result. What comes before that end is the era's matter.
    pub(crate) async fn finish(self) -> Result<RawJson, CallError> {
        match self.server.is_stateless() {
            true => extension::follow(self).await,
            false => core::follow(self).await,
        }
    }

    /// Takes a report, and tells of it where it says something new.
    pub(crate) fn see(&mut self, report: &Report) {
        let state = report.state();
        self.failures = 0;
        self.next = after(self.settings.interval(state.poll_interval));
        if self.seen.as_ref() == Some(&state) {
            return;
        }
        if self.seen.is_some() {
            self.patience.restart();
        }
        if let Some(hook) = &self.hook {
            (*hook.lock())(&state);
        }
        self.seen = Some(state);
    }

    /// Completes when the server need not keep the task any more.
    pub(crate) async fn expired(&self) {
        let ttl = self.seen.as_ref().and_then(|state| state.ttl);
        match ttl.and_then(|ttl| self.since.checked_add(ttl)) {
            Some(deadline) => TokioClock::default().sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    }

    /// Asks how the task stands, once it is time for that. None where that failed on its way and is to be tried again.
    /// Dropping the future loses nothing: the task is asked after once more.
    pub(crate) async fn report(&mut self) -> Result<Option<Report>, CallError> {
        let report = {
            let asked = async {
                TokioClock::default().sleep_until(self.next).await;
                state(&self.server, &self.id).await
            };
            futures::select_biased! {
                error = self.patience.over().fuse() => return Err(error),
                report = asked.fuse() => report,
            }
        };
        match report {
            Ok(report) => {
                self.see(&report);
                Ok(Some(report))
            }
            Err(error) => {
                self.failures += 1;
                self.endure(self.failures, error).map(|()| None)
            }
        }
    }

    /// Takes what came of something else that was done about the task. None where that is to be tried again.
    pub(crate) fn done<T>(&mut self, outcome: Result<T, CallError>) -> Result<Option<T>, CallError> {
        match outcome {
            Ok(done) => {
                self.failed_steps = 0;
                Ok(Some(done))
            }
            Err(error) => {
                self.failed_steps += 1;
                self.endure(self.failed_steps, error).map(|()| None)
            }
        }
    }

    /// What fails on its way is tried again after a while: asking changes nothing, and an answer that comes twice is
    /// passed over.
    fn endure(&mut self, failures: usize, error: CallError) -> Result<(), CallError> {
        let again = matches!(error, CallError::Failed { .. } | CallError::TimedOut { .. });
        if !again || failures > MOST_FAILURES || self.server.peer.is_closed() {
            return Err(error);
        }
        let suggested = self.seen.as_ref().and_then(|state| state.poll_interval);
        self.next = after(self.settings.interval(suggested));
        Ok(())
    }

    /// Whether the task, which is not done, can still be waited for.
    pub(crate) fn check_age(&self) -> Result<(), CallError> {
        let ttl = self.seen.as_ref().and_then(|state| state.ttl);
        match ttl.and_then(|ttl| self.since.checked_add(ttl)) {
            Some(deadline) if deadline <= now() => unusable(format!(
                "the task has outlived its time, {:?}, and is not done",
                ttl.unwrap_or_default()
            )),
            _ => Ok(()),
        }
    }

    /// The end of a task of which this is all that there is to say.
    pub(crate) fn message(&self) -> &str {
        self.seen.as_ref().and_then(|state| state.message.as_deref()).unwrap_or("it does not say why")
    }
}

/// Follows a task to its end for a call that waits for it, and cancels it when the call is given up.
pub(crate) async fn follow(
    server: Server,
    report: Report,
    patience: Patience,
    hook: Option<TaskHook>,
) -> Result<RawJson, CallError> {
    let guard = Guard { server: server.clone(), id: Some(report.task_id.clone()) };
    let mut run = Run::new(server, report.task_id.clone(), patience, hook);
    run.see(&report);
    if report.status != TaskStatus::Working {
        // What it waits for, or what has come of it, does not stand there.
        run.next = now();
    }
    guard.keep(run.finish()).await
}

/// Asks once how a task stands.
pub(crate) async fn state(server: &Server, id: &str) -> Result<Report, CallError> {
    let report = match server.is_stateless() {
        true => extension::state(server, id).await?,
        false => core::state(server, id).await?,
    };
    if report.task_id != id {
        return unusable("the server answers of another task than it was asked".to_owned());
    }
    Ok(report)
}

/// Cancels a task.
pub(crate) async fn cancel(server: &Server, id: &str, waits: Waits) -> Result<(), CallError> {
    match server.is_stateless() {
        true => extension::cancel(server, id, waits).await,
        false => core::cancel(server, id, waits).await,
    }
}

/// Reads the result of a call.
pub(crate) fn decode<R: DeserializeOwned>(result: &RawJson) -> Result<R, CallError> {
    crate::result::decode_by_default(result)
        .map_err(|error| CallError::malformed(CallToolRequest::NAME, error.to_string()))
}

pub(crate) fn unusable<T>(why: String) -> Result<T, CallError> {
    Err(CallError::unusable(CallToolRequest::NAME, why))
}

fn after(wait: Duration) -> Instant {
    // A wait too long for the clock is a day, after which it is seen again.
    let now = now();
    now.checked_add(wait).unwrap_or(now + Duration::from_secs(86_400))
}

/// Cancels a task when the call is given up that waits for it.
struct Guard {
    server: Server,
    id: Option<String>,
}

impl Guard {
    /// Waits for what follows the task. Whatever that says, unless the task is done or gone, nobody waits for it then.
    async fn keep<R>(mut self, run: impl Future<Output = Result<R, CallError>>) -> Result<R, CallError> {
        let result = run.await;
        if result.as_ref().err().is_none_or(is_over) {
            self.id = None;
        }
        result
    }
}

/// Whether an error says that the task is done, that there is none of that name, or that nobody can be told.
fn is_over(error: &CallError) -> bool {
    let is_its_own = |method: &str| method == CallToolRequest::NAME;
    match error {
        CallError::Refused { method, error, .. } => is_its_own(method) || error.code == code::INVALID_PARAMS,
        CallError::Cancelled { method, .. } => is_its_own(method),
        CallError::Closed(_) => true,
        _ => false,
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            leave_cancel(&self.server, id);
        }
    }
}

/// Cancels a task that nobody waits for, and waits for no answer.
pub(crate) fn leave_cancel(server: &Server, id: String) {
    let owner = server.clone();
    // Whatever comes of it, nobody is there to hear it.
    let cancel = async move { drop(cancel(&owner, &id, brief()).await) };
    server.leave(cancel.boxed());
}

/// How long a request waits that nobody waits for.
pub(crate) fn brief() -> Waits {
    Waits { timeout: Some(Duration::from_secs(10)), progress_maximum: None }
}

type ProgressHook = Box<dyn FnMut(ProgressNotification) + Send>;

/// Those who hear of the progress of tasks: it goes on when the request is answered that began the task.
///
/// The tokens are words, which tells them from those of calls, and no two connections of a client have the same.
#[derive(Clone, Default)]
pub(crate) struct ProgressHooks(Arc<Mutex<HashMap<String, Arc<Mutex<ProgressHook>>>>>);

impl ProgressHooks {
    /// Until what this gives is dropped.
    pub(crate) fn open(&self, hook: ProgressHook) -> OpenHook {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let token = format!("task-{}", LAST.fetch_add(1, Ordering::Relaxed) + 1);
        let hook = Arc::new(Mutex::new(hook));
        self.0.lock().insert(token.clone(), hook);
        OpenHook { hooks: self.clone(), token }
    }

    /// Tells of progress whoever wants to hear of it.
    pub(crate) fn tell(&self, params: Option<&RawJson>) {
        let Some(report) = params.and_then(|params| params.decode::<ProgressNotification>().ok()) else {
            return;
        };
        let token = report.progress_token.as_request_id().as_str();
        let hook = token.and_then(|token| self.0.lock().get(&*token).cloned());
        if let Some(hook) = hook {
            hook.lock()(report);
        }
    }
}

/// A place among those who hear of progress.
pub(crate) struct OpenHook {
    hooks: ProgressHooks,
    token: String,
}

impl OpenHook {
    pub(crate) fn token(&self) -> ProgressToken {
        ProgressToken::from(&*self.token)
    }
}

impl Drop for OpenHook {
    fn drop(&mut self) {
        let hook = self.hooks.0.lock().remove(&self.token);
        drop(hook);
    }
}

/// Answers that are on their way to a task.
pub(crate) type Ready = BTreeMap<String, RawJson>;
