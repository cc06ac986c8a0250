//! `Task`: the handle on a call that the server runs as a task.

use std::fmt;
use std::sync::Arc;

use agentwire_jsonrpc::{RawJson, RequestMethod};
use agentwire_mcp_schema::task_extension::{self, GetTaskRequest};
use agentwire_mcp_schema::{CallToolRequest, CallToolResult};
use agentwire_peer::CallError;
use agentwire_sync::Mutex;
use bytestring::ByteString;

use super::deadline::Deadline;
use super::report::{StartedTask, TaskHook, TaskState};
use super::run::{AnsweredKeys, Run};
use super::{core, extension, requests};
use crate::connection::Connection;
use crate::handler::hooks::ProgressRegistration;
use crate::raw::RawAnswer;
use crate::request::validation::Validation;

/// The outcome of [`Call::start`](crate::Call::start).
#[derive(Debug)]
#[non_exhaustive]
pub enum TaskOrResult {
    /// The result: the server made no task of the call.
    Result(CallToolResult),
    /// The task that the server works on.
    Task(Task),
}

impl TaskOrResult {
    /// Waits for the result, however long it takes; see [`Task::result`].
    ///
    /// # Errors
    ///
    /// As [`Task::result`].
    pub async fn result(self) -> Result<CallToolResult, CallError> {
        match self {
            Self::Result(result) => Ok(result),
            Self::Task(task) => task.result().await,
        }
    }
}

/// A handle on a call that a server works on as a task.
///
/// The server goes on when the handle is dropped and when the connection ends.
/// [`RemoteServer::task`](crate::RemoteServer::task) makes another handle by the task's [id](Self::id), also on another
/// connection of the same client. Keep the id to find the task again after a crash.
pub struct Task {
    connection: Arc<Connection>,
    id: String,
    /// The tool, if it is known.
    tool: Option<String>,
    /// The state in which it was created.
    first: Option<TaskState>,
    hook: Option<TaskHook>,
    answered: AnsweredKeys,
    _registration: Option<ProgressRegistration>,
}

impl Task {
    pub(crate) fn known(connection: Arc<Connection>, id: String) -> Self {
        let (answered, _registration) = (AnsweredKeys::default(), None);
        Self { connection, id, tool: None, first: None, hook: None, answered, _registration }
    }

    fn created(
        connection: Arc<Connection>,
        tool: String,
        started: StartedTask,
        hook: Option<TaskHook>,
    ) -> Self {
        let first = started.report.state();
        Self {
            tool: Some(tool),
            first: Some(first),
            hook,
            _registration: started.registration,
            ..Self::known(connection, started.report.task_id)
        }
    }

    /// The task's id, which the server has chosen.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The state in which the server created it; `None` for a task that was [found by its id](crate::RemoteServer::task).
    pub fn first_state(&self) -> Option<&TaskState> {
        self.first.as_ref()
    }

    /// Sets a hook that gets each new state while [`result`](Self::result) waits.
    #[must_use]
    pub fn on_state(mut self, hook: impl FnMut(&TaskState) + Send + 'static) -> Self {
        self.hook = Some(Arc::new(Mutex::new(hook)));
        self
    }

    /// Asks for its state now. Its questions are not answered.
    ///
    /// # Errors
    ///
    /// [`CallError::Refused`] if the server has no such task.
    pub async fn state(&self) -> Result<TaskState, CallError> {
        requests::state(&self.connection, &self.id).await.map(|report| report.state())
    }

    /// Waits until it is done, however long that takes, and returns the result of the call. The functions of the
    /// [client](crate::Client#questions) answer its questions.
    ///
    /// The interval between two requests for its state is the server's. A request that fails on its way is tried again, up to
    /// 5 times in a row. Dropping the future only ends the wait: it can be called again, and answers no question twice.
    ///
    /// # Errors
    ///
    /// Those of the call itself; [`CallError::Cancelled`] if the task was cancelled; [`CallError::Unusable`] if it asks a
    /// question that has no answer, or is not done when its time to live is over; [`CallError::Closed`] when the connection
    /// ends, after which the task may be found on another one.
    pub async fn result(&self) -> Result<CallToolResult, CallError> {
        let (connection, id) = (self.connection.clone(), self.id.clone());
        let run =
            Run::new(connection, id, Deadline::none(), self.hook.clone()).answered(self.answered.clone());
        let text = match self.connection.is_modern() {
            true => extension::follow(run).await?,
            false => core::follow(run).await?,
        };
        let result = decode(&self.connection, &text)?;
        if let Some(tool) = &self.tool {
            Validation::of_tool(&self.connection, tool).check(&self.connection, &text)?;
        }
        Ok(result)
    }

    /// Asks the server to cancel it. Since 2026-07-28 the task may still complete or fail.
    ///
    /// # Errors
    ///
    /// When the server refuses, as those of 2025-11-25 do for a task that is done, or does not offer to cancel tasks.
    pub async fn cancel(&self) -> Result<(), CallError> {
        requests::cancel(&self.connection, &self.id, self.connection.server.waits).await
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("id", &self.id).field("tool", &self.tool).finish_non_exhaustive()
    }
}

/// Fails where a call cannot be started as a task.
pub(crate) fn may_start(connection: &Connection) -> Result<(), CallError> {
    let refuse = |why: &'static str| Err(CallError::not_allowed(CallToolRequest::NAME, why));
    if connection.tasks.is_none() {
        refuse("this client does not handle tasks")
    } else if !connection.is_modern() && !connection.server.revision.has_core_tasks() {
        refuse("the server's revision has no tasks")
    } else {
        Ok(())
    }
}

/// Makes a handle of the answer to a call that starts a task.
pub(crate) fn started(
    connection: Arc<Connection>,
    tool: String,
    hook: Option<TaskHook>,
    answer: RawAnswer,
) -> Result<TaskOrResult, CallError> {
    Ok(match answer.task {
        Some(started) => TaskOrResult::Task(Task::created(connection, tool, *started, hook)),
        None => TaskOrResult::Result(decode(&connection, &answer.result)?),
    })
}

fn decode(connection: &Connection, result: &RawJson) -> Result<CallToolResult, CallError> {
    connection.decode(ByteString::from_static(CallToolRequest::NAME), result)
}

/// Fails where the server has no tasks.
pub(crate) fn may_ask(connection: &Connection) -> Result<(), CallError> {
    let refuse = |why: &'static str| Err(CallError::not_allowed(GetTaskRequest::NAME, why));
    let server = &connection.server;
    let offered = match connection.is_modern() {
        true => server.capabilities.has(&format!("extensions.{}", task_extension::NAME)),
        false => server.revision.has_core_tasks() && server.capabilities.has("tasks"),
    };
    if connection.tasks.is_none() {
        refuse("this client does not handle tasks")
    } else if !offered {
        refuse("the server does not have tasks")
    } else {
        Ok(())
    }
}
