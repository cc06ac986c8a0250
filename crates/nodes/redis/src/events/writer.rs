//! The task that makes the commands for the events of streams, in their order, and bounds the stored events.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_store::{SessionId, StoreError};
use redis::Cmd;
use tokio::sync::{mpsc, watch};

use crate::events::entry::END;
use crate::events::last_event;
use crate::events::message::{Change, GROUP, Message, Write};
use crate::events::pipeline::{EventPipeline, Pending};
use crate::events::running_stream::RunningStream;
use crate::events::session_events::{RESULT_COST, STREAM_COST, SessionEvents};
use crate::link::Link;
use crate::link::keys::Keys;

/// The maximum number of messages that are taken from the queue at once.
const BATCH: usize = 512;
/// The time between two attempts while the engine is away.
const RETRY: Duration = Duration::from_millis(100);
/// The time between two searches for expired streams.
const SWEEP: Duration = Duration::from_secs(60);

/// Takes messages until their senders are dropped. Counts those that it has finished.
pub(crate) struct Writer {
    pipeline: EventPipeline,
    sessions: HashMap<SessionId, SessionEvents>,
    /// A buffer for the key of the stream whose event is prepared.
    key: String,
    swept: Instant,
}

impl Writer {
    pub(crate) fn new(pipeline: EventPipeline) -> Self {
        Self { pipeline, sessions: HashMap::new(), key: String::new(), swept: Instant::now() }
    }

    pub(crate) async fn run(
        mut self,
        mut queue: mpsc::UnboundedReceiver<Message>,
        finished: watch::Sender<u64>,
    ) {
        let mut messages = Vec::with_capacity(BATCH);
        while queue.recv_many(&mut messages, BATCH).await > 0 {
            let (now, count) = (Instant::now(), messages.len() as u64);
            let mut pending = Vec::with_capacity(messages.len());
            let (mut deletions, mut ended) = (Vec::new(), Vec::new());
            for message in messages.drain(..) {
                if let Message::Write(Write { session, stream, change, .. }) = &message
                    && change.is_last()
                {
                    ended.push((*session, *stream));
                }
                match message {
                    Message::Write(write)
                        if self.pipeline.incomplete.refuses(write.session, write.stream, now) =>
                    {
                        self.pipeline.refuse(write);
                    }
                    Message::Write(write) => pending.push(self.prepare(write, now)),
                    deletion => deletions.push(deletion),
                }
            }
            loop {
                pending = self.pipeline.attempt(pending).await;
                // The store is dropped, so no caller waits for these.
                if pending.is_empty() || queue.is_closed() {
                    break;
                }
                tokio::time::sleep(RETRY).await;
            }
            if !self.pipeline.incomplete.is_empty() {
                ended
                    .into_iter()
                    .for_each(|(session, stream)| self.pipeline.incomplete.remove(session, stream));
            }
            deletions.into_iter().for_each(|deletion| self.delete(deletion));
            if pending.is_empty() {
                finished.send_modify(|finished| *finished += count);
            }
            self.sweep(now, queue.is_empty());
        }
    }

    fn prepare(&mut self, write: Write, now: Instant) -> Pending {
        let (limits, stream, keys) = (self.pipeline.limits, write.stream, &self.pipeline.keys);
        let session = self.sessions.entry(write.session);
        let session = session.or_insert_with_key(|id| SessionEvents::new(keys.stream_prefix(*id)));
        let key = &mut self.key;
        session.write_key(stream, key);
        let (command, taken) = match &write.change {
            Change::Begin(runs) => {
                let is_new =
                    session.running.insert(stream, RunningStream::new(Some(runs.clone()), now)).is_none();
                let mut command = redis::cmd("XADD");
                command.arg(&*key).arg("0-1").arg("r").arg(&**runs);
                (command, Some((is_new, STREAM_COST)))
            }
            Change::Event { place, data } => {
                let is_new = !session.running.contains_key(&stream);
                let running = session.running.entry(stream).or_insert_with(|| RunningStream::new(None, now));
                running.written = now;
                let command = running.add(key, *place, data, limits);
                (command, Some((is_new, running.bytes + STREAM_COST)))
            }
            Change::Last { place, data } => {
                let before = session.running.remove(&stream).map(|running| running.bytes + STREAM_COST);
                let is_only = before.is_none() && *place == 1;
                let store = if is_only { last_event::store_only } else { last_event::store };
                let bytes = before.unwrap_or(RESULT_COST) + data.len();
                (store(key, *place, data, &limits), Some((before.is_none(), bytes)))
            }
            Change::End => {
                session.running.remove(&stream);
                (end(key), None)
            }
        };
        if let Some((is_new, bytes)) = taken {
            let deleted = session.set(stream, is_new, bytes, &limits);
            self.pipeline.unlink(write.session, &deleted);
        }
        let is_listed = session.list(stream, now, &limits);
        Pending { write, command, is_listed, is_repeated: false }
    }

    fn delete(&mut self, deletion: Message) {
        match deletion {
            Message::Write(_) => (),
            Message::Delete { session, stream, ended } => {
                if let Some(session) = self.sessions.get_mut(&session) {
                    session.running.remove(&stream);
                }
                if ended {
                    self.pipeline.incomplete.remove(session, stream);
                }
                self.pipeline.unlink(session, &[stream]);
            }
            Message::Forget(session) => {
                let groups =
                    self.sessions.remove(&session).map(SessionEvents::into_groups).unwrap_or_default();
                tokio::spawn(forget(self.pipeline.link.clone(), self.pipeline.keys.clone(), session, groups));
            }
        }
    }

    /// Drops sessions and streams that have expired. `is_idle` is true if no deletion is queued.
    fn sweep(&mut self, now: Instant, is_idle: bool) {
        if now.duration_since(self.swept) > SWEEP {
            self.swept = now;
            let time = self.pipeline.limits.time;
            self.sessions.retain(|_, session| session.sweep(now, time));
            if is_idle {
                self.pipeline.incomplete.sweep(now, time);
            }
        }
    }
}

/// The command that ends a stream without an event.
fn end(key: &str) -> Cmd {
    let mut command = redis::cmd("XADD");
    command.arg(key).arg("NOMKSTREAM").arg(END).arg("e").arg(1);
    command
}

/// Deletes the streams of the groups in the engine's list, and of the groups that this node has listed: another node may have deleted
/// the list already.
async fn forget(
    link: Arc<Link>,
    keys: Keys,
    session: SessionId,
    mut groups: BTreeSet<u64>,
) -> Result<(), StoreError> {
    let list = keys.streams(session);
    let listed = link.run(redis::cmd("ZRANGE").arg(&list).arg(0).arg(-1)).await?;
    groups.extend(redis::from_redis_value::<Vec<u64>>(listed).map_err(StoreError::damaged)?);
    for group in groups {
        let mut command = redis::cmd("UNLINK");
        let first = group.saturating_mul(GROUP);
        (first..first.saturating_add(GROUP)).for_each(|stream| _ = command.arg(keys.stream(session, stream)));
        link.run(&command).await?;
    }
    link.run(redis::cmd("UNLINK").arg(list)).await.map(drop)
}
