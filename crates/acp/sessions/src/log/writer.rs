//! The writer of an update log: stores and sends the updates of queued commands, in batches.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use agentwire_acp_agent::CallError;
use agentwire_acp_schema::v1::SessionUpdate;
use agentwire_jsonrpc::RawJson;
use agentwire_sync::{Monitor, Mutex, Waiter};
use futures_channel::oneshot;
use futures_util::FutureExt;

use super::change::{Change, Update};
use super::error::LogError;
use super::queue::{self, Command, Failure, Queue};
use crate::client::RemoteClient;
use crate::state::{SessionState, for_client};
use crate::store::{SessionHeader, SessionStore, StoreError, Timestamp, first_words};
use crate::update::shorten::shorten;

/// Carries out the commands of an [`UpdateLog`](super::UpdateLog). Dropping it refuses those that are left.
pub(super) struct LogWriter {
    queue: Waiter<Queue, Arc<Monitor<Queue>>>,
    state: Arc<Mutex<SessionState>>,
    store: Arc<dyn SessionStore>,
    client: RemoteClient,
    /// The header as the store has it.
    header: SessionHeader,
    /// In bytes of JSON.
    update_limit: usize,
    commands: VecDeque<Command>,
    /// Why the last write failed.
    failure: Option<Failure>,
    /// Whether the store may have records that no `sync` followed.
    needs_sync: bool,
}

/// The commands that are written together.
#[derive(Default)]
struct Batch {
    records: Vec<RawJson>,
    updates: Vec<Update>,
    /// The header that replaces the one in the store.
    header: Option<SessionHeader>,
    sync: bool,
    /// How many turns had begun when the last of the commands was queued.
    turns: u64,
    tickets: Vec<oneshot::Sender<Result<(), LogError>>>,
}

impl LogWriter {
    pub(super) fn new(
        queue: Arc<Monitor<Queue>>,
        state: Arc<Mutex<SessionState>>,
        store: Arc<dyn SessionStore>,
        client: RemoteClient,
        header: SessionHeader,
        update_limit: usize,
    ) -> Self {
        let (commands, failure, needs_sync) = (VecDeque::new(), None, false);
        let queue = Waiter::new(queue);
        Self { queue, state, store, client, header, update_limit, commands, failure, needs_sync }
    }

    /// Runs until the log is closed. Then the records of a turn that was cut off are made durable.
    pub(super) async fn run(mut self) {
        loop {
            self.take().await;
            if self.commands.is_empty() {
                break;
            }
            while let Some(batch) = self.next_batch() {
                self.carry_out(batch).await;
            }
        }
        if self.needs_sync && self.failure.is_none() {
            let mut batch = Batch::default();
            self.request_sync(&mut batch);
            // No ticket is left to report a failure. The updates themselves are written already.
            let _synced = self.write_and_send(batch).await;
        }
    }

    /// Takes the queued commands, as soon as there are any. Takes none if the log is closed and no command is left.
    async fn take(&mut self) {
        let Self { queue, commands, .. } = self;
        if poll_fn(|cx| queue.poll(cx, |queue| queue.take(commands))).await {
            // Wakes the turns that wait for room.
            queue.monitor().update(|_| ());
        }
    }

    /// Returns a batch of the commands that can be written together. A command that depends on the state begins a batch, so
    /// that all updates before it are applied.
    fn next_batch(&mut self) -> Option<Batch> {
        let mut batch = Batch::default();
        while let Some(command) = self.commands.pop_front() {
            if command.change.reads_state() && !batch.tickets.is_empty() {
                self.commands.push_front(command);
                break;
            }
            let Command { change, sync, turns, done } = command;
            match self.prepare(&mut batch, change, sync, turns) {
                Ok(()) => batch.tickets.push(done),
                // The ticket may have been dropped.
                Err(why) => drop(done.send(Err(why))),
            }
        }
        (!batch.tickets.is_empty()).then_some(batch)
    }

    /// Adds a command to a batch: all its updates, or none if it fails.
    fn prepare(&self, batch: &mut Batch, change: Change, sync: bool, turns: u64) -> Result<(), LogError> {
        if let Some(failure) = self.failure.as_ref().filter(|failure| turns <= failure.last_turn) {
            return Err(failure.why.clone());
        }
        let updates = change.updates(&self.state).map_err(LogError::Invalid)?;
        let encoded = updates.into_iter().map(|update| encode(update, self.update_limit));
        for (update, record) in encoded.collect::<Result<Vec<_>, _>>()? {
            if let SessionUpdate::SessionInfoUpdate(info) = &update.update
                && !info.title.is_keep()
            {
                let header = batch.header.get_or_insert_with(|| self.header.clone());
                info.title.clone().apply(&mut header.title);
            }
            if self.header.first_words.is_none()
                && let Some(words) = first_words(&update.update)
            {
                let header = batch.header.get_or_insert_with(|| self.header.clone());
                header.first_words.get_or_insert(words);
            }
            batch.records.extend(record);
            batch.updates.push(update);
        }
        batch.turns = turns;
        if sync {
            self.request_sync(batch);
        }
        Ok(())
    }

    /// Sets that the store makes its records durable after this batch, with the current time in the header.
    fn request_sync(&self, batch: &mut Batch) {
        let header = batch.header.get_or_insert_with(|| self.header.clone());
        header.updated = Timestamp::now().max(header.updated);
        batch.sync = true;
    }

    async fn carry_out(&mut self, mut batch: Batch) {
        let (tickets, turns) = (std::mem::take(&mut batch.tickets), batch.turns);
        let outcome = self.write_and_send(batch).await;
        match &outcome {
            Ok(()) => {}
            // The commands that are queued already are still written.
            Err(why @ LogError::Closed(_)) => {
                self.refuse(Failure { last_turn: u64::MAX, why: why.clone() });
            }
            // Later commands of the turn may depend on these, so they are refused too.
            Err(why) => {
                let failure = Failure { last_turn: turns, why: why.clone() };
                self.failure = Some(failure.clone());
                self.refuse(failure);
            }
        }
        for ticket in tickets {
            let _dropped = ticket.send(outcome.clone());
        }
    }

    fn refuse(&self, failure: Failure) {
        self.queue.monitor().with(|queue| queue.failure = Some(failure));
    }

    async fn write_and_send(&mut self, batch: Batch) -> Result<(), LogError> {
        let Batch { records, updates, header, sync, .. } = batch;
        self.needs_sync |= !records.is_empty();
        self.write(&records, header.as_ref()).await?;
        {
            let mut state = self.state.lock();
            let kept = updates.iter().filter(|update| update.is_stored);
            kept.for_each(|update| state.apply(&update.update));
        }
        if let Some(header) = header {
            self.header = header;
        }
        let sent = self.send(updates).await;
        if sync {
            catch_panic(self.store.sync(&self.header.session_id)).await?;
            self.needs_sync = false;
        }
        sent
    }

    async fn write(&mut self, records: &[RawJson], header: Option<&SessionHeader>) -> Result<(), LogError> {
        if records.is_empty() && header.is_none() {
            return Ok(());
        }
        let (store, session_id) = (&self.store, &self.header.session_id);
        catch_panic(async {
            if !records.is_empty() {
                store.append(session_id, records).await?;
            }
            match header {
                Some(header) => store.update_header(header).await,
                None => Ok(()),
            }
        })
        .await?;
        self.failure = None;
        Ok(())
    }

    async fn send(&self, updates: Vec<Update>) -> Result<(), LogError> {
        for update in updates.into_iter().filter(|update| update.is_sent) {
            let update = for_client(&self.client, update.update);
            // `RemoteClient::check_update` has passed and the update has JSON, so nothing else can fail.
            if let Err(CallError::Closed(closed)) =
                self.client.send_update(&self.header.session_id, update).await
            {
                return Err(LogError::Closed(closed));
            }
        }
        Ok(())
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        queue::end(self.queue.monitor());
    }
}

/// Runs an operation of the store. A panic of the store is an error.
async fn catch_panic(work: impl Future<Output = Result<(), StoreError>>) -> Result<(), LogError> {
    let outcome = AssertUnwindSafe(work).catch_unwind().await;
    let outcome = outcome.unwrap_or_else(|_panic| Err(StoreError::other("the store panicked")));
    outcome.map_err(|error| LogError::Store(Arc::new(error)))
}

/// Encodes an update for the store. One over the limit is shortened if that is allowed, and refused otherwise.
fn encode(mut update: Update, limit: usize) -> Result<(Update, Option<RawJson>), LogError> {
    if !update.is_stored {
        return Ok((update, None));
    }
    let encode = |update: &SessionUpdate| {
        RawJson::encode(update).map_err(|why| LogError::NotJson(why.to_string().into()))
    };
    let mut record = encode(&update.update)?;
    let bytes = record.len();
    if bytes > limit {
        let short = if update.is_shortened { shorten(&update.update, bytes, limit) } else { None };
        update.update = short.ok_or(LogError::TooLong { bytes, limit })?;
        record = encode(&update.update)?;
    }
    Ok((update, Some(record)))
}
