//! Decides whether a call runs as a task, and creates the task's record.

use std::pin::pin;
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson, TreeCost, code, read};
use agentwire_mcp_schema::TaskSupport;
use agentwire_mcp_schema::core_tasks::TaskMetadata;
use agentwire_mcp_wire::Member;
use agentwire_peer::{Clock, TokioClock};
use futures::future::{Either, select};

use super::client::{has_opted_in, not_opted_in, owner};
use super::{report, run};
use crate::capability::Capability;
use crate::quota::QuotaExceeded;
use crate::request::client_context::ClientContext;
use crate::request::params::Params;
use crate::request::request_future::{HandlerFuture, Reply, RequestFuture};
use crate::server::ServerParts;
use crate::tasks::Tasks;
use crate::tasks::config::no_room;
use crate::tasks::handle::TaskHandle;
use crate::tasks::id::new_name;
use crate::tasks::registry::{NewTask, ReserveError, TaskRegistry};
use crate::{Context, ServerTool, TaskOwner, TaskRecord, tool_call};

/// How a call becomes a task.
pub(crate) struct Plan {
    tasks: Tasks,
    /// Milliseconds, as the client wishes.
    ttl: Option<u64>,
    /// Before its function begins; if not, once it has taken a while.
    at_once: bool,
}

/// Decides whether a call becomes a task. `None` for a plain call.
pub(crate) fn plan(
    server: &ServerParts,
    caller: &ClientContext,
    tool: &ServerTool,
    params: &Params<'_>,
) -> Result<Option<Plan>, ErrorObject> {
    let Some(tasks) = &server.settings.tasks else { return Ok(None) };
    let plan = |ttl, at_once| Ok(Some(Plan { tasks: tasks.clone(), ttl, at_once }));
    let name = &tool.definition().name;
    let refuse =
        |why: &str| Err(ErrorObject::new(code::METHOD_NOT_FOUND, format!("the tool `{name}` {why}")));
    let (is_possible, is_required) = match tool.task_support() {
        TaskSupport::Optional => (true, false),
        TaskSupport::Required => (true, true),
        _ => (false, false),
    };
    match caller {
        ClientContext::Request(_) if !is_possible => Ok(None),
        ClientContext::Request(_) if has_opted_in(caller) => plan(None, is_required),
        ClientContext::Request(_) if is_required => Err(not_opted_in()),
        ClientContext::Request(_) => Ok(None),
        ClientContext::Session(session)
            if caller.revision().has_core_tasks() && session.is_offered(Capability::Tasks) =>
        {
            match params.get(Member::Task) {
                Some(_) if !is_possible => refuse("does not run as a task"),
                Some(text) => {
                    let asked: TaskMetadata = read(text)
                        .map_err(|why| ErrorObject::invalid_params(format_args!("`task`: {why}")))?;
                    plan(asked.ttl, true)
                }
                None if is_required => refuse("runs as a task only: say so by the member `task`"),
                None => Ok(None),
            }
        }
        ClientContext::Session(_) if is_required => {
            refuse("runs as a task only, and this session has none: tasks begin with revision 2025-11-25")
        }
        ClientContext::Session(_) => Ok(None),
    }
}

impl Plan {
    /// Starts the call.
    pub(crate) fn start(
        self,
        server: &ServerParts,
        tool: &Arc<ServerTool>,
        arguments: &RawJson,
        context: Context,
    ) -> Result<Reply, ErrorObject> {
        let owner =
            owner(&server.settings, context.client_context(), context.source().map(|source| &**source))?;
        let ttl = self.tasks.effective_ttl(self.ttl);
        let mut record = TaskRecord::new(new_name()?, owner, context.revision(), ttl);
        record.run = self.tasks.registry.run();
        let handle = TaskHandle::new(record);
        context.set_task_handle(handle.clone());
        let running = match tool_call::start(tool, server.first_layer(), arguments, context.clone()) {
            Ok(running) => running,
            // A client that asks for a task accepts no other answer.
            Err(why) if context.revision().has_core_tasks() => {
                let name = &tool.definition().name;
                return Err(ErrorObject::invalid_params(format_args!(
                    "arguments of the tool `{name}`: {why}"
                )));
            }
            Err(why) => return tool.wrong_arguments(&why, &context).map(Reply::done),
        };
        let argument_bytes = arguments.len() + TreeCost::of(arguments.as_str()).bytes;
        let call = TaskCall { tasks: self.tasks, context, handle, argument_bytes };
        let running: HandlerFuture = if self.at_once {
            Box::pin(call.begin_at_once(running))
        } else {
            Box::pin(call.begin_later(running))
        };
        Ok(Reply::Task(running))
    }
}

/// A call that may become a task.
struct TaskCall {
    tasks: Tasks,
    context: Context,
    handle: Arc<TaskHandle>,
    argument_bytes: usize,
}

impl TaskCall {
    /// Answers with the task, then starts the function.
    async fn begin_at_once(self, running: HandlerFuture) -> Result<RawJson, ErrorObject> {
        let created = {
            let create = pin!(self.create());
            match select(create, self.context.scope().cancelled()).await {
                Either::Left((created, _)) => created?,
                Either::Right(_) => return Err(ErrorObject::request_cancelled()),
            }
        };
        self.hand_over(created, running)
    }

    /// Starts the function as in any call. If it neither ends nor asks a question within the grace time, answers with a task,
    /// as which the function continues.
    async fn begin_later(self, running: HandlerFuture) -> Result<RawJson, ErrorObject> {
        let grace = TokioClock::default().sleep(self.tasks.grace);
        let mut call = RequestFuture::new(self.context.clone(), running);
        if let Either::Left((answer, _)) = select(&mut call, grace).await {
            return answer;
        }
        let created = {
            let create = pin!(self.create());
            match select(&mut call, create).await {
                Either::Left((answer, _)) => return answer,
                Either::Right((created, _)) => created,
            }
        };
        match created {
            Ok(created) => {
                let running = call.detach();
                self.hand_over(created, running)
            }
            // A limit or the store refuses another task, so the call goes on as a plain one.
            Err(_) => call.await,
        }
    }

    /// Writes down that there is a task. It is taken back unless it is handed over.
    async fn create(&self) -> Result<CreatedTask, ErrorObject> {
        let Tasks { store, registry, .. } = &self.tasks;
        let (version, record) = self.handle.now();
        let session = match &record.owner {
            TaskOwner::Session(name) => Some(&**name),
            _ => None,
        };
        let ttl = record.ttl.map(std::time::Duration::from_millis);
        let task = NewTask { id: &record.id, session, ttl, bytes: self.argument_bytes };
        let (limits, byte_limits) = (self.tasks.limits(), self.tasks.byte_limits());
        registry.reserve(&task, &self.context.holder(), limits, byte_limits).map_err(|why| match why {
            ReserveError::TooMany(QuotaExceeded::Total(limit)) => ErrorObject::internal_error(format_args!(
                "the server keeps {limit} tasks at once (Tasks::limit)"
            )),
            ReserveError::TooMany(QuotaExceeded::Holder(limit)) => ErrorObject::internal_error(format_args!(
                "the server keeps {limit} tasks of one client at once (Tasks::client_limit)"
            )),
            ReserveError::TooManyBytes(exceeded) => no_room(exceeded, "the arguments of the task"),
        })?;
        let mut created =
            CreatedTask { registry: registry.clone(), id: record.id.clone(), version, is_handed_over: false };
        // One by one, because this future may be dropped in between.
        while let Some(stale) = registry.take_stale() {
            // What cannot be removed now is forgotten when its time is over.
            let _failed = store.remove(&stale).await;
        }
        let kept = store.create(record).await.map_err(ErrorObject::from);
        if let Err(error) = kept {
            registry.release(&created.id);
            created.is_handed_over = true;
            return Err(error);
        }
        Ok(created)
    }

    /// Answers with the task, and passes it to the author's spawn function.
    fn hand_over(self, mut created: CreatedTask, running: HandlerFuture) -> Result<RawJson, ErrorObject> {
        let Self { tasks, context, handle, .. } = self;
        created.is_handed_over = true;
        handle.begin();
        // A question that came up just now is asked again, by the task.
        context.close_round();
        tasks.registry.add(&handle);
        let answer = report::created(&tasks, &context, handle.record());
        // On a connection it must leave before anything that the task sends.
        context.scope().answer_now(|| answer.clone());
        let guard = run::TaskGuard::new(tasks.clone(), handle, context);
        tasks.spawn(Box::pin(run::run_task(guard, running, created.version)));
        answer
    }
}

/// A record that was written, or is about to be.
struct CreatedTask {
    registry: Arc<TaskRegistry>,
    id: String,
    /// Of the handle, when it was written.
    version: u64,
    is_handed_over: bool,
}

/// The client never learns the id, so it could not ask for the record.
impl Drop for CreatedTask {
    fn drop(&mut self) {
        if !self.is_handed_over {
            self.registry.abandon(&self.id);
        }
    }
}
