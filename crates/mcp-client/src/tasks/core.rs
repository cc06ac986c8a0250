//! The tasks of 2025-11-25: the client decides, within what the server and the tool allow, and the server asks by
//! requests while it is asked for the result.

use std::any::Any;
use std::sync::Arc;

use agentwire_jsonrpc::{Method, RawJson, code};
use agentwire_mcp_schema::core_tasks::{
    CancelTaskRequest, GetTaskPayloadRequest, GetTaskRequest, TaskMetadata,
};
use agentwire_mcp_schema::task_extension::TaskStatus;
use agentwire_mcp_schema::{CallToolRequest, HasMeta, ProgressNotification, TaskSupport};
use agentwire_peer::CallError;
use agentwire_sync::Mutex;
use bytestring::ByteString;
use futures::{FutureExt, select_biased};
use serde::de::IgnoredAny;

use super::patience::Patience;
use super::run::{OpenHook, Run, follow as follow_to_end, leave_cancel, unusable};
use super::{CreatedTask, Report};
use crate::Server;
use crate::call::{self, Hook, Options, Waits};
use crate::era::stateless::is_listed;

/// What a server must have said for a tool to be called as a task.
const CAPABILITY: &str = "tasks.requests.tools.call";

/// Whether the server runs any tools as tasks.
pub(crate) fn is_offered(server: &Server) -> bool {
    server.tasks_settings().is_some()
        && server.revision().has_core_tasks()
        && server.capabilities().has(CAPABILITY)
}

/// Whether a request asks to be run as a task by a server that did not say that it does so.
pub(crate) fn must_not_ask<M: 'static>(server: &Server, request: &M) -> bool {
    let call = (request as &dyn Any).downcast_ref::<CallToolRequest>();
    call.is_some_and(|call| call.task.is_some()) && !is_offered(server)
}

/// Calls a tool, as a task where the caller or the tool wants it so, and gives the result.
pub(crate) async fn ask(
    server: Server,
    request: CallToolRequest,
    mut options: Options,
) -> Result<RawJson, CallError> {
    let must = |server: &Server| server.supports().of(&request.name) == Some(TaskSupport::Required);
    let hook = options.on_progress.take().map(|hook| Arc::new(Mutex::new(hook)));
    if request.task.is_none() && !must(&server) {
        let plain =
            Options { waits: options.waits, on_progress: hook.clone().map(shared), ..Options::default() };
        match call::ask(&server, request.clone(), plain).await {
            // So says a server whose tool must run as a task. Nothing was worked on.
            outcome
                if may_want_task(&outcome)
                    && server.supports().of(&request.name).is_none()
                    && is_listed(&server, &request.name).await
                    && must(&server) => {}
            outcome => return outcome,
        }
    }
    options.on_progress = hook.map(shared);
    let patience = Patience::new(options.waits);
    match create(&server, request, &mut options, &patience).await? {
        (CreatedTask::Done(result), _) => Ok(result),
        (CreatedTask::Task(report), _heard) => {
            follow_to_end(server, *report, patience, options.on_task).await
        }
    }
}

/// Whether that may be said of a tool that runs as a task only: by the protocol, that there is no such method. Some
/// servers give a result that says that the tool failed.
fn may_want_task(outcome: &Result<RawJson, CallError>) -> bool {
    match outcome {
        Ok(result) => result.member("isError").is_some_and(|is_error| is_error.as_str() == "true"),
        Err(error) => error.refusal().is_some_and(|error| error.code == code::METHOD_NOT_FOUND),
    }
}

fn shared(hook: Arc<Mutex<Hook>>) -> Hook {
    Box::new(move |report| hook.lock()(report))
}

/// Calls a tool as a task. Also gives what keeps its progress heard.
pub(crate) async fn create(
    server: &Server,
    mut request: CallToolRequest,
    options: &mut Options,
    patience: &Patience,
) -> Result<(CreatedTask, Option<OpenHook>), CallError> {
    select_biased! {
        allowed = refuse_if_forbidden(server, &request.name).fuse() => allowed?,
        error = patience.over().fuse() => return Err(error),
    }
    let task = request.task.get_or_insert_default();
    if let Some(ttl) = options.task_ttl {
        *task = TaskMetadata::default().ttl(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
    }
    let heard = options.on_progress.take().map(|mut hook| {
        let patience = patience.clone();
        let hook = move |report: ProgressNotification| {
            patience.restart();
            hook(report);
        };
        server.progress_hooks().open(Box::new(hook))
    });
    if let Some(heard) = &heard {
        request.set_progress_token(&heard.token());
    }
    let method = ByteString::from_static(CallToolRequest::NAME);
    let call = server.peer.call_method(method, Some(&request));
    let mut call = Begun { server: server.clone(), call: Some(call) };
    let created = select_biased! {
        created = call.wait().fuse() => created?,
        error = patience.over().fuse() => return Err(error),
    };
    Ok((created, heard))
}

/// Servers and tools must have said that they run as tasks. A tool that nobody has listed is looked up first.
async fn refuse_if_forbidden(server: &Server, tool: &str) -> Result<(), CallError> {
    let refuse = |why: &'static str| Err(CallError::not_allowed(CallToolRequest::NAME, why));
    if !server.capabilities().has(CAPABILITY) {
        return refuse("the server did not say that it runs tools as tasks");
    }
    if server.supports().of(tool).is_none() {
        is_listed(server, tool).await;
    }
    match server.supports().of(tool) {
        Some(TaskSupport::Forbidden) => refuse("the tool does not run as a task"),
        _ => Ok(()),
    }
}

/// A call that begins a task, and must not be cancelled like others: when it is given up, the task is cancelled as soon
/// as it has a name.
struct Begun {
    server: Server,
    call: Option<agentwire_peer::Call<CreatedTask>>,
}

impl Begun {
    async fn wait(&mut self) -> Result<CreatedTask, CallError> {
        let call = self.call.as_mut().expect("it is taken when it has ended, and waited for once");
        let created = call.await;
        self.call = None;
        created
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            let server = self.server.clone();
            let cancel = async move {
                if let Ok(CreatedTask::Task(report)) = call.await {
                    leave_cancel(&server, report.task_id);
                }
            };
            self.server.leave(cancel.boxed());
        }
    }
}

pub(crate) async fn state(server: &Server, id: &str) -> Result<Report, CallError> {
    let method = ByteString::from_static(GetTaskRequest::NAME);
    server.waits().apply(server.peer.call_method(method, Some(&GetTaskRequest::new(id)))).await
}

/// A server that does not say that it cancels tasks is not asked to.
pub(crate) async fn cancel(server: &Server, id: &str, waits: Waits) -> Result<(), CallError> {
    if !server.capabilities().has("tasks.cancel") {
        return Err(CallError::not_allowed(
            CancelTaskRequest::NAME,
            "the server did not say that it offers this",
        ));
    }
    let method = ByteString::from_static(CancelTaskRequest::NAME);
    let call = server.peer.call_method(method, Some(&CancelTaskRequest::new(id)));
    waits.apply(call).await.map(|IgnoredAny| ())
}

/// Follows a task to its end. It is asked for its result when there is one, or when it has something to ask.
pub(crate) async fn follow(mut run: Run) -> Result<RawJson, CallError> {
    loop {
        let Some(report) = run.report().await? else {
            continue;
        };
        let waits = match report.status {
            TaskStatus::Working => None,
            // It blocks until the task is done, however long that is.
            TaskStatus::InputRequired => Some(Waits::default()),
            TaskStatus::Completed | TaskStatus::Failed => Some(run.server.waits()),
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

/// Asks for the result. None where that failed on its way, or the server need not keep the task any more.
async fn result(run: &mut Run, waits: Waits) -> Result<Option<RawJson>, CallError> {
    let method = ByteString::from_static(GetTaskPayloadRequest::NAME);
    let request = GetTaskPayloadRequest::new(&*run.id);
    let call = waits.apply(run.server.peer.call_method(method, Some(&request)));
    let outcome = select_biased! {
        outcome = call.fuse() => outcome,
        error = run.patience.over().fuse() => return Err(error),
        () = run.expired().fuse() => return Ok(None),
    };
    match outcome {
        // It is what the call would have been refused with.
        Err(CallError::Refused { error, .. }) => Err(CallError::refused(CallToolRequest::NAME, error)),
        outcome => run.done(outcome),
    }
}
