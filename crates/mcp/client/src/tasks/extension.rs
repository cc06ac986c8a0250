//! The tasks of 2026-07-28, an extension: the server decides which calls become tasks, and asks questions through the task.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use agentwire_jsonrpc::{RawJson, RequestMethod};
use agentwire_mcp_schema::task_extension::{TaskStatus, UpdateTaskRequest};
use agentwire_mcp_schema::{CallToolRequest, EmptyResult, HasMeta, Meta};
use agentwire_peer::CallError;
use bytestring::ByteString;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt, select_biased};
use serde::{Deserialize, Serialize};

use super::deadline::Deadline;
use super::requests::{created, once, unusable};
use super::run::{Responses, Run, cancel_on_drop};
use crate::connection::Connection;
use crate::handler::answers::Question;
use crate::raw::{RawAnswer, RawCall};
use crate::request::input::{self, Questions, too_often};

/// Calls a tool, and follows the task that the server may make of it to its result. Any other call passes.
pub(crate) async fn call(connection: &Arc<Connection>, call: RawCall) -> Result<RawAnswer, CallError> {
    let (method, waits) = (call.method.clone(), call.options.waits);
    let (on_task, starts) = (call.options.on_task.clone(), call.options.starts_task);
    let answer = input::call(connection, call).await?;
    let Some(report) = created(connection, &method, &answer)? else {
        return Ok(answer);
    };
    if starts {
        return Ok(RawAnswer::of_task(answer.result, *report, None));
    }
    // Few calls become tasks: the future that follows one is not part of every call's.
    let following = async { follow(Run::of_call(connection, &report, Deadline::new(waits), on_task)).await };
    let result = cancel_on_drop(connection, report.task_id.clone(), following).boxed().await?;
    Ok(RawAnswer { rounds: answer.rounds, ..RawAnswer::new(result) })
}

/// Follows a task to its end, and answers its questions.
pub(crate) async fn follow(mut run: Run) -> Result<RawJson, CallError> {
    let mut questions = OpenQuestions::default();
    loop {
        let report = select_biased! {
            // A server may hold back the state of a task until it has these answers.
            answers = questions.pending.select_next_some() => {
                questions.ready.extend(answers?);
                if questions.pending.is_empty() {
                    run.deadline.resume();
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

/// The questions of a task that have no answer at the server yet.
#[derive(Default)]
struct OpenQuestions {
    /// The answers that are being made. Questions that came together are answered together: a server need not accept
    /// fewer.
    pending: FuturesUnordered<BoxFuture<'static, Result<Responses, CallError>>>,
    /// The keys of the pending and the ready answers.
    keys: HashSet<String>,
    /// The answers that have not reached the server yet.
    ready: Responses,
    rounds: usize,
}

impl OpenQuestions {
    /// Takes the task's current questions, and starts to answer the new ones.
    async fn take(
        &mut self,
        run: &mut Run,
        wanted: Option<BTreeMap<String, Question>>,
    ) -> Result<(), CallError> {
        let Some(mut wanted) = wanted else {
            return unusable("the task waits for answers, and does not say to what".to_owned());
        };
        // An answer that did not reach the server is sent again while the task still asks for it.
        self.ready.retain(|key, _| wanted.contains_key(key));
        self.send(run).await?;
        {
            let answered = run.answered.lock();
            wanted.retain(|key, _| !self.keys.contains(key) && !answered.contains(key));
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let limit = run.connection.answers.round_limit;
        if self.rounds == limit {
            return Err(too_often(ByteString::from_static(CallToolRequest::NAME), limit));
        }
        self.rounds += 1;
        self.keys.extend(wanted.keys().cloned());
        run.deadline.pause();
        let (connection, questions) = (run.connection.clone(), Questions::of_task(wanted));
        let answers = async move {
            let method = ByteString::from_static(CallToolRequest::NAME);
            Ok(questions.answer(&connection, &method).await?.into_responses())
        };
        self.pending.push(answers.boxed());
        Ok(())
    }

    /// Drops the questions, because the task no longer waits for answers.
    fn take_back(&mut self, run: &Run) {
        if !self.keys.is_empty() {
            self.pending.clear();
            self.keys.clear();
            self.ready.clear();
            run.deadline.resume();
        }
    }

    /// Sends the server the answers that are ready.
    async fn send(&mut self, run: &mut Run) -> Result<(), CallError> {
        if self.ready.is_empty() {
            return Ok(());
        }
        let update = Update { task_id: run.id.clone(), input_responses: self.ready.clone(), meta: None };
        let outcome = select_biased! {
            error = run.deadline.passed().fuse() => return Err(error),
            outcome = once(&run.connection, update, run.connection.server.waits).fuse() => outcome,
        };
        if let Some(EmptyResult { .. }) = run.done(outcome)? {
            let sent = std::mem::take(&mut self.ready).into_keys();
            run.answered.lock().extend(sent);
        }
        Ok(())
    }
}

/// An [`UpdateTaskRequest`] with answers that are JSON text.
#[derive(Debug, Serialize, Deserialize)]
#[serde(expecting = "an object")]
#[serde(rename_all = "camelCase")]
struct Update {
    task_id: String,
    input_responses: Responses,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta>,
}

impl RequestMethod for Update {
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
