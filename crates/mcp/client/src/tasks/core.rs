//! The tasks of 2025-11-25, part of that revision's core protocol: the client decides what becomes a task, within what the
//! server and the tool allow. The server sends its questions as requests while `tasks/result` is open.

use std::sync::Arc;

use agentwire_jsonrpc::{RawJson, RawObject, RequestMethod, code};
use agentwire_mcp_schema::core_tasks::{GetTaskPayloadRequest, TaskMetadata};
use agentwire_mcp_schema::task_extension::TaskStatus;
use agentwire_mcp_schema::{CallToolRequest, ProgressNotification, ProgressToken, TaskSupport};
use agentwire_mcp_wire::meta::PROGRESS_TOKEN;
use agentwire_peer::CallError;
use agentwire_peer::runtime::PeerExt;
use bytestring::ByteString;
use futures_util::{FutureExt, select_biased};

use super::deadline::Deadline;
use super::report::CreatedTask;
use super::requests::{cancel_later, unusable};
use super::run::{Run, cancel_on_drop};
use crate::connection::Connection;
use crate::handler::hooks::{ProgressRegistration, contained};
use crate::raw::{RawAnswer, RawCall, Waits, with_meta};
use crate::request::{lookup, send};

/// The capability without which no tool runs as a task.
const CAPABILITY: &str = "tasks.requests.tools.call";

/// Whether the server runs any tools as tasks, and the client follows them.
fn is_offered(connection: &Connection) -> bool {
    connection.tasks.is_some()
        && connection.server.revision.has_core_tasks()
        && connection.server.capabilities.has(CAPABILITY)
}

/// Whether a call may become a task.
pub(crate) fn follows(connection: &Connection, call: &RawCall) -> bool {
    &*call.method == CallToolRequest::NAME && (call.options.starts_task || is_offered(connection))
}

/// The error of a call that asks for a task although the server runs none.
pub(crate) fn refusal(connection: &Connection, call: &RawCall) -> Option<CallError> {
    let asks = connection.server.revision.has_core_tasks()
        && &*call.method == CallToolRequest::NAME
        && !call.options.starts_task
        && asks_for_task(call)
        && !is_offered(connection);
    let why = "it cannot run as a task: the server or this client does not have tasks";
    asks.then(|| CallError::not_allowed(CallToolRequest::NAME, why))
}

fn asks_for_task(call: &RawCall) -> bool {
    // Few calls contain the word at all, and a text search is faster than parsing the members.
    call.params.as_str().contains("\"task\"") && call.params.member("task").is_some()
}

/// Calls a tool, as a task where the caller or the tool wants it, and returns the result. Passes any
/// other call of a session on.
pub(crate) async fn call(connection: &Arc<Connection>, mut call: RawCall) -> Result<RawAnswer, CallError> {
    if !follows(connection, &call) {
        return send::call(connection, &mut call).await;
    }
    let starts = call.options.starts_task;
    let tool = call.tool().unwrap_or_default().into_owned();
    let support = || connection.tools.as_ref().and_then(|tools| tools.task_support(&tool));
    let must = || support() == Some(TaskSupport::Required);
    if !starts && !asks_for_task(&call) && !must() {
        match send::call(connection, &mut call).await {
            // A server refuses a plain call of a tool that must run as a task, before it does any work.
            outcome
                if may_want_task(&outcome)
                    && support().is_none()
                    && lookup::find(connection, &tool).await
                    && must() => {}
            outcome => return outcome,
        }
    }
    let deadline = Deadline::new(call.options.waits);
    let (created, registration) = create(connection, &call, &tool, &deadline).await?;
    let report = match created {
        CreatedTask::Done(result) => return Ok(RawAnswer::new(result)),
        CreatedTask::Task { report, result } if starts => {
            return Ok(RawAnswer::of_task(result, *report, registration));
        }
        CreatedTask::Task { report, .. } => report,
    };
    let following = async { follow(Run::of_call(connection, &report, deadline, call.options.on_task)).await };
    let result = cancel_on_drop(connection, report.task_id.clone(), following).await?;
    drop(registration);
    Ok(RawAnswer::new(result))
}

/// Whether a server may answer this about a tool that runs only as a task. The protocol wants "method not found". Some
/// servers return a result with `isError`.
fn may_want_task(outcome: &Result<RawAnswer, CallError>) -> bool {
    match outcome {
        Ok(answer) => answer.result.member("isError").is_some_and(|is_error| is_error.as_str() == "true"),
        Err(error) => error.refusal().is_some_and(|error| error.code == code::METHOD_NOT_FOUND),
    }
}

/// Calls a tool as a task. The registration keeps its progress hook.
async fn create(
    connection: &Arc<Connection>,
    call: &RawCall,
    tool: &str,
    deadline: &Deadline,
) -> Result<(CreatedTask, Option<ProgressRegistration>), CallError> {
    select_biased! {
        allowed = refuse_if_forbidden(connection, tool).fuse() => allowed?,
        error = deadline.passed().fuse() => return Err(error),
    }
    let hook = call.options.on_progress.clone();
    let registration = (hook.is_some() || call.is_extended_by_progress()).then(|| {
        let deadline = deadline.clone();
        connection.progress_hooks.register(move |report: ProgressNotification| {
            deadline.restart();
            if let Some(hook) = &hook {
                contained(|| hook.lock()(report));
            }
        })
    });
    let token = registration.as_ref().map(ProgressRegistration::token);
    let params = task_params(call, token.as_ref())
        .map_err(|why| CallError::not_allowed(CallToolRequest::NAME, why.to_string()))?;
    let sent = connection.peer.call_encoded(call.method.clone(), Some(params));
    let mut sent = CreateCall { connection: connection.clone(), call: Some(sent) };
    let created = select_biased! {
        created = sent.wait().fuse() => created?,
        error = deadline.passed().fuse() => return Err(error),
    };
    Ok((created, registration))
}

/// The parameters of a call with the member `task`.
fn task_params(call: &RawCall, token: Option<&ProgressToken>) -> Result<RawJson, serde_json::Error> {
    let mut params = call.params.clone();
    if let Some(token) = token {
        params = with_meta(&params, PROGRESS_TOKEN, RawJson::encode(token)?);
    }
    if call.options.task_ttl.is_none() && asks_for_task(call) {
        return Ok(params);
    }
    let task = match call.options.task_ttl {
        Some(ttl) => TaskMetadata::default().ttl(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX)),
        None => TaskMetadata::default(),
    };
    let mut params = RawObject::try_from(params)?;
    params.insert("task", RawJson::encode(&task)?);
    Ok(params.into())
}

/// Fails where the server or the tool does not run as a task. A tool that was not listed is looked up first.
async fn refuse_if_forbidden(connection: &Connection, tool: &str) -> Result<(), CallError> {
    let refuse = |why: &'static str| Err(CallError::not_allowed(CallToolRequest::NAME, why));
    if !connection.server.capabilities.has(CAPABILITY) {
        return refuse("the server does not run tools as tasks");
    }
    let support = || connection.tools.as_ref().and_then(|tools| tools.task_support(tool));
    if support().is_none() {
        lookup::find(connection, tool).await;
    }
    match support() {
        Some(TaskSupport::Forbidden) => refuse("the tool does not run as a task"),
        _ => Ok(()),
    }
}

/// A request that creates a task. The protocol forbids cancelling it by `notifications/cancelled`. When it is dropped, the
/// task is cancelled as soon as it has an id.
struct CreateCall {
    connection: Arc<Connection>,
    call: Option<agentwire_peer::Call<CreatedTask>>,
}

impl CreateCall {
    async fn wait(&mut self) -> Result<CreatedTask, CallError> {
        let call = self.call.as_mut().expect("it is taken when it has ended, and waited for once");
        let created = call.await;
        self.call = None;
        created
    }
}

impl Drop for CreateCall {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            let connection = self.connection.clone();
            let cancel = async move {
                if let Ok(CreatedTask::Task { report, .. }) = call.await {
                    cancel_later(&connection, report.task_id);
                }
            };
            self.connection.cleanup.push(cancel.boxed());
        }
    }
}

/// Follows a task to its end. Requests the result when the task has one, or when it has questions.
pub(crate) async fn follow(mut run: Run) -> Result<RawJson, CallError> {
    loop {
        let Some(report) = run.report().await? else {
            continue;
        };
        let waits = match report.status {
            TaskStatus::Working => None,
            // The server answers only when the task is done.
            TaskStatus::InputRequired => Some(Waits::default()),
            TaskStatus::Completed | TaskStatus::Failed => Some(run.connection.server.waits),
            TaskStatus::Cancelled => return Err(CallError::cancelled(CallToolRequest::NAME)),
            status => return unusable(format!("the task is `{status}`, which this client does not know")),
        };
        if let Some(waits) = waits
            && let Some(result) = result(&mut run, waits).await?
        {
            return Ok(result);
        }
        run.check_age()?;
    }
}

/// Requests the result. Returns `None` if the transport failed, or if the task's time to live is over.
async fn result(run: &mut Run, waits: Waits) -> Result<Option<RawJson>, CallError> {
    let method = ByteString::from_static(GetTaskPayloadRequest::NAME);
    let request = GetTaskPayloadRequest::new(&*run.id);
    let call = waits.apply(run.connection.peer.call_method(method, Some(&request)));
    let outcome = select_biased! {
        outcome = call.fuse() => outcome,
        error = run.deadline.passed().fuse() => return Err(error),
        () = run.expired().fuse() => return Ok(None),
    };
    match outcome {
        // The call itself would have been refused with this error.
        Err(CallError::Refused { error, .. }) => Err(CallError::refused(CallToolRequest::NAME, error)),
        outcome => run.done(outcome),
    }
}
