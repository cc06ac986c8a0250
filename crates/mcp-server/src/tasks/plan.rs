use std::pin::pin;
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson, TreeCost, code, read};
use agentwire_mcp_schema::TaskSupport;
use agentwire_mcp_schema::core_tasks::TaskMetadata;
use agentwire_peer::{Clock, TokioClock};
use futures::future::{Either, select};

use super::board::Board;
use super::boards::{Boards, NewTask, NoPlace};
use super::config::no_room;
use super::owner::{new_name, owner};
use super::{Tasks, carry, has_opted_in, not_opted_in, report};
use crate::context::Running;
use crate::era::{Caller, Reply};
use crate::kind::Kind;
use crate::params::Params;
use crate::quota::QuotaExceeded;
use crate::tool::wrong_arguments;
use crate::{Context, Server, ServerTool, TaskOwner, TaskRecord};

/// How a call becomes a task.
pub(crate) struct Plan {
    tasks: Tasks,
    /// Milliseconds, as the client wishes.
    ttl: Option<u64>,
    /// Before its function begins; if not, once it has taken a while.
    at_once: bool,
}

/// Decides whether a call becomes a task. None for a plain call.
pub(crate) fn plan(
    server: &Server,
    caller: &Caller,
    tool: &ServerTool,
    params: &Params<'_>,
) -> Result<Option<Plan>, ErrorObject> {
    let Some(tasks) = server.tasks_settings() else { return Ok(None) };
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
        Caller::Request(_) if !is_possible => Ok(None),
        Caller::Request(_) if has_opted_in(caller) => plan(None, is_required),
        Caller::Request(_) if is_required => Err(not_opted_in()),
        Caller::Request(_) => Ok(None),
        Caller::Session(session) if caller.revision().has_core_tasks() && session.is_offered(Kind::Tasks) => {
            match params.task {
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
        Caller::Session(_) if is_required => {
            refuse("runs as a task only, and this session has none: tasks begin with revision 2025-11-25")
        }
        Caller::Session(_) => Ok(None),
    }
}

impl Plan {
    /// Starts the call.
    pub(crate) fn start(
        self,
        server: &Server,
        tool: &ServerTool,
        arguments: &RawJson,
        context: Context,
    ) -> Result<Reply, ErrorObject> {
        let owner = owner(server, context.caller(), context.source().map(|source| &**source))?;
        let ttl = self.tasks.effective_ttl(self.ttl);
        let board = Board::new(TaskRecord::new(new_name()?, owner, context.revision(), ttl));
        context.put_on(board.clone());
        let running = match tool.run(arguments, context.clone()) {
            Ok(running) => running,
            // Who asks for a task can read nothing in the place of one.
            Err(why) if context.revision().has_core_tasks() => {
                let name = &tool.definition().name;
                return Err(ErrorObject::invalid_params(format_args!(
                    "arguments of the tool `{name}`: {why}"
                )));
            }
            Err(why) => {
                return wrong_arguments(&tool.definition().name, &why, &context).map(Reply::done);
            }
        };
        let argument_bytes = arguments.len() + TreeCost::of(arguments.as_str()).bytes;
        let call = Call { tasks: self.tasks, context, board, argument_bytes };
        let running: Running = if self.at_once {
            Box::pin(call.begin_at_once(running))
        } else {
            Box::pin(call.begin_later(running))
        };
        Ok(Reply::Alone(running))
    }
}

/// A call that may become a task.
struct Call {
    tasks: Tasks,
    context: Context,
    board: Arc<Board>,
    argument_bytes: usize,
}

impl Call {
    /// The client is answered that there is a task, and then the function begins.
    async fn begin_at_once(self, running: Running) -> Result<RawJson, ErrorObject> {
        let created = {
            let create = pin!(self.create());
            match select(create, self.context.request_cancelled()).await {
                Either::Left((created, _)) => created?,
                Either::Right(_) => return Err(ErrorObject::request_cancelled()),
            }
        };
        self.hand_over(created, running)
    }

    /// The function begins as in any call. If it is neither done nor asks anything soon, the client is answered that there is
    /// a task, and it goes on where it is.
    async fn begin_later(self, running: Running) -> Result<RawJson, ErrorObject> {
        let clock = TokioClock::default();
        let mut race = self.context.clone().race(running);
        let grace = clock.now().checked_add(self.tasks.grace).map(|end| clock.sleep_until(end));
        let Some(grace) = grace else { return race.await };
        if let Either::Left((answer, _)) = select(&mut race, grace).await {
            return answer;
        }
        let created = {
            let create = pin!(self.create());
            match select(&mut race, create).await {
                Either::Left((answer, _)) => return answer,
                Either::Right((created, _)) => created,
            }
        };
        match created {
            Ok(created) => {
                let running = race.let_go();
                self.hand_over(created, running)
            }
            // There is no room for one more task, or no place to keep it. The call is as good.
            Err(_) => race.await,
        }
    }

    /// Writes down that there is a task. It is taken back unless it is handed over.
    async fn create(&self) -> Result<Created, ErrorObject> {
        let Tasks { store, boards, .. } = &self.tasks;
        let (version, record) = self.board.now();
        let session = match &record.owner {
            TaskOwner::Session(name) => Some(&**name),
            _ => None,
        };
        let ttl = record.ttl.map(std::time::Duration::from_millis);
        let task = NewTask { id: &record.id, session, ttl, bytes: self.argument_bytes };
        let (limits, byte_limits) = (self.tasks.limits(), self.tasks.byte_limits());
        boards.reserve(&task, &self.context.holder(), limits, byte_limits).map_err(|why| match why {
            NoPlace::TooMany(QuotaExceeded::Total(limit)) => ErrorObject::internal_error(format_args!(
                "the server keeps {limit} tasks at once (Tasks::limit)"
            )),
            NoPlace::TooMany(QuotaExceeded::Holder(limit)) => ErrorObject::internal_error(format_args!(
                "the server keeps {limit} tasks of one client at once (Tasks::client_limit)"
            )),
            NoPlace::TooManyBytes(exceeded) => no_room(exceeded, "the arguments of the task"),
        })?;
        let mut created = Created { boards: boards.clone(), id: record.id.clone(), version, is_kept: false };
        // One by one, as this may be dropped meanwhile.
        while let Some(stale) = boards.take_stale() {
            // What cannot be removed now is forgotten when its time is over.
            let _failed = store.remove(&stale).await;
        }
        let kept = store.create(record).await.map_err(ErrorObject::internal_error);
        if let Err(error) = kept {
            boards.release(&created.id);
            created.is_kept = true;
            return Err(error);
        }
        Ok(created)
    }

    /// Answers that there is a task, and leaves it to whoever runs tasks.
    fn hand_over(self, mut created: Created, running: Running) -> Result<RawJson, ErrorObject> {
        let Self { tasks, context, board, .. } = self;
        created.is_kept = true;
        board.begin();
        // A question that came up just now is asked anew, by the task.
        context.close_pass();
        tasks.boards.add(&board);
        let answer = report::created(&tasks, &context, board.record());
        // On a connection it must leave before anything that the task sends.
        context.answer_now(&answer);
        let carried = carry::Carried::new(tasks.clone(), board, context);
        tasks.spawn(Box::pin(carry::carry(carried, running, created.version)));
        answer
    }
}

/// A record that was written, or is about to be.
struct Created {
    boards: Arc<Boards>,
    id: String,
    /// Of the board, when it was written.
    version: u64,
    is_kept: bool,
}

/// The client will never hear of it.
impl Drop for Created {
    fn drop(&mut self) {
        if !self.is_kept {
            self.boards.abandon(&self.id);
        }
    }
}
