//! Follows, answers and cancels tasks that run at other nodes.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_mcp_schema::task_extension::TaskStatus;
use agentwire_peer::{Clock, TokioClock};
use agentwire_store::{BusMessage, NodeId};
use agentwire_sync::Monitor;
use futures::future::{Either, select};

use super::result;
use crate::listeners::{Change, Listener, ListenerGuard};
use crate::tasks::answers;
use crate::tasks::answers::Answers;
use crate::tasks::handle::TaskHandle;
use crate::tasks::{Tasks, ends};
use crate::{Context, TaskRecord};

/// How often a record is read without a message that it has changed, at least: messages can be lost.
const POLL: Duration = Duration::from_secs(1);

/// For how long an answer is sent until the node that runs the task has taken it.
const TRY: Duration = Duration::from_secs(10);

/// A record of the store as it is now. It fails a task whose node has died, unless another node does so first. `None` if it is
/// gone since.
pub(crate) async fn current(tasks: &Tasks, record: TaskRecord) -> Result<Option<TaskRecord>, ErrorObject> {
    let Some((node, run)) = tasks.registry.node().zip(record.run) else { return Ok(Some(record)) };
    // A store that does not answer does not say that a node is dead.
    if record.is_final() || !matches!(node.is_dead(run.node).await, Ok(true)) {
        return Ok(Some(record));
    }
    // It may have ended since it was read.
    let Some(mut record) = ends::read(tasks, &record.id).await? else { return Ok(None) };
    if record.is_final() {
        return Ok(Some(record));
    }
    record.touch();
    record.fail(ErrorObject::internal_error("the server that ran the task has ended"));
    ends::write(tasks, record).await
}

/// Cancels a task. Returns its record, which is another end where that came first; `None` if it is gone.
pub(crate) async fn cancel(tasks: &Tasks, mut record: TaskRecord) -> Result<Option<TaskRecord>, ErrorObject> {
    let run = record.run;
    record.touch();
    record.status = TaskStatus::Cancelled;
    record.status_message = Some("cancelled by its client".to_owned());
    record.input_requests.clear();
    let id = record.id.clone();
    let ended = ends::write(tasks, record).await?;
    if let Some((node, run)) = tasks.registry.node().zip(run) {
        // It learns of the end otherwise too, though later.
        let _missed = node.stores().bus.send(run.node, BusMessage::CancelTask(id)).await;
    }
    Ok(ended)
}

/// A task that runs at another node. It has a handle here, which follows the record, and whose answers are sent to that node.
pub(crate) struct RemoteTask {
    tasks: Tasks,
    node: NodeId,
    handle: Arc<TaskHandle>,
    /// Answers that the record does not show yet.
    on_their_way: Answers,
    changes: Arc<Changes>,
    _listening: ListenerGuard,
}

/// The changes of a task since it was read last.
struct Changes {
    id: String,
    has_changed: Monitor<bool>,
}

impl RemoteTask {
    /// The task of that record. `None` if no other node runs it.
    pub(crate) fn new(tasks: &Tasks, record: &TaskRecord) -> Option<Self> {
        let run = record.run.filter(|_| !record.is_final() && tasks.registry.node().is_some())?;
        let changes = Arc::new(Changes { id: record.id.clone(), has_changed: Monitor::new(true) });
        let listener: Arc<dyn Listener> = changes.clone();
        Some(Self {
            tasks: tasks.clone(),
            node: run.node,
            handle: TaskHandle::new(record.clone()),
            on_their_way: Answers::new(),
            _listening: tasks.registry.listeners().add(Arc::downgrade(&listener)),
            changes,
        })
    }

    /// Answers some of its questions, and waits until its node has the answers.
    pub(crate) async fn answer(mut self, answers: Answers) -> Result<(), ErrorObject> {
        // All of them: its node may have asked something that the record does not show yet.
        self.on_their_way = answers;
        let clock = TokioClock::default();
        let end = clock.now() + TRY;
        loop {
            self.step().await?;
            if self.on_their_way.is_empty() {
                return Ok(());
            }
            if clock.now() >= end {
                let why = "the server that runs the task does not take the answers: try again later";
                return Err(ErrorObject::internal_error(why));
            }
        }
    }

    /// Waits for the end of the task, and forwards its questions.
    pub(crate) async fn result(mut self, context: &Context) -> Result<RawJson, ErrorObject> {
        let (tasks, handle) = (self.tasks.clone(), self.handle.clone());
        let following = async {
            while !self.handle.is_over() {
                self.step().await?;
            }
            Ok(())
        };
        match select(pin!(result::wait(context, &tasks, handle)), pin!(following)).await {
            Either::Left((result, _)) => result,
            Either::Right((Ok(()), waiting)) => waiting.await,
            Either::Right((Err(error), _)) => Err(error),
        }
    }

    /// Waits until there is something to do, sends what is to be sent, and reads the record.
    async fn step(&mut self) -> Result<(), ErrorObject> {
        let answers = self.next_answers().await;
        self.on_their_way.extend(answers);
        if !self.on_their_way.is_empty()
            && let Some(node) = self.tasks.registry.node()
        {
            let message =
                BusMessage::TaskAnswers(self.changes.id.clone(), answers::encode(&self.on_their_way)?);
            // They are sent again until the record shows them.
            let _missed = node.stores().bus.send(self.node, message).await;
        }
        self.read().await
    }

    /// Answers that are to be sent. Empty if the task has changed, or was not read for a while.
    async fn next_answers(&self) -> Answers {
        let mut changed =
            self.changes.has_changed.wait_until(|changed| std::mem::take(changed).then_some(()));
        let idle = select(&mut changed, TokioClock::default().sleep(POLL));
        match select(pin!(self.handle.take_answers()), idle).await {
            Either::Left((answers, _)) => answers,
            Either::Right(_) => Answers::new(),
        }
    }

    async fn read(&mut self) -> Result<(), ErrorObject> {
        let record = ends::read(&self.tasks, &self.changes.id).await?.ok_or_else(ends::no_task)?;
        let record = current(&self.tasks, record).await?.ok_or_else(ends::no_task)?;
        self.on_their_way.retain(|key, _| record.input_requests.contains_key(key));
        self.node = record.run.map_or(self.node, |run| run.node);
        let is_final = record.is_final();
        self.handle.load(record, &self.on_their_way);
        if is_final {
            self.handle.close(true);
        }
        Ok(())
    }
}

impl Listener for Changes {
    fn on_change(&self, change: Change<'_>) {
        let is_this = match change {
            Change::Task(id) => id == self.id,
            Change::Anything => true,
            _ => false,
        };
        if is_this {
            self.has_changed.update(|changed| *changed = true);
        }
    }
}
