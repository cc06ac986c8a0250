//! What is asked of tasks that there are.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson, Request, RequestMethod};
use agentwire_mcp_schema::core_tasks::{
    self, CancelTaskRequest, GetTaskPayloadRequest, GetTaskRequest, ListTasksRequest, ListTasksResult,
};
use agentwire_mcp_schema::task_extension::UpdateTaskRequest;
use agentwire_mcp_schema::{
    CreateMessageResult, ElicitResult, EmptyResult, InputRequest, ListRootsResult, Revision,
};
use serde::Deserialize;

use super::board::Board;
use super::owner::{is_name, owner};
use super::{Tasks, has_opted_in, not_opted_in, report, result};
use crate::era::{Caller, Reply};
use crate::kind::Kind;
use crate::params::{Params, read_params};
use crate::scope::RequestScope;
use crate::{Context, Server, TaskOwner, TaskPlace, TaskRecord};

/// What the cursors of the list begin with.
const CURSOR: &str = "tasks-";

/// Decides about a request that is about tasks. The two protocols have methods of the same names.
pub(crate) fn reply(
    server: &Server,
    caller: Caller,
    request: &Request,
    params: &Params<'_>,
    scope: RequestScope,
) -> Result<Reply, ErrorObject> {
    let unknown = || Err(ErrorObject::method_not_found(&request.method));
    let Some(tasks) = server.tasks_settings().cloned() else { return unknown() };
    let is_core = match &caller {
        Caller::Session(session) if session.is_offered(Kind::Tasks) && caller.revision().has_core_tasks() => {
            true
        }
        Caller::Request(_) if server.offers(Kind::Tasks) || tasks.boards.has_any() => false,
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
    let owner = owner(server, &caller, scope.source().map(|source| &**source))?;
    let page_size = server.page_size_value();
    let context = Context::new(server.clone(), caller, scope, params)?;
    let asked = About { tasks, owner, context: context.clone() };
    let whole = request.params.as_ref();
    if method == ListTasksRequest::NAME {
        let ListTasksRequest { cursor, .. } = read_params(whole)?;
        let after = cursor.as_ref().map(|cursor| parse_cursor(cursor.as_str())).transpose()?;
        return running(context, async move { asked.list(after, page_size).await });
    }
    if method == UpdateTaskRequest::NAME {
        let Update { task_id, input_responses } = read_params(whole)?;
        return running(context, async move { asked.update(&task_id, input_responses).await });
    }
    let GetTaskRequest { task_id: id, .. } = read_params(whole)?;
    match method {
        GetTaskRequest::NAME if is_core => running(context, async move { asked.get_core(&id).await }),
        GetTaskRequest::NAME => running(context, async move { asked.get(&id).await }),
        CancelTaskRequest::NAME if is_core => running(context, async move { asked.cancel_core(&id).await }),
        CancelTaskRequest::NAME => running(context, async move { asked.cancel(&id).await }),
        _ => running(context, async move { asked.result(&id).await }),
    }
}

fn running(
    context: Context,
    work: impl Future<Output = Result<RawJson, ErrorObject>> + Send + 'static,
) -> Result<Reply, ErrorObject> {
    Ok(Reply::Running(context, Box::pin(work)))
}

/// Answers to what a task asks, not decoded: what they are read as, the questions say.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    task_id: String,
    input_responses: BTreeMap<String, RawJson>,
}

/// A request that is about tasks, and who made it.
struct About {
    tasks: Tasks,
    owner: TaskOwner,
    context: Context,
}

impl About {
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
        let (record, board) = self.find(id).await?;
        let Some(board) = board else {
            return Err(if record.is_final() { is_final(&record) } else { not_here(&record) });
        };
        if !board.cancel("cancelled by its client") {
            return Err(is_final(&board.record()));
        }
        self.context.encode(core_tasks::CancelTaskResult::new(report::core(&self.tasks, &board.record())))
    }

    async fn cancel(self, id: &str) -> Result<RawJson, ErrorObject> {
        if let (_, Some(board)) = self.find(id).await? {
            board.cancel("cancelled by its client");
        }
        self.context.encode(EmptyResult::default())
    }

    async fn update(self, id: &str, answers: BTreeMap<String, RawJson>) -> Result<RawJson, ErrorObject> {
        match self.find(id).await? {
            (_, Some(board)) => {
                for (key, answer) in &answers {
                    board.question(key).map_or(Ok(()), |question| check(&question, answer)).map_err(
                        |why| ErrorObject::invalid_params(format_args!("`inputResponses`, `{key}`: {why}")),
                    )?;
                }
                board.answer(answers.into_iter().map(|(key, answer)| (key, Ok(answer))));
            }
            (record, None) if record.is_final() => {}
            (record, None) => return Err(not_here(&record)),
        }
        self.context.encode(EmptyResult::default())
    }

    async fn result(self, id: &str) -> Result<RawJson, ErrorObject> {
        match self.find(id).await? {
            (_, Some(board)) => result::wait(&self.context, board).await,
            (record, None) => result::of(&record).unwrap_or_else(|| Err(not_here(&record))),
        }
    }

    async fn list(self, after: Option<TaskPlace>, page_size: usize) -> Result<RawJson, ErrorObject> {
        let Tasks { store, boards, .. } = &self.tasks;
        let records = store.list(Some(&self.owner), after.as_ref(), page_size.saturating_add(1)).await;
        let mut records = records.map_err(ErrorObject::internal_error)?;
        let has_more = records.len() > page_size;
        records.truncate(page_size);
        let next = records.last().filter(|_| has_more).map(|last| format_cursor(&last.place()));
        records.retain(|record| self.may_see(record) && !boards.is_stale(&record.id));
        let now = |record: TaskRecord| boards.find(&record.id).map_or(record, |board| board.record());
        let tasks = records.into_iter().map(|record| report::core(&self.tasks, &now(record))).collect();
        let mut page = ListTasksResult::new(tasks);
        page.next_cursor = next.map(Into::into);
        self.context.encode(page)
    }

    /// How a task stands, and its board if it runs here. That it is not there, is over, or is somebody else's, is all the same.
    async fn find(&self, id: &str) -> Result<(TaskRecord, Option<Arc<Board>>), ErrorObject> {
        find(&self.tasks, id, |record| self.may_see(record))
            .await?
            .ok_or_else(|| ErrorObject::invalid_params("there is no such task"))
    }

    fn may_see(&self, record: &TaskRecord) -> bool {
        may_see(&self.owner, self.context.revision(), record)
    }
}

/// Whether a record is of a task that this owner made, in that protocol.
pub(super) fn may_see(owner: &TaskOwner, revision: Revision, record: &TaskRecord) -> bool {
    record.owner == *owner
        && record.revision.has_core_tasks() == revision.has_core_tasks()
        && !record.is_expired()
}

/// How a task stands that may be seen, and its board if it runs here.
pub(super) async fn find(
    tasks: &Tasks,
    id: &str,
    may_see: impl Fn(&TaskRecord) -> bool,
) -> Result<Option<(TaskRecord, Option<Arc<Board>>)>, ErrorObject> {
    // No store has to think of what is no id.
    if !is_name(id) {
        return Ok(None);
    }
    let board = tasks.boards.find(id);
    let record = match &board {
        Some(board) => Some(board.record()),
        None => tasks.store.read(id).await.map_err(ErrorObject::internal_error)?,
    };
    Ok(record.filter(may_see).map(|record| (record, board)))
}

/// An answer that the question's method does not have would end the function that asked, and the client could not mend it.
fn check(question: &InputRequest, answer: &RawJson) -> Result<(), serde_json::Error> {
    match question {
        InputRequest::Elicit(_) => answer.decode::<ElicitResult>().map(drop),
        InputRequest::CreateMessage(_) => answer.decode::<CreateMessageResult>().map(drop),
        InputRequest::ListRoots(_) => answer.decode::<ListRootsResult>().map(drop),
        _ => Ok(()),
    }
}

fn is_final(record: &TaskRecord) -> ErrorObject {
    ErrorObject::invalid_params(format_args!("the task is {} already", record.status))
}

/// Somebody else works on it, who has the same store.
fn not_here(record: &TaskRecord) -> ErrorObject {
    ErrorObject::internal_error(format_args!("the task `{}` does not run in this process", record.id))
}

fn format_cursor(place: &TaskPlace) -> String {
    format!("{CURSOR}{}-{}", place.created_at, place.id)
}

fn parse_cursor(cursor: &str) -> Result<TaskPlace, ErrorObject> {
    let parts = cursor.strip_prefix(CURSOR).and_then(|rest| rest.split_once('-'));
    let place = parts.and_then(|(time, id)| Some(TaskPlace::new(time.parse().ok()?, id)));
    place
        .filter(|place| is_name(&place.id) && format_cursor(place) == cursor)
        .ok_or_else(|| ErrorObject::invalid_params("the cursor is none of this list"))
}
