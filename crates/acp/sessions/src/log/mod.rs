//! The update log: every update of a session is written to the store first, then sent to the client.
//!
//! ```text
//!  Turn, requests ── Command ──▶ queue ──▶ LogWriter ──▶ store ──▶ state ──▶ client ──▶ ticket
//! ```
//!
//! [`UpdateLog`] accepts commands, and a [`LogWriter`] is the future that carries them out, in their order. Each command has
//! a ticket, which resolves when its updates are written and sent, or with an error. The state changes after the store has
//! the updates, so a failed write has no visible effect.
//!
//! [`LogDriver`] polls the writer in the background of the connection. Queueing a command polls it as well, so an update whose
//! store does not wait wakes no task. With such a store a prompt is written and its turn begins before the next message is
//! read, so a cancel right after the prompt finds the turn.

mod change;
mod driver;
mod error;
mod queue;
mod writer;

use std::fmt;
use std::sync::Arc;

use agentwire_acp_agent::Closed;
use agentwire_acp_schema::v1::{SessionUpdate, ToolCallStatus};
use agentwire_sync::{Monitor, Mutex};

pub(crate) use self::change::{Change, ChosenBy, Update, ended_call};
pub(crate) use self::driver::LogDriver;
use self::driver::WriterSlot;
pub(crate) use self::error::LogError;
use self::queue::{Queue, Ticket};
use self::writer::LogWriter;
use crate::client::RemoteClient;
use crate::state::SessionState;
use crate::store::{SessionHeader, SessionStore};

/// Accepts the updates of a session.
pub(crate) struct UpdateLog {
    queue: Arc<Monitor<Queue>>,
    /// The state after the updates that are stored.
    state: Arc<Mutex<SessionState>>,
    writer: Arc<WriterSlot>,
}

impl UpdateLog {
    /// Returns the log of a session that opens, and the future that drives it.
    ///
    /// `update_limit` is in bytes of JSON.
    pub(crate) fn new(
        store: Arc<dyn SessionStore>,
        client: RemoteClient,
        header: SessionHeader,
        mut state: SessionState,
        update_limit: usize,
    ) -> (Arc<Self>, LogDriver) {
        state.title.clone_from(&header.title);
        let queue = Arc::<Monitor<Queue>>::default();
        let state = Arc::new(Mutex::new(state));
        let writer = LogWriter::new(queue.clone(), state.clone(), store, client, header, update_limit);
        let writer = Arc::new(WriterSlot::new(writer.run()));
        let driver = LogDriver::new(queue.clone(), writer.clone());
        (Arc::new(Self { queue, state, writer }), driver)
    }

    /// Reads the state after the updates that are stored.
    pub(crate) fn state<R>(&self, read: impl FnOnce(&SessionState) -> R) -> R {
        read(&self.state.lock())
    }

    /// Begins a turn and returns its number. The turn writes to the store even if an earlier turn failed to.
    pub(crate) fn begin_turn(&self) -> u64 {
        self.queue.with(|queue| {
            queue.turns += 1;
            queue.turn = Some(queue.turns);
            queue.turns
        })
    }

    /// Ends the turn. Refuses its further commands; those that are queued are still carried out.
    pub(crate) fn end_turn(&self) {
        self.queue.update(|queue| queue.turn = None);
    }

    /// Ends the turn with a last command, which sets a final status of the open tool calls and makes the turn durable.
    pub(crate) async fn finish_turn(
        &self,
        status: ToolCallStatus,
        why: &'static str,
    ) -> Result<(), LogError> {
        // Refuses the updates that wait for room.
        self.end_turn();
        let ticket = self.push(Change::EndOpenCalls { status, why }, true);
        outcome(ticket.ok_or(LogError::Ended)?).await
    }

    /// Writes and sends an update of a turn. Waits while the queue is full.
    ///
    /// A queued command is carried out even if the future is dropped.
    pub(crate) async fn write(&self, turn: u64, change: Change) -> Result<(), LogError> {
        self.enqueue(Some(turn), change, false).await
    }

    /// Writes a mode or an option that the client has chosen, and makes it durable.
    pub(crate) async fn choose(&self, change: Change) -> Result<(), LogError> {
        self.enqueue(None, change, true).await
    }

    /// Queues an update that is sent and not stored.
    pub(crate) fn announce(&self, update: SessionUpdate) {
        let change = Change::Update(Update::announcement(update));
        // The queue keeps its order, so closing the session waits for it.
        let _ticket = self.push(change, false);
    }

    /// Completes when all commands that are queued now have been carried out or refused.
    pub(crate) async fn flush(&self) {
        match self.push(Change::Nothing, false) {
            // The tickets of the commands report their failures.
            Some(ticket) => drop(outcome(ticket).await),
            None => self.wait_until_ended().await,
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.queue.with(|queue| queue.closed)
    }

    /// Refuses new commands. Completes when the queued ones have been carried out or refused, and the store has made them
    /// durable or failed to.
    pub(crate) async fn close(&self) {
        self.queue.update(|queue| queue.closed = true);
        self.advance();
        self.wait_until_ended().await;
    }

    async fn wait_until_ended(&self) {
        self.queue.wait_until(|queue| queue.ended.then_some(())).await;
    }

    async fn enqueue(&self, turn: Option<u64>, change: Change, sync: bool) -> Result<(), LogError> {
        let mut change = Some(change);
        let admit = |queue: &mut Queue| match queue.refusal(turn) {
            Some(why) => Some(Err(why)),
            None if queue.is_full() => None,
            None => change.take().map(|change| Ok(queue.push(change, sync))),
        };
        let ticket = self.queue.wait_until(admit).await?;
        self.advance();
        outcome(ticket).await
    }

    /// Queues a command even if the queue is full. Returns `None` if the log is closed.
    fn push(&self, change: Change, sync: bool) -> Option<Ticket> {
        let ticket = self.queue.with(|queue| (!queue.closed).then(|| queue.push(change, sync)));
        self.advance();
        ticket
    }

    /// Polls the writer, or wakes the driver while another thread polls the writer.
    fn advance(&self) {
        if !self.writer.try_poll() {
            self.queue.update(|_| ());
        }
    }
}

async fn outcome(ticket: Ticket) -> Result<(), LogError> {
    // The writer is dropped with the connection.
    ticket.await.unwrap_or_else(|_| Err(LogError::Closed(Closed::default())))
}

impl fmt::Debug for UpdateLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpdateLog").field("is_closed", &self.is_closed()).finish_non_exhaustive()
    }
}
