//! Writes the events of streams in their order, many in one pipeline, again where the engine was away.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use agentwire_store::{SessionId, StoreError};
use futures_util::future::join_all;
use redis::{Cmd, Pipeline, RedisResult, Value};
use tokio::sync::mpsc;

use crate::entry::{self, END};
use crate::error::store_error;
use crate::incomplete::Incomplete;
use crate::keys::Keys;
use crate::link::Link;
use crate::message::{Change, Message, StreamLimits, Write, millis};
use crate::running_stream::RunningStream;
use crate::session_events::SessionEvents;

/// How many messages are taken from the queue for one pipeline.
const BATCH: usize = 512;
/// The time between two attempts while the engine is away.
const RETRY: Duration = Duration::from_millis(100);
/// The time after which streams that were not written to are looked for.
const SWEEP: Duration = Duration::from_secs(60);
/// How many streams of a session [`Message::Forget`] finds. Older ones expire.
const STREAMS_OF_SESSION: i64 = 10_000;

/// Stores the last event of a stream and its end. KEYS: stream, streams of the session. ARGV: place, id of the end, data,
/// milliseconds, number of the stream. Returns 0 where the place is taken or the stream has ended.
const LAST: &str = "\
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last and tonumber(string.match(last[1], '^%d+')) >= tonumber(ARGV[1]) then return 0 end
redis.call('XADD', KEYS[1], ARGV[2], 'p', ARGV[1], 'd', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('ZADD', KEYS[2], ARGV[5], ARGV[5])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 1";

/// An earlier event of the stream could not be stored.
#[derive(Debug, thiserror::Error)]
#[error("an earlier event of the stream could not be stored")]
struct AnotherIsMissing;

/// Takes messages until their senders are dropped.
pub(crate) struct Writer {
    link: Arc<Link>,
    keys: Keys,
    limits: StreamLimits,
    queued: Arc<AtomicUsize>,
    incomplete: Incomplete,
    streams: HashMap<(SessionId, u64), RunningStream>,
    sessions: HashMap<SessionId, SessionEvents>,
    swept: Instant,
}

/// A write whose command is made.
struct Pending {
    write: Write,
    command: Cmd,
    /// Whether an attempt failed after which it may be done.
    is_repeated: bool,
}

impl Writer {
    pub(crate) fn new(
        link: Arc<Link>,
        keys: Keys,
        limits: StreamLimits,
        queued: Arc<AtomicUsize>,
        incomplete: Incomplete,
    ) -> Self {
        let (streams, sessions) = (HashMap::new(), HashMap::new());
        Self { link, keys, limits, queued, incomplete, streams, sessions, swept: Instant::now() }
    }

    pub(crate) async fn run(mut self, mut queue: mpsc::UnboundedReceiver<Message>) {
        let mut messages = Vec::with_capacity(BATCH);
        while queue.recv_many(&mut messages, BATCH).await > 0 {
            let (mut pending, mut deletions) = (Vec::new(), Vec::new());
            for message in messages.drain(..) {
                match message {
                    Message::Write(write) if self.incomplete.contains(write.session, write.stream) => {
                        self.answer(write, Err(StoreError::full(AnotherIsMissing)));
                    }
                    Message::Write(write) => pending.push(self.prepare(write)),
                    deletion => deletions.push(deletion),
                }
            }
            loop {
                pending = self.attempt(pending).await;
                // Without a store, nobody waits for these.
                if pending.is_empty() || queue.is_closed() {
                    break;
                }
                tokio::time::sleep(RETRY).await;
            }
            deletions.into_iter().for_each(|deletion| self.delete(deletion));
            self.sweep();
        }
    }

    fn prepare(&mut self, write: Write) -> Pending {
        let key = self.keys.stream(write.session, write.stream);
        let id = (write.session, write.stream);
        let command = match &write.change {
            Change::Begin(runs) => {
                self.streams.insert(id, RunningStream::new(Some(runs.clone())));
                let mut command = redis::cmd("XADD");
                command.arg(key).arg("0-1").arg("r").arg(&**runs);
                command
            }
            Change::Event { place, data } => {
                let stream = self.streams.entry(id).or_insert_with(|| RunningStream::new(None));
                let command = stream.add(key, *place, data, self.limits);
                let bytes = stream.bytes;
                self.bound_session(write.session, write.stream, bytes);
                command
            }
            Change::Last { place, data } => {
                let before = self.streams.remove(&id).map_or(0, |stream| stream.bytes);
                self.bound_session(write.session, write.stream, before + data.len());
                let mut command = redis::cmd("EVAL");
                command.arg(LAST).arg(2).arg(key).arg(self.keys.streams(write.session));
                command.arg(*place).arg(END).arg(&**data).arg(millis(self.limits.time)).arg(write.stream);
                command
            }
            Change::End => {
                self.streams.remove(&id);
                let mut command = redis::cmd("XADD");
                command.arg(key).arg("NOMKSTREAM").arg(END).arg("e").arg(1);
                command
            }
        };
        Pending { write, command, is_repeated: false }
    }

    /// Deletes streams of a session that has too many bytes of events.
    fn bound_session(&mut self, session: SessionId, stream: u64, bytes: usize) {
        let events = self.sessions.entry(session).or_insert_with(SessionEvents::new);
        for deleted in events.set(stream, bytes, self.limits.session_bytes) {
            // One that runs goes on with what comes.
            if let Some(stream) = self.streams.get_mut(&(session, deleted)) {
                stream.forget_all();
            }
            self.unlink(session, deleted);
        }
    }

    fn unlink(&self, session: SessionId, stream: u64) {
        let (link, key) = (self.link.clone(), self.keys.stream(session, stream));
        tokio::spawn(async move { link.run(redis::cmd("UNLINK").arg(key)).await });
    }

    /// Returns those that are to be repeated.
    async fn attempt(&self, pending: Vec<Pending>) -> Vec<Pending> {
        let mut groups: Vec<Vec<Pending>> = Vec::new();
        if self.link.is_cluster() {
            let mut by_session = HashMap::new();
            for pending in pending {
                let group = *by_session.entry(pending.write.session).or_insert_with(|| {
                    groups.push(Vec::new());
                    groups.len() - 1
                });
                groups[group].push(pending);
            }
        } else {
            groups.push(pending);
        }
        join_all(groups.into_iter().map(|group| self.attempt_group(group)))
            .await
            .into_iter()
            .flatten()
            .collect()
    }

    async fn attempt_group(&self, mut group: Vec<Pending>) -> Vec<Pending> {
        let mut pipeline = Pipeline::new();
        group.iter().for_each(|pending| _ = pipeline.add_command(pending.command.clone()));
        self.add_expiries(&group, &mut pipeline);
        match self.link.run_all(&pipeline).await {
            Ok(replies) => {
                let replies = replies.into_iter();
                // A cluster's connection repeats commands by itself.
                let is_repeated = self.link.is_cluster();
                join_all(group.into_iter().zip(replies).map(|(pending, reply)| async move {
                    let may_be_done = pending.is_repeated || is_repeated;
                    self.finish(pending, reply, may_be_done).await
                }))
                .await
                .into_iter()
                .flatten()
                .collect()
            }
            Err(StoreError::Away(_)) => {
                group.iter_mut().for_each(|pending| pending.is_repeated = true);
                // The queue stays bounded: these count until they are written.
                group
            }
            Err(error) => {
                for pending in group {
                    self.answer(pending.write, Err(StoreError::damaged(error.to_string())));
                }
                Vec::new()
            }
        }
    }

    /// Each stream of a batch expires from now, and is listed with its session where it is new.
    fn add_expiries(&self, group: &[Pending], pipeline: &mut Pipeline) {
        let mut seen = Vec::new();
        for Pending { write: Write { session, stream, change, .. }, .. } in group {
            if matches!(change, Change::Last { .. }) {
                continue;
            }
            let time = millis(self.limits.time);
            if matches!(change, Change::Begin(_) | Change::Event { place: 1, .. }) {
                let streams = self.keys.streams(*session);
                pipeline.cmd("ZADD").arg(&streams).arg(*stream).arg(*stream);
                if stream % 64 == 0 {
                    pipeline.cmd("ZREMRANGEBYRANK").arg(&streams).arg(0).arg(-1 - STREAMS_OF_SESSION);
                }
                pipeline.cmd("PEXPIRE").arg(streams).arg(time);
            }
            if !seen.contains(&(session, stream)) {
                seen.push((session, stream));
                pipeline.cmd("PEXPIRE").arg(self.keys.stream(*session, *stream)).arg(time);
            }
        }
    }

    async fn finish(
        &self,
        mut pending: Pending,
        reply: RedisResult<Value>,
        may_be_done: bool,
    ) -> Option<Pending> {
        let is_refused = match &reply {
            Ok(reply) => matches!(reply, Value::Int(0)),
            // The engine has no code of its own for an id that is not higher. It has no other fault to find in these commands; a
            // script says it by its reply.
            Err(error) => error.code() == Some("ERR") && !matches!(pending.write.change, Change::Last { .. }),
        };
        let result = if !is_refused {
            reply.map(drop).map_err(store_error)
        } else if matches!(pending.write.change, Change::End) {
            Ok(())
        } else if may_be_done {
            match self.is_stored(&pending.write).await {
                Ok(true) => Ok(()),
                Ok(false) => Err(StoreError::TakenOver),
                Err(_) => {
                    pending.is_repeated = true;
                    return Some(pending);
                }
            }
        } else {
            Err(StoreError::TakenOver)
        };
        if let Err(StoreError::Full(_) | StoreError::Damaged(_)) = result {
            let Write { session, stream, change, .. } = &pending.write;
            if !change.is_last() {
                self.incomplete.add(*session, *stream);
            }
            self.unlink(*session, *stream);
        }
        self.answer(pending.write, result);
        None
    }

    /// Returns whether a write that was refused is there: an earlier attempt has done it.
    async fn is_stored(&self, write: &Write) -> Result<bool, StoreError> {
        let (id, expected) = match &write.change {
            Change::Begin(runs) => ("0-1".to_owned(), runs),
            Change::Event { place, data } => (format!("{place}-0"), data),
            Change::Last { data, .. } => (END.to_owned(), data),
            Change::End => return Ok(true),
        };
        let mut command = redis::cmd("XRANGE");
        command.arg(self.keys.stream(write.session, write.stream)).arg(&id).arg(&id);
        let found = entry::entries(self.link.run(&command).await?)?;
        Ok(found.iter().any(|entry| entry.data.as_ref().or(entry.runs.as_ref()) == Some(expected)))
    }

    fn answer(&self, write: Write, result: Result<(), StoreError>) {
        self.queued.fetch_sub(write.size, Ordering::Relaxed);
        _ = write.done.send(result);
    }

    fn delete(&mut self, deletion: Message) {
        match deletion {
            Message::Write(_) => (),
            Message::Delete(session, stream) => {
                self.streams.remove(&(session, stream));
                self.unlink(session, stream);
            }
            Message::Forget(session) => {
                self.sessions.remove(&session);
                self.streams.retain(|(other, _), _| *other != session);
                tokio::spawn(forget(self.link.clone(), self.keys.clone(), session));
            }
        }
    }

    /// Drops what is known of streams that have expired.
    fn sweep(&mut self) {
        if self.swept.elapsed() > SWEEP {
            self.swept = Instant::now();
            self.streams.retain(|_, stream| stream.written.elapsed() < self.limits.time);
            self.sessions.retain(|_, session| session.written.elapsed() < self.limits.time);
        }
    }
}

async fn forget(link: Arc<Link>, keys: Keys, session: SessionId) -> Result<(), StoreError> {
    let list = keys.streams(session);
    let streams = link.run(redis::cmd("ZRANGE").arg(&list).arg(0).arg(-1)).await?;
    let streams: Vec<String> = redis::from_redis_value(streams).map_err(StoreError::damaged)?;
    for streams in streams.chunks(BATCH) {
        let mut command = redis::cmd("UNLINK");
        streams.iter().for_each(|stream| _ = command.arg(keys.stream(session, stream)));
        link.run(&command).await?;
    }
    link.run(redis::cmd("UNLINK").arg(list)).await.map(drop)
}
