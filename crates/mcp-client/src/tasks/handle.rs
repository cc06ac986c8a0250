use std::fmt;
use std::sync::Arc;

use agentwire_jsonrpc::Method;
use agentwire_mcp_schema::task_extension::{self, GetTaskRequest};
use agentwire_mcp_schema::{CallToolRequest, CallToolResult};
use agentwire_peer::CallError;
use agentwire_sync::Mutex;

use super::patience::Patience;
use super::run::{self, Answered, OpenHook, Run};
use super::{CreatedTask, Report, TaskHook, TaskState, core, decode};
use crate::Server;
use crate::call::Options;
use crate::era::stateless::{self, Reached};

/// What became of a call that may run as a task: [`Call::start`](crate::Call::start).
#[derive(Debug)]
#[non_exhaustive]
pub enum Started {
    /// The server has answered at once.
    Done(CallToolResult),
    /// The server works on it.
    Task(Task),
}

impl Started {
    /// The result, however long it takes; see [`Task::result`].
    ///
    /// # Errors
    ///
    /// As [`Task::result`] says.
    pub async fn result(self) -> Result<CallToolResult, CallError> {
        match self {
            Self::Done(result) => Ok(result),
            Self::Task(task) => task.result().await,
        }
    }
}

/// A handle on a call that a server works on, and will have the result of.
///
/// The work belongs to the server: it goes on when the handle is dropped and when the connection ends.
/// [`Server::task`](crate::Server::task) gives another handle by the task's [id](Self::id), also on another connection
/// of whoever is the same to the server. Whoever wants to find it again after a crash keeps the id.
pub struct Task {
    server: Server,
    id: String,
    /// The tool, where it is known.
    tool: Option<String>,
    /// How it stood when it was created.
    first: Option<TaskState>,
    hook: Option<TaskHook>,
    answered: Answered,
    _heard: Option<OpenHook>,
}

impl Task {
    pub(crate) fn known(server: Server, id: String) -> Self {
        let (answered, _heard) = (Answered::default(), None);
        Self { server, id, tool: None, first: None, hook: None, answered, _heard }
    }

    fn created(
        server: Server,
        tool: String,
        report: &Report,
        hook: Option<TaskHook>,
        heard: Option<OpenHook>,
    ) -> Self {
        let mut task = Self::known(server, report.task_id.clone());
        task.tool = Some(tool);
        task.first = Some(report.state());
        task.hook = hook;
        task._heard = heard;
        task
    }

    /// The name that the server has given it. Keep it to come back to it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How it stood when the server created it; none for one that was [found by its id](crate::Server::task).
    pub fn first_state(&self) -> Option<&TaskState> {
        self.first.as_ref()
    }

    /// Hears how it stands while [`result`](Self::result) waits, whenever that is something else than before.
    #[must_use]
    pub fn on_state(mut self, hook: impl FnMut(&TaskState) + Send + 'static) -> Self {
        self.hook = Some(Arc::new(Mutex::new(Box::new(hook))));
        self
    }

    /// Asks how it stands, now. Nothing that it asks is answered.
    ///
    /// # Errors
    ///
    /// [`CallError::Refused`] if there is no such task, or none any more.
    pub async fn state(&self) -> Result<TaskState, CallError> {
        run::state(&self.server, &self.id).await.map(|report| report.state())
    }

    /// Waits until it is done, however long that takes, and gives the result of the call. What it asks meanwhile is
    /// answered by what the [client](crate::Client#questions) was given for it.
    ///
    /// The task is asked after as often as the server wants; what fails on its way is tried again a few times. Dropping
    /// the future ends nothing but the waiting: it can be called again, and answers nothing twice.
    ///
    /// # Errors
    ///
    /// Those of the call itself; [`CallError::Cancelled`] if the task was cancelled; [`CallError::Unusable`] if it asks
    /// what cannot be answered, or is not done when the server need not keep it any more; [`CallError::Closed`] when the
    /// connection ends, after which the task may be found on another one.
    pub async fn result(&self) -> Result<CallToolResult, CallError> {
        let (server, id) = (self.server.clone(), self.id.clone());
        let run =
            Run::new(server, id, Patience::endless(), self.hook.clone()).answered(self.answered.clone());
        let text = run.finish().await?;
        let result = decode(&text)?;
        if let Some(tool) = &self.tool
            && let Some(check) = self.server.check(&CallToolRequest::new(&**tool))
        {
            check(&text)?;
        }
        Ok(result)
    }

    /// Asks the server to cancel it. Since 2026-07-28 that is a wish: the task may still come to another end.
    ///
    /// # Errors
    ///
    /// When the server refuses, as those of 2025-11-25 do for a task that is done, or does not cancel tasks at all.
    pub async fn cancel(&self) -> Result<(), CallError> {
        run::cancel(&self.server, &self.id, self.server.waits()).await
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("id", &self.id).field("tool", &self.tool).finish_non_exhaustive()
    }
}

/// Starts a call, and does not wait for its task.
pub(crate) async fn start(
    server: Server,
    request: CallToolRequest,
    mut options: Options,
) -> Result<Started, CallError> {
    let refuse = |why: &'static str| Err(CallError::not_allowed(CallToolRequest::NAME, why));
    if server.tasks_settings().is_none() {
        return refuse("this client was not told to handle tasks");
    }
    let (hook, tool) = (options.on_task.take(), request.name.clone());
    let check = server.check(&request);
    let text = if server.is_stateless() {
        match stateless::reach(&server, request, options).await?.0 {
            Reached::Complete(result) => result,
            Reached::Task(report) => {
                return Ok(Started::Task(Task::created(server, tool, &report, hook, None)));
            }
        }
    } else if server.revision().has_core_tasks() {
        let patience = Patience::new(options.waits);
        match core::create(&server, request, &mut options, &patience).await? {
            (CreatedTask::Done(result), _) => result,
            (CreatedTask::Task(report), heard) => {
                return Ok(Started::Task(Task::created(server, tool, &report, hook, heard)));
            }
        }
    } else {
        return refuse("the server's revision has no tasks");
    };
    let result = decode(&text)?;
    check.map_or(Ok(()), |check| check(&text))?;
    Ok(Started::Done(result))
}

/// Whether a task of that server's may be asked after.
pub(crate) fn may_ask(server: &Server) -> Result<(), CallError> {
    let refuse = |why: &'static str| Err(CallError::not_allowed(GetTaskRequest::NAME, why));
    let offered = match server.is_stateless() {
        true => server.capabilities().has(&format!("extensions.{}", task_extension::NAME)),
        false => server.revision().has_core_tasks() && server.capabilities().has("tasks"),
    };
    if server.tasks_settings().is_none() {
        refuse("this client was not told to handle tasks")
    } else if !offered {
        refuse("the server did not say that it has tasks")
    } else {
        Ok(())
    }
}
