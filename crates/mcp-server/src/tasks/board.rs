use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_mcp_schema::InputRequest;
use agentwire_mcp_schema::task_extension::TaskStatus;
use agentwire_peer::CallError;
use agentwire_sync::{Monitor, WaitUntil, Waiter};

use super::TaskRecord;
use crate::ask::{AskError, Kind};

/// Where a task that runs in this process, and those who ask for it, meet: how it stands, what it asks, what it was
/// answered, and that it is to end. The record is a part of it, so that nobody sees one without the other.
///
/// A call that may yet become a task has one too, which nobody else knows.
pub(crate) struct Board {
    id: String,
    state: Monitor<State>,
}

pub(crate) struct State {
    record: TaskRecord,
    /// Whether the call is a task by now.
    is_task: bool,
    is_cancelled: bool,
    /// Whether it has ended, and that is written down.
    is_written: bool,
    /// How often the record has changed.
    version: u64,
    /// What has come for questions, until whoever asked takes it.
    answers: BTreeMap<String, Result<RawJson, CallError>>,
    /// The keys of all questions so far. None is used twice.
    used: BTreeSet<String>,
    /// The open questions that somebody has taken to the client.
    taken: BTreeSet<String>,
}

/// What becomes of a task.
pub(crate) enum Outcome {
    Result(RawJson),
    /// The result of a tool that failed, where that makes its task a failed one; and why, in words.
    Failure(RawJson, String),
    Error(ErrorObject),
}

impl Outcome {
    /// How many bytes are kept of it.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Result(result) => result.len(),
            Self::Failure(result, why) => result.len() + why.len(),
            Self::Error(error) => error.message.len() + error.data.as_ref().map_or(0, RawJson::len),
        }
    }
}

impl Board {
    pub(crate) fn new(record: TaskRecord) -> Arc<Self> {
        let state = State {
            is_task: false,
            is_cancelled: false,
            is_written: false,
            version: 0,
            answers: BTreeMap::new(),
            used: BTreeSet::new(),
            taken: BTreeSet::new(),
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

    /// From now on the call is a task.
    pub(crate) fn begin(&self) {
        self.state.update(|state| state.is_task = true);
    }

    pub(crate) fn is_task(&self) -> bool {
        self.state.with(|state| state.is_task)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.state.with(|state| state.is_cancelled)
    }

    /// Whether it can change no more.
    pub(crate) fn is_over(&self) -> bool {
        self.state.with(|state| state.record.is_final())
    }

    /// Completes when it is to end before it is done.
    pub(crate) fn cancelled(self: &Arc<Self>) -> TaskCancelled {
        Waiter::new(BoardState(self.clone())).until(|state| state.is_cancelled.then_some(()))
    }

    /// Says in words how it stands.
    pub(crate) fn say(&self, message: String) {
        self.state.update(|state| {
            if !state.record.is_final() && state.record.status_message.as_ref() != Some(&message) {
                state.record.status_message = Some(message);
                state.touch();
            }
        });
    }

    /// Cancels it, unless it is done. False if it is.
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

    /// Ends it, unless it has ended: what is cancelled stays cancelled.
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

    /// Ends it, unless it has ended, for a reason that is neither its function's nor its client's. Whoever waits for its
    /// cancellation has nothing more to wait for.
    pub(crate) fn give_up(&self, why: &str) {
        self.state.update(|state| {
            if !state.record.is_final() {
                state.is_cancelled = true;
                state.record.fail(ErrorObject::internal_error(why));
                state.end();
            }
        });
    }

    /// Nobody writes anything down any more. False if that was so already.
    pub(crate) fn close(&self) -> bool {
        self.state.update(|state| !std::mem::replace(&mut state.is_written, true))
    }

    /// Waits until it has ended, and that is written down.
    pub(crate) async fn written(&self) {
        self.state.wait_until(|state| state.is_written.then_some(())).await;
    }

    /// Asks, and waits for the answer: its JSON, or why there is none.
    pub(crate) async fn ask(&self, key: &str, request: InputRequest) -> Result<RawJson, AskError> {
        self.state.update(|state| {
            if state.record.is_final() {
                return Err(AskError(Kind::Over));
            }
            if !state.used.insert(key.to_owned()) {
                return Err(AskError(Kind::Taken { key: key.to_owned() }));
            }
            state.record.input_requests.insert(key.to_owned(), request);
            state.record.status = TaskStatus::InputRequired;
            state.touch();
            Ok(())
        })?;
        let _withdrawn_when_dropped = Open { board: self, key };
        let answer = self.state.wait_until(|state| match state.answers.remove(key) {
            Some(answer) => Some(answer.map_err(AskError::from)),
            None => state.record.is_final().then_some(Err(AskError(Kind::Over))),
        });
        answer.await
    }

    /// Gives the answers to some of what is open. Others are passed over.
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

    /// Takes an open question that nobody else takes to the client, and none of those; waits until there is one. None once
    /// the task is done.
    pub(crate) async fn take_question(
        self: &Arc<Self>,
        passed_over: &BTreeSet<String>,
    ) -> Option<(Taken, InputRequest)> {
        let question = self.state.wait_until(|state| {
            if state.record.is_final() {
                return Some(None);
            }
            let mut open = state.record.input_requests.iter();
            let (key, request) =
                open.find(|(key, _)| !state.taken.contains(*key) && !passed_over.contains(*key))?;
            let (key, request) = (key.clone(), request.clone());
            state.taken.insert(key.clone());
            Some(Some((key, request)))
        });
        let (key, request) = question.await?;
        Some((Taken { board: self.clone(), key }, request))
    }

    /// Waits until the record is another one than that version.
    pub(crate) async fn changed(&self, version: u64) -> (u64, TaskRecord) {
        self.state
            .wait_until(|state| (state.version != version).then(|| (state.version, state.record.clone())))
            .await
    }
}

impl State {
    fn touch(&mut self) {
        self.record.touch();
        self.version += 1;
    }

    /// Nothing is asked any more.
    fn end(&mut self) {
        self.record.input_requests.clear();
        self.taken.clear();
        self.touch();
    }

    /// Takes an open question away. The task works again where it was the last one. False if it is not open.
    fn close(&mut self, key: &str) -> bool {
        let was_open = self.record.input_requests.remove(key).is_some();
        self.taken.remove(key);
        if was_open {
            if self.record.input_requests.is_empty() {
                self.record.status = TaskStatus::Working;
            }
            self.touch();
        }
        was_open
    }
}

/// See [`Board::cancelled`].
pub(crate) type TaskCancelled = WaitUntil<State, BoardState, fn(&mut State) -> Option<()>>;

/// The state of a board that this owns a share of.
pub(crate) struct BoardState(Arc<Board>);

impl Deref for BoardState {
    type Target = Monitor<State>;

    fn deref(&self) -> &Monitor<State> {
        &self.0.state
    }
}

/// A question that is withdrawn where nobody waits for its answer any more.
struct Open<'a> {
    board: &'a Board,
    key: &'a str,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.board.state.update(|state| {
            state.answers.remove(self.key);
            state.close(self.key);
        });
    }
}

/// A question that somebody has taken to the client. It is there for others again when this is dropped.
pub(crate) struct Taken {
    board: Arc<Board>,
    key: String,
}

impl Taken {
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Waits until it is not open any more.
    pub(crate) async fn withdrawn(&self) {
        self.board
            .state
            .wait_until(|state| (!state.record.input_requests.contains_key(&self.key)).then_some(()))
            .await;
    }

    pub(crate) fn answer(self, answer: Result<RawJson, CallError>) {
        self.board.answer([(self.key.clone(), answer)]);
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.board.state.update(|state| state.taken.remove(&self.key));
    }
}
