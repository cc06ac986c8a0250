//! Runs a task to its end, stores its changes and sends notifications of them.

use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use agentwire_jsonrpc::runtime::Members;
use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_mcp_schema::CallToolResult;
use agentwire_peer::{Clock, TokioClock};
use futures::FutureExt;
use futures::future::join;

use super::follow::follow;
use crate::Context;
use crate::listeners::Change;
use crate::request::request_future::HandlerFuture;
use crate::tasks::Tasks;
use crate::tasks::handle::{Outcome, TaskHandle};

/// The longest status message that is taken from the error of a tool, in characters.
const MAX_REASON: usize = 500;

/// Fails a task whose future is dropped before its end.
pub(crate) struct TaskGuard {
    tasks: Tasks,
    handle: Arc<TaskHandle>,
    context: Context,
}

impl TaskGuard {
    pub(crate) fn new(tasks: Tasks, handle: Arc<TaskHandle>, context: Context) -> Self {
        Self { tasks, handle, context }
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        self.context.progress_state().end();
        if !self.handle.is_over() {
            self.tasks.forget_arguments(self.handle.id());
            self.handle.fail("the task was dropped");
        }
        if self.handle.close(false) {
            self.tasks.registry.listeners().announce(Change::Task(self.handle.id()));
        }
        self.handle.set_done();
    }
}

/// Runs a task to its end, stores each change and sends notifications of it. The store has the record as of `version`.
pub(crate) async fn run_task(guard: TaskGuard, running: HandlerFuture, version: u64) {
    let TaskGuard { tasks, handle, context } = &guard;
    let work = async {
        let ended = work(handle, running).await;
        context.progress_state().end();
        match ended {
            WorkEnd::Done(outcome) => {
                handle.finish(tasks.settle(handle.id(), task_outcome(context, outcome)))
            }
            WorkEnd::Cancelled => tasks.forget_arguments(handle.id()),
            WorkEnd::Expired => {
                tasks.registry.abandon(handle.id());
                handle.fail("the time of the task is over");
            }
        }
    };
    let client = context.session_peer();
    join(work, follow(tasks, handle, client, version)).await;
}

enum WorkEnd {
    Done(Result<RawJson, ErrorObject>),
    Cancelled,
    Expired,
}

/// Runs the function until it returns or must end. Drops it before returning the outcome. Contains panics, also those of
/// destructors.
async fn work(handle: &Arc<TaskHandle>, running: HandlerFuture) -> WorkEnd {
    let ended = AssertUnwindSafe(run(handle, running)).catch_unwind().await;
    ended.unwrap_or_else(|_| WorkEnd::Done(Err(ErrorObject::internal_error("the handler panicked"))))
}

async fn run(handle: &Arc<TaskHandle>, mut running: HandlerFuture) -> WorkEnd {
    let ttl = handle.record().ttl.map(Duration::from_millis);
    let mut expiry = ttl.map(|ttl| TokioClock::default().sleep(ttl));
    let mut cancelled = handle.cancelled();
    poll_fn(move |cx| {
        // The function first: one that waits for its cancellation may still do something about it.
        if let Poll::Ready(outcome) = running.as_mut().poll(cx) {
            return Poll::Ready(WorkEnd::Done(outcome));
        }
        if Pin::new(&mut cancelled).poll(cx).is_ready() {
            return Poll::Ready(WorkEnd::Cancelled);
        }
        match &mut expiry {
            Some(expiry) => expiry.as_mut().poll(cx).map(|()| WorkEnd::Expired),
            None => Poll::Pending,
        }
    })
    .await
}

/// The outcome of a task with this answer. In 2025-11-25 a tool that failed is a task that failed.
fn task_outcome(context: &Context, outcome: Result<RawJson, ErrorObject>) -> Outcome {
    let result = match outcome {
        Ok(result) => result,
        Err(error) => return Outcome::Error(error),
    };
    let is_error = |result: &RawJson| {
        Members::of(result.as_str()).any(|(name, value)| name == "isError" && value == "true")
    };
    if !context.in_session() || !is_error(&result) {
        return Outcome::Result(result);
    }
    let text = result.decode().map(|result: CallToolResult| result.text().into_owned()).unwrap_or_default();
    Outcome::Failure(result, text.chars().take(MAX_REASON).collect())
}
