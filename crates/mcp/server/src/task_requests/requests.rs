//! Answers requests about tasks.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson, Request, RequestMethod};
use agentwire_mcp_schema::core_tasks::{
    self, CancelTaskRequest, GetTaskPayloadRequest, GetTaskRequest, ListTasksRequest, ListTasksResult,
};
use agentwire_mcp_schema::task_extension::{TaskStatus, UpdateTaskRequest};
use agentwire_mcp_schema::{
    CreateMessageResult, ElicitResult, EmptyResult, InputRequest, ListRootsResult, Revision,
};
use serde::Deserialize;

use super::client::{has_opted_in, not_opted_in, owner};
use super::remote::RemoteTask;
use super::{remote, report, result};
use crate::capability::Capability;
use crate::request::client_context::ClientContext;
use crate::request::params::{Params, read_params};
use crate::request::request_future::{HandlerFuture, Reply};
use crate::scope::RequestScope;
use crate::server::ServerParts;
use crate::tasks::ends::no_task;
use crate::tasks::handle::TaskHandle;
use crate::tasks::id::is_name;
use crate::tasks::{Tasks, ends};
use crate::{Context, TaskCursor, TaskOwner, TaskRecord};

/// The prefix of the cursors of the list.
const CURSOR: &str = "tasks-";

/// Decides about a request that is about tasks. The two protocols have methods of the same names.
pub(crate) fn reply(
    server: &ServerParts,
    caller: ClientContext,
    request: &Request,
    params: &Params<'_>,
    scope: RequestScope,
) -> Result<Reply, ErrorObject> {
    let unknown = || Err(ErrorObject::method_not_found(&request.method));
    let Some(tasks) = server.settings.tasks.clone() else { return unknown() };
    let is_core = match &caller {
        ClientContext::Session(session)
            if session.is_offered(Capability::Tasks) && caller.revision().has_core_tasks() =>
        {
            true
        }
        ClientContext::Request(_) if server.offers(Capability::Tasks) || tasks.registry.has_any() => false,
        _ => return unknown(),
    };
    let method = &*request.method;
    let is_known = matches!(method, GetTaskRequest::NAME | CancelTaskRequest::NAME)
        || if is_core {
            matches!(method, GetTaskPayloadRequest::NAME | ListTasksRequest::NAME)
        } else {
            method == UpdateTaskRequest::NAME
        };
    if !is_known {
        return unknown();
    }
    if !is_core && !has_opted_in(&caller) {
        return Err(not_opted_in());
    }
    let settings = &server.settings;
    let owner = owner(settings, &caller, scope.source().map(|source| &**source))?;
    let page_size = settings.page_size;
    let context = Context::new(settings.clone(), caller, scope, params, None)?;
    let work = TaskRequest { tasks, owner, context: context.clone() };
    let params = request.params.as_ref();
    let handler: HandlerFuture = if method == ListTasksRequest::NAME {
        let ListTasksRequest { cursor, .. } = read_params(params)?;
        let after = cursor.as_ref().map(|cursor| parse_cursor(cursor.as_str())).transpose()?;
        Box::pin(async move { work.list(after, page_size).await })
    } else if method == UpdateTaskRequest::NAME {
        let UpdateParams { task_id, input_responses } = read_params(params)?;
        Box::pin(async move { work.update(&task_id, input_responses).await })
    } else {
        let GetTaskRequest { task_id: id, .. } = read_params(params)?;
        match method {
            GetTaskRequest::NAME if is_core => Box::pin(async move { work.get_core(&id).await }),
            GetTaskRequest::NAME => Box::pin(async move { work.get(&id).await }),
            CancelTaskRequest::NAME if is_core => Box::pin(async move { work.cancel_core(&id).await }),
            CancelTaskRequest::NAME => Box::pin(async move { work.cancel(&id).await }),
            _ => Box::pin(async move { work.result(&id).await }),
        }
    };
    Ok(Reply::Handler(context, handler))
}

/// The params of `tasks/update`. The questions decide how the answers are decoded.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
#[serde(rename_all = "camelCase")]
struct UpdateParams {
    task_id: String,
    input_responses: BTreeMap<String, RawJson>,
}

/// A request about tasks.
struct TaskRequest {
    tasks: Tasks,
    owner: TaskOwner,
    context: Context,
}

impl TaskRequest {
    async fn get_core(self, id: &str) -> Result<RawJson, ErrorObject> {
        let (record, _) = self.find(id).await?;
        self.context.encode(core_tasks::GetTaskResult::new(report::core(&self.tasks, &record)))
    }

    async fn get(self, id: &str) -> Result<RawJson, ErrorObject> {
        let (record, _) = self.find(id).await?;
        self.context.encode(report::details(&self.tasks, record))
    }

    /// Cancels it before the answer leaves.
    async fn cancel_core(self, id: &str) -> Result<RawJson, ErrorObject> {
        let (record, handle) = self.find(id).await?;
        let is_open = !record.is_final();
        let record = match handle {
            Some(handle) => match self.cancel_here(&handle).await? {
                (record, true) => record,
                (record, false) => return Err(is_final(&record)),
            },
            None if is_open => remote::cancel(&self.tasks, record).await?.ok_or_else(no_task)?,
            None => return Err(is_final(&record)),
        };
        if record.status != TaskStatus::Cancelled {
            return Err(is_final(&record));
        }
        self.context.encode(core_tasks::CancelTaskResult::new(report::core(&self.tasks, &record)))
    }

    async fn cancel(self, id: &str) -> Result<RawJson, ErrorObject> {
        match self.find(id).await? {
            (_, Some(handle)) => drop(self.cancel_here(&handle).await?),
            (record, None) if record.is_final() => {}
            (record, None) => drop(remote::cancel(&self.tasks, record).await?),
        }
        self.context.encode(EmptyResult::default())
    }

    /// Cancels a task that runs here. Returns its record, and false if it has ended already. The error does not say that it
    /// goes on: the client may repeat the request.
    async fn cancel_here(&self, handle: &TaskHandle) -> Result<(TaskRecord, bool), ErrorObject> {
        let is_open = handle.cancel("cancelled by its client");
        let record = match self.tasks.registry.node() {
            Some(_) => ends::reportable_record(&self.tasks, handle).await?,
            None => handle.record(),
        };
        Ok((record, is_open))
    }

    async fn update(self, id: &str, answers: BTreeMap<String, RawJson>) -> Result<RawJson, ErrorObject> {
        let (record, handle) = self.find(id).await?;
        for (key, answer) in &answers {
            record.input_requests.get(key).map_or(Ok(()), |question| check(question, answer)).map_err(
                |why| ErrorObject::invalid_params(format_args!("`inputResponses`, `{key}`: {why}")),
            )?;
        }
        let answers = answers.into_iter().map(|(key, answer)| (key, Ok(answer)));
        match handle {
            Some(handle) => handle.answer(answers),
            None if record.is_final() => {}
            None => {
                let remote = RemoteTask::new(&self.tasks, &record).ok_or_else(|| not_here(&record))?;
                remote.answer(answers.collect()).await?;
            }
        }
        self.context.encode(EmptyResult::default())
    }

    async fn result(self, id: &str) -> Result<RawJson, ErrorObject> {
        match self.find(id).await? {
            (_, Some(handle)) => result::wait(&self.context, &self.tasks, handle).await,
            (record, None) => match (result::of(&record), RemoteTask::new(&self.tasks, &record)) {
                (Some(result), _) => result,
                (None, Some(remote)) => remote.result(&self.context).await,
                (None, None) => Err(not_here(&record)),
            },
        }
    }

    async fn list(self, after: Option<TaskCursor>, page_size: usize) -> Result<RawJson, ErrorObject> {
        let Tasks { store, registry, .. } = &self.tasks;
        let records = store.list(Some(&self.owner), after.as_ref(), page_size.saturating_add(1)).await;
        let mut records = records?;
        let has_more = records.len() > page_size;
        records.truncate(page_size);
        let next = records.last().filter(|_| has_more).map(|last| format_cursor(&last.cursor()));
        records.retain(|record| self.may_see(record) && !registry.is_stale(&record.id));
        let mut tasks = Vec::with_capacity(records.len());
        for record in records {
            let record = match registry.find(&record.id) {
                Some(handle) if registry.node().is_none() => Some(handle.record()),
                // Another node may have ended what runs here, or the store not have the end yet.
                Some(handle) if !record.is_final() => handle.shared().or(Some(record)),
                Some(_) => Some(record),
                None => remote::current(&self.tasks, record).await?,
            };
            tasks.extend(record.map(|record| report::core(&self.tasks, &record)));
        }
        let mut page = ListTasksResult::new(tasks);
        page.next_cursor = next.map(Into::into);
        self.context.encode(page)
    }

    /// A task's record, and its handle if it runs in this process. The error is the same for an unknown task, an expired one
    /// and one of another owner.
    async fn find(&self, id: &str) -> Result<(TaskRecord, Option<Arc<TaskHandle>>), ErrorObject> {
        find(&self.tasks, id, |record| self.may_see(record)).await?.ok_or_else(no_task)
    }

    fn may_see(&self, record: &TaskRecord) -> bool {
        may_see(&self.owner, self.context.revision(), record)
    }
}

/// Whether a record belongs to this owner and to the protocol of that revision.
pub(crate) fn may_see(owner: &TaskOwner, revision: Revision, record: &TaskRecord) -> bool {
    record.owner == *owner
        && record.revision.has_core_tasks() == revision.has_core_tasks()
        && !record.is_expired()
}

/// The record of a task that may be seen, and its handle if it runs in this process.
pub(crate) async fn find(
    tasks: &Tasks,
    id: &str,
    may_see: impl Fn(&TaskRecord) -> bool,
) -> Result<Option<(TaskRecord, Option<Arc<TaskHandle>>)>, ErrorObject> {
    // A store gets well-formed ids only.
    if !is_name(id) {
        return Ok(None);
    }
    let handle = tasks.registry.find(id);
    let record = match &handle {
        Some(handle) if tasks.registry.node().is_some() && may_see(&handle.record()) => {
            // Another node may have ended it, which the store decides. While the store is away, the state of this node is
            // reported, but no end.
            if !handle.is_over()
                && let Ok(Some(record)) = tasks.store.read(id).await
                && record.is_final()
            {
                handle.adopt(record);
            }
            Some(match handle.shared() {
                Some(record) => record,
                None => ends::reportable_record(tasks, handle).await?,
            })
        }
        Some(handle) => Some(handle.record()),
        None => match tasks.store.read(id).await? {
            // A client that may not see it changes nothing.
            Some(record) if may_see(&record) => remote::current(tasks, record).await?,
            _ => None,
        },
    };
    Ok(record.filter(may_see).map(|record| (record, handle)))
}

/// An answer that the question's method does not have would end the function that asked, and the client could not mend it.
pub(crate) fn check(question: &InputRequest, answer: &RawJson) -> Result<(), serde_json::Error> {
    match question {
        InputRequest::Elicit(_) => answer.decode_leniently::<ElicitResult>().map(drop),
        InputRequest::CreateMessage(_) => answer.decode_leniently::<CreateMessageResult>().map(drop),
        InputRequest::ListRoots(_) => answer.decode_leniently::<ListRootsResult>().map(drop),
        _ => Ok(()),
    }
}

fn is_final(record: &TaskRecord) -> ErrorObject {
    ErrorObject::invalid_params(format_args!("the task is {} already", record.status))
}

/// Another process runs the task, with the same store, and is not a node.
fn not_here(record: &TaskRecord) -> ErrorObject {
    ErrorObject::internal_error(format_args!("the task `{}` does not run in this process", record.id))
}

fn format_cursor(cursor: &TaskCursor) -> String {
    format!("{CURSOR}{}-{}", cursor.created_at, cursor.id)
}

fn parse_cursor(text: &str) -> Result<TaskCursor, ErrorObject> {
    let parts = text.strip_prefix(CURSOR).and_then(|rest| rest.split_once('-'));
    let cursor = parts.and_then(|(time, id)| Some(TaskCursor::new(time.parse().ok()?, id)));
    cursor
        .filter(|cursor| is_name(&cursor.id) && format_cursor(cursor) == text)
        .ok_or_else(|| ErrorObject::invalid_params("the cursor is none of this list"))
}
