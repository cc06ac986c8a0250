//! The tasks of 2026-07-28: the server decides, and asks through the task itself.

use std::collections::{BTreeMap, HashSet};

use agentwire_jsonrpc::{Method, RawJson};
use agentwire_mcp_schema::task_extension::{
    CancelTaskRequest, GetTaskRequest, TaskStatus, UpdateTaskRequest,
};
use agentwire_mcp_schema::{CallToolRequest, EmptyResult, HasMeta, Meta};
use agentwire_peer::CallError;
use bytestring::ByteString;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt, select_biased};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Report;
use super::run::{Ready, Run, unusable};
use crate::Server;
use crate::call::{Options, Waits};
use crate::era::input::{Question, Wanted, too_often};
use crate::era::stateless::{Reached, reach};

/// How many characters of a task's name stand in an error.
const MOST_NAMED: usize = 64;

/// Takes a task for an answer, where it may be one.
pub(crate) fn begun<M: Method, R: DeserializeOwned>(
    server: &Server,
    task: &RawJson,
) -> Result<Reached<R>, CallError> {
    let method = ByteString::from_static(M::NAME);
    let malformed = |error: serde_json::Error| CallError::malformed(method.clone(), error.to_string());
    // The specification's own examples call so what says how a task stands.
    if M::NAME == GetTaskRequest::NAME {
        return task.decode().map(Reached::Complete).map_err(malformed);
    }
    let report: Report = task.decode().map_err(malformed)?;
    let name: String = report.task_id.chars().take(MOST_NAMED).collect();
    let why = if M::NAME != CallToolRequest::NAME {
        format!("the server made a task of it ({name:?}), where the protocol does not let it")
    } else if server.tasks_settings().is_none() {
        format!(
            "the server made a task of it ({name:?}), though this client did not say that it handles tasks"
        )
    } else {
        return Ok(Reached::Task(Box::new(report)));
    };
    Err(CallError::unusable(method, why))
}

pub(crate) async fn state(server: &Server, id: &str) -> Result<Report, CallError> {
    once(server, GetTaskRequest::new(id), server.waits()).await
}

pub(crate) async fn cancel(server: &Server, id: &str, waits: Waits) -> Result<(), CallError> {
    once(server, CancelTaskRequest::new(id), waits).await.map(|EmptyResult { .. }| ())
}

/// Makes a request about a task, which itself is none.
async fn once<M, R>(server: &Server, request: M, waits: Waits) -> Result<R, CallError>
where
    M: Method + HasMeta,
    R: DeserializeOwned,
{
    match reach(server, request, Options { waits, ..Options::default() }).await?.0 {
        Reached::Complete(result) => Ok(result),
        Reached::Task(_) => unusable("the server answers a question about a task with a task".to_owned()),
    }
}

/// Follows a task to its end, and answers what it asks meanwhile.
pub(crate) async fn follow(mut run: Run) -> Result<RawJson, CallError> {
    let mut questions = Questions::default();
    loop {
        let report = select_biased! {
            // Whoever waits with the word on how the task stands may wait for these.
            answers = questions.asked.select_next_some() => {
                questions.ready.extend(answers?);
                if questions.asked.is_empty() {
                    run.patience.resume();
                }
                questions.send(&mut run).await?;
                continue;
            }
            report = run.report().fuse() => report?,
        };
        let Some(report) = report else {
            continue;
        };
        match report.status {
            TaskStatus::Working => questions.take_back(&run),
            TaskStatus::InputRequired => questions.take(&mut run, report.input_requests).await?,
            TaskStatus::Completed => {
                return match report.result {
                    Some(result) => Ok(result),
                    None => unusable("the task is done, and has no result".to_owned()),
                };
            }
            TaskStatus::Failed => {
                return match report.error {
                    Some(error) => Err(CallError::refused(CallToolRequest::NAME, error)),
                    None => unusable(format!("the task failed: {}", run.message())),
                };
            }
            TaskStatus::Cancelled => return Err(CallError::cancelled(CallToolRequest::NAME)),
            status => return unusable(format!("the task is `{status}`, which this client does not know")),
        }
        run.check_age()?;
    }
}

/// What a task asks.
#[derive(Default)]
struct Questions {
    /// What is being found out. What was asked at once is answered at once: a server need not take less.
    asked: FuturesUnordered<BoxFuture<'static, Result<Ready, CallError>>>,
    /// The keys of these, and of what is ready.
    keys: HashSet<String>,
    /// What was found out, and has not reached the server yet.
    ready: Ready,
    rounds: usize,
}

impl Questions {
    /// Takes what the task asks now, and finds out what of it has not been found out before.
    async fn take(
        &mut self,
        run: &mut Run,
        wanted: Option<BTreeMap<String, Question>>,
    ) -> Result<(), CallError> {
        let Some(mut wanted) = wanted else {
            return unusable("the task waits for answers, and does not say to what".to_owned());
        };
        // What did not reach the server, and is still asked for, is said once more.
        self.ready.retain(|key, _| wanted.contains_key(key));
        self.send(run).await?;
        {
            let answered = run.answered.lock();
            wanted.retain(|key, _| !self.keys.contains(key) && !answered.contains(key));
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let limit = run.server.answers().round_limit;
        if self.rounds == limit {
            return Err(too_often(CallToolRequest::NAME, limit));
        }
        self.rounds += 1;
        self.keys.extend(wanted.keys().cloned());
        run.patience.pause();
        let (server, wanted) = (run.server.clone(), Wanted::of(wanted));
        let find_out = async move {
            let round = wanted.answer(&server, CallToolRequest::NAME).await?;
            Ok(round.into_responses())
        };
        self.asked.push(find_out.boxed());
        Ok(())
    }

    /// The task does not wait for answers any more, so neither is anybody asked for them.
    fn take_back(&mut self, run: &Run) {
        if !self.keys.is_empty() {
            self.asked.clear();
            self.keys.clear();
            self.ready.clear();
            run.patience.resume();
        }
    }

    /// Gives the server what is ready.
    async fn send(&mut self, run: &mut Run) -> Result<(), CallError> {
        if self.ready.is_empty() {
            return Ok(());
        }
        let update = Update { task_id: run.id.clone(), input_responses: self.ready.clone(), meta: None };
        let outcome = select_biased! {
            error = run.patience.over().fuse() => return Err(error),
            outcome = once(&run.server, update, run.server.waits()).fuse() => outcome,
        };
        if let Some(EmptyResult { .. }) = run.done(outcome)? {
            let sent = std::mem::take(&mut self.ready).into_keys();
            run.answered.lock().extend(sent);
        }
        Ok(())
    }
}

/// An [`UpdateTaskRequest`] whose answers are text already.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    task_id: String,
    input_responses: Ready,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta>,
}

impl Method for Update {
    const NAME: &'static str = UpdateTaskRequest::NAME;
    type Response = EmptyResult;
}

impl HasMeta for Update {
    fn meta_ref(&self) -> Option<&Meta> {
        self.meta.as_ref()
    }

    fn meta_slot(&mut self) -> &mut Option<Meta> {
        &mut self.meta
    }
}
