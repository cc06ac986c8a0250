//! The state of a task that runs in this process: its record, questions, answers and cancellation.

mod remote;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_mcp_schema::InputRequest;
use agentwire_mcp_schema::task_extension::TaskStatus;
use agentwire_peer::CallError;
use agentwire_sync::{Monitor, WaitUntil, Waiter};

use super::TaskRecord;
use crate::input::{AskError, AskErrorKind, Question, Questioner};

/// The state of a task that runs in this process: its record, open questions, their answers, and its cancellation. All
/// change under one lock.
///
/// A call that may become a task has one too, which is not registered yet.
pub(crate) struct TaskHandle {
    id: String,
    state: Monitor<TaskState>,
}

pub(crate) struct TaskState {
    record: TaskRecord,
    /// Whether the call is a task by now.
    is_task: bool,
    is_cancelled: bool,
    /// Whether it has ended, and that is written down or cannot be at present.
    is_written: bool,
    /// Whether its end is in the store, or will never be because its record is gone.
    is_stored: bool,
    /// Whether its function has ended and nothing remains to be written.
    is_done: bool,
    /// How often the record has changed.
    version: u64,
    /// Answers that the function has not taken yet.
    answers: BTreeMap<String, Result<RawJson, CallError>>,
    /// The keys of all questions so far. None is used twice.
    used: BTreeSet<String>,
    /// The open questions that a `tasks/result` request has sent to the client.
    claimed: BTreeSet<String>,
}

/// The end of a task.
pub(crate) enum Outcome {
    Result(RawJson),
    /// The result of a failed tool, where that makes its task a failed one, and the status message.
    Failure(RawJson, String),
    Error(ErrorObject),
}

impl Outcome {
    /// How many bytes are kept of it.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Result(result) => result.len(),
            Self::Failure(result, why) => result.len() + why.len(),
            Self::Error(error) => error.message.len() + error.data.as_ref().map_or(0, RawJson::len),
        }
    }
}

impl TaskHandle {
    pub(crate) fn new(record: TaskRecord) -> Arc<Self> {
        let state = TaskState {
            is_task: false,
            is_cancelled: false,
            is_written: false,
            is_stored: false,
            is_done: false,
            version: 0,
            answers: BTreeMap::new(),
            used: BTreeSet::new(),
            claimed: BTreeSet::new(),
            record,
        };
        Arc::new(Self { id: state.record.id.clone(), state: Monitor::new(state) })
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn record(&self) -> TaskRecord {
        self.state.with(|state| state.record.clone())
    }

    /// The record, and which version of it that is.
    pub(crate) fn now(&self) -> (u64, TaskRecord) {
        self.state.with(|state| (state.version, state.record.clone()))
    }

    /// Turns the call into a task.
    pub(crate) fn begin(&self) {
        self.state.update(|state| state.is_task = true);
    }

    pub(crate) fn is_task(&self) -> bool {
        self.state.with(|state| state.is_task)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.state.with(|state| state.is_cancelled)
    }

    /// Whether it has ended, and so cannot change.
    pub(crate) fn is_over(&self) -> bool {
        self.state.with(|state| state.record.is_final())
    }

    /// Completes when it is cancelled, or fails from outside.
    pub(crate) fn cancelled(self: &Arc<Self>) -> TaskCancelled {
        Waiter::new(HandleState(self.clone())).until(|state| state.is_cancelled.then_some(()))
    }

    /// Sets the status message, unless the task has ended.
    pub(crate) fn set_status(&self, message: String) {
        self.state.update(|state| {
            if !state.record.is_final() && state.record.status_message.as_ref() != Some(&message) {
                state.record.status_message = Some(message);
                state.touch();
            }
        });
    }

    /// Cancels it, unless it is done. Returns false if it is.
    pub(crate) fn cancel(&self, why: &str) -> bool {
        self.state.update(|state| {
            if state.record.is_final() {
                return false;
            }
            state.is_cancelled = true;
            state.record.status = TaskStatus::Cancelled;
            state.record.status_message = Some(why.to_owned());
            state.end();
            true
        })
    }

    /// Ends it, unless it has ended: a cancelled task stays cancelled.
    pub(crate) fn finish(&self, outcome: Outcome) {
        self.state.update(|state| {
            if state.record.is_final() {
                return;
            }
            match outcome {
                Outcome::Result(result) => {
                    state.record.status = TaskStatus::Completed;
                    state.record.result = Some(result);
                }
                Outcome::Failure(result, why) => {
                    state.record.status = TaskStatus::Failed;
                    state.record.status_message = Some(why);
                    state.record.result = Some(result);
                }
                Outcome::Error(error) => state.record.fail(error),
            }
            state.end();
        });
    }

    /// Fails it, unless it has ended, for a reason outside its function and its client. Also completes
    /// [`cancelled`](Self::cancelled).
    pub(crate) fn fail(&self, why: &str) {
        self.state.update(|state| {
            if !state.record.is_final() {
                state.is_cancelled = true;
                state.record.fail(ErrorObject::internal_error(why));
                state.end();
            }
        });
    }

    /// The end was written down, or could not be. False if that was so already.
    pub(crate) fn close(&self, is_stored: bool) -> bool {
        self.state.update(|state| {
            state.is_stored |= is_stored;
            !std::mem::replace(&mut state.is_written, true)
        })
    }

    pub(crate) fn is_stored(&self) -> bool {
        self.state.with(|state| state.is_stored)
    }

    /// The record, unless it is an end that the store may not have.
    pub(crate) fn shared(&self) -> Option<TaskRecord> {
        self.state.with(|state| (state.is_stored || !state.record.is_final()).then(|| state.record.clone()))
    }

    /// Records that its function has ended and nothing remains to be written.
    pub(crate) fn set_done(&self) {
        self.state.update(|state| state.is_done = true);
    }

    pub(crate) fn is_done(&self) -> bool {
        self.state.with(|state| state.is_done)
    }

    /// Waits until its function has ended and nothing remains to be written.
    pub(crate) async fn done(&self) {
        self.state.wait_until(|state| state.is_done.then_some(())).await;
    }

    /// Waits until it has ended, and that is written down or cannot be at present. Returns whether the store has it.
    pub(crate) async fn written(&self) -> bool {
        self.state.wait_until(|state| state.is_written.then_some(state.is_stored)).await
    }

    /// Waits until it has ended, and the store has that, or nothing writes it any more.
    pub(crate) async fn stored(&self) {
        self.state.wait_until(|state| (state.is_stored || state.is_done).then_some(())).await;
    }

    /// Asks, and waits for the answer, undecoded.
    pub(crate) async fn ask_raw(&self, key: &str, request: InputRequest) -> Result<RawJson, AskError> {
        self.state.update(|state| {
            if state.record.is_final() {
                return Err(AskError::from(AskErrorKind::Over));
            }
            if !state.used.insert(key.to_owned()) {
                return Err(AskError::from(AskErrorKind::Reused { key: key.to_owned() }));
            }
            state.record.input_requests.insert(key.to_owned(), request);
            state.record.status = TaskStatus::InputRequired;
            state.touch();
            Ok(())
        })?;
        let _withdrawn_when_dropped = OpenQuestion { handle: self, key };
        let answer = self.state.wait_until(|state| match state.answers.remove(key) {
            Some(answer) => Some(answer.map_err(AskError::from)),
            None => state.record.is_final().then_some(Err(AskError::from(AskErrorKind::Over))),
        });
        answer.await
    }

    /// Passes answers to open questions. Ignores answers to others.
    pub(crate) fn answer(&self, answers: impl IntoIterator<Item = (String, Result<RawJson, CallError>)>) {
        self.state.update(|state| {
            for (key, answer) in answers {
                if state.close(&key) {
                    state.answers.insert(key, answer);
                }
            }
        });
    }

    /// The question of that key, while it is open.
    pub(crate) fn question(&self, key: &str) -> Option<InputRequest> {
        self.state.with(|state| state.record.input_requests.get(key).cloned())
    }

    /// Claims an open question that no other request has claimed, except those passed over. Waits until there is one. None
    /// once the task has ended.
    pub(crate) async fn claim_question(
        self: &Arc<Self>,
        passed_over: &BTreeSet<String>,
    ) -> Option<(QuestionClaim, InputRequest)> {
        let question = self.state.wait_until(|state| {
            if state.record.is_final() {
                return Some(None);
            }
            let mut open = state.record.input_requests.iter();
            let (key, request) =
                open.find(|(key, _)| !state.claimed.contains(*key) && !passed_over.contains(*key))?;
            let (key, request) = (key.clone(), request.clone());
            state.claimed.insert(key.clone());
            Some(Some((key, request)))
        });
        let (key, request) = question.await?;
        Some((QuestionClaim { handle: self.clone(), key }, request))
    }

    /// Waits until the record is another one than that version.
    pub(crate) async fn changed(&self, version: u64) -> (u64, TaskRecord) {
        self.state
            .wait_until(|state| (state.version != version).then(|| (state.version, state.record.clone())))
            .await
    }
}

/// A question stays open until a client brings the answer, or the task ends.
impl Questioner for TaskHandle {
    async fn ask<Q: Question>(&self, key: &str, question: Q) -> Result<Q::Response, AskError> {
        let answer = self.ask_raw(key, question.into()).await?;
        answer.decode_leniently().map_err(|why| AskError::wrong(key, why.to_string(), false))
    }
}

impl TaskState {
    fn touch(&mut self) {
        self.record.touch();
        self.version += 1;
    }

    /// Closes all questions.
    fn end(&mut self) {
        self.record.input_requests.clear();
        self.claimed.clear();
        self.touch();
    }

    /// Removes an open question. If it was the last one, the task is working again. Returns false if it is not open.
    fn close(&mut self, key: &str) -> bool {
        let was_open = self.record.input_requests.remove(key).is_some();
        self.claimed.remove(key);
        if was_open {
            if self.record.input_requests.is_empty() {
                self.record.status = TaskStatus::Working;
            }
            self.touch();
        }
        was_open
    }
}

/// See [`TaskHandle::cancelled`].
pub(crate) type TaskCancelled = WaitUntil<TaskState, HandleState, fn(&mut TaskState) -> Option<()>>;

/// The state of a handle that this owns a share of.
pub(crate) struct HandleState(Arc<TaskHandle>);

impl Deref for HandleState {
    type Target = Monitor<TaskState>;

    fn deref(&self) -> &Monitor<TaskState> {
        &self.0.state
    }
}

/// An open question. It is withdrawn when this is dropped.
struct OpenQuestion<'a> {
    handle: &'a TaskHandle,
    key: &'a str,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.handle.state.update(|state| {
            state.answers.remove(self.key);
            state.close(self.key);
        });
    }
}

/// A question that a request sends to its client. Other requests can claim it again when this is dropped.
pub(crate) struct QuestionClaim {
    handle: Arc<TaskHandle>,
    key: String,
}

impl QuestionClaim {
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Waits until the question is closed.
    pub(crate) async fn withdrawn(&self) {
        self.handle
            .state
            .wait_until(|state| (!state.record.input_requests.contains_key(&self.key)).then_some(()))
            .await;
    }

    pub(crate) fn answer(self, answer: Result<RawJson, CallError>) {
        self.handle.answer([(self.key.clone(), answer)]);
    }
}

impl Drop for QuestionClaim {
    fn drop(&mut self) {
        self.handle.state.update(|state| state.claimed.remove(&self.key));
    }
}
