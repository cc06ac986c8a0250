use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Members, RawJson};
use agentwire_mcp_schema::CallToolResult;
use agentwire_peer::{Clock, Peer, TokioClock};
use futures::FutureExt;
use futures::future::{join, select};

use super::board::{Board, Outcome};
use super::{Tasks, report};
use crate::context::Running;
use crate::listeners::Change;
use crate::{Context, TaskRecord};

/// How much of what a tool says went wrong is said of its task, in characters.
const LONGEST_REASON: usize = 500;
/// How long after a store has failed it is tried again.
const AGAIN: Duration = Duration::from_secs(30);

/// What a task has while it runs. Where its future is dropped, nothing becomes of it.
pub(super) struct Carried {
    tasks: Tasks,
    board: Arc<Board>,
    context: Context,
}

impl Carried {
    pub(super) fn new(tasks: Tasks, board: Arc<Board>, context: Context) -> Self {
        Self { tasks, board, context }
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        self.context.end();
        if !self.board.is_over() {
            self.tasks.forget_arguments(self.board.id());
            self.board.give_up("the task was dropped");
        }
        if self.board.close() {
            self.tasks.boards.listeners().announce(Change::Task(self.board.id()));
        }
    }
}

/// Runs a task to its end, and tells of each change whoever has to know. The record as it was at `version` is written.
pub(super) async fn carry(carried: Carried, running: Running, version: u64) {
    let Carried { tasks, board, context } = &carried;
    let work = async {
        let ended = work(board, running).await;
        context.end();
        match ended {
            Ended::Done(outcome) => board.finish(tasks.settle(board.id(), judge(context, outcome))),
            Ended::Cancelled => tasks.forget_arguments(board.id()),
            Ended::Expired => {
                tasks.boards.abandon(board.id());
                board.give_up("the time of the task is over");
            }
        }
    };
    let told = context.session_peer();
    join(work, follow(tasks, board, told, version)).await;
}

enum Ended {
    Done(Result<RawJson, ErrorObject>),
    Cancelled,
    Expired,
}

/// Works until the function is done, or is to end. Then it is dropped before this gives what became of it. A panic, also of
/// a destructor, goes no further.
async fn work(board: &Arc<Board>, running: Running) -> Ended {
    let ended = AssertUnwindSafe(run(board, running)).catch_unwind().await;
    ended.unwrap_or_else(|_| Ended::Done(Err(ErrorObject::internal_error("the handler panicked"))))
}

async fn run(board: &Arc<Board>, mut running: Running) -> Ended {
    let clock = TokioClock::default();
    let ttl = board.record().ttl.map(Duration::from_millis);
    let mut expiry = ttl.and_then(|ttl| clock.now().checked_add(ttl)).map(|end| clock.sleep_until(end));
    let mut cancelled = board.cancelled();
    poll_fn(move |cx| {
        // The function first: one that waits for its cancellation may still do something about it.
        if let Poll::Ready(outcome) = running.as_mut().poll(cx) {
            return Poll::Ready(Ended::Done(outcome));
        }
        if Pin::new(&mut cancelled).poll(cx).is_ready() {
            return Poll::Ready(Ended::Cancelled);
        }
        match &mut expiry {
            Some(expiry) => expiry.as_mut().poll(cx).map(|()| Ended::Expired),
            None => Poll::Pending,
        }
    })
    .await
}

/// What an answer makes of its task. In 2025-11-25 a tool that failed is a task that failed.
fn judge(context: &Context, outcome: Result<RawJson, ErrorObject>) -> Outcome {
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
    Outcome::Failure(result, text.chars().take(LONGEST_REASON).collect())
}

/// Writes down each change, and tells of it. Of changes that come faster than they can be told, the last counts.
async fn follow(tasks: &Tasks, board: &Board, told: Option<Peer>, mut version: u64) {
    let Tasks { store, boards, .. } = tasks;
    loop {
        let (next, record) = board.changed(version).await;
        version = next;
        let is_final = record.is_final();
        if boards.is_stale(board.id()) {
            if is_final {
                return forget(tasks, board.id()).await;
            }
            continue;
        }
        let written = store.update(record.clone()).await;
        if is_final {
            if written.is_ok() {
                boards.remove(board.id());
            }
            board.close();
        }
        boards.listeners().announce(Change::Task(board.id()));
        if let Some(peer) = &told {
            let status = report::status(tasks, &record);
            let told = pin!(peer.notify(&status));
            // A client that has left needs to hear of nothing.
            if is_final {
                let _closed = told.await;
            } else {
                select(told, pin!(board.changed(version))).await;
            }
        }
        if is_final {
            if written.is_err() {
                write_later(tasks, record).await;
            }
            return;
        }
    }
}

/// Nobody asks for it any more.
async fn forget(tasks: &Tasks, id: &str) {
    tasks.boards.remove(id);
    tasks.boards.forget(id);
    // If it fails, the record is forgotten when its time is over.
    let _failed = tasks.store.remove(id).await;
}

/// Writes down how a task has ended, once the store can do that again. Until then its board says it.
async fn write_later(tasks: &Tasks, record: TaskRecord) {
    let Tasks { store, boards, .. } = tasks;
    let clock = TokioClock::default();
    while !record.is_expired() {
        clock.sleep_until(clock.now() + AGAIN).await;
        if boards.is_stale(&record.id) {
            return forget(tasks, &record.id).await;
        }
        if store.update(record.clone()).await.is_ok() {
            break;
        }
    }
    boards.remove(&record.id);
}
