//! Writes the events of streams in their order, many in one pipeline, again where the engine was away.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_store::{SessionId, StoreError};
use agentwire_sync::Mutex;
use bytes::Bytes;
use futures_util::future::join_all;
use redis::{Cmd, Pipeline, RedisResult, Value};
use tokio::sync::mpsc;

use crate::entry::{self, END, is_only_event};
use crate::error::{is_silent, store_error};
use crate::incomplete::Incomplete;
use crate::keys::Keys;
use crate::last_event;
use crate::link::Link;
use crate::message::{Change, Message, StreamLimits, Write, millis};
use crate::pace::Pace;
use crate::running_stream::RunningStream;
use crate::session_events::{RESULT_COST, STREAM_COST, SessionEvents};

/// How many messages are taken from the queue at once.
const BATCH: usize = 512;
/// The time between two attempts while the engine is away.
const RETRY: Duration = Duration::from_millis(100);
/// The time after which streams that were not written to are looked for.
const SWEEP: Duration = Duration::from_secs(60);
/// The engine answers, but an event takes it longer than the longest time.
#[derive(Debug, thiserror::Error)]
#[error("the connection to the engine is too slow for an event of {0} bytes")]
struct TooSlow(usize);

/// An earlier event of the stream could not be stored.
#[derive(Debug, thiserror::Error)]
#[error("an earlier event of the stream could not be stored")]
struct AnotherIsMissing;

/// Takes messages until their senders are dropped.
pub(crate) struct Writer {
    /// The connection for events: nothing else waits behind them.
    link: Arc<Link>,
    /// The connection for commands, which tells whether the engine answers.
    commands: Arc<Link>,
    keys: Keys,
    limits: StreamLimits,
    incomplete: Incomplete,
    pace: Mutex<Pace>,
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
        (link, commands): (Arc<Link>, Arc<Link>),
        keys: Keys,
        limits: StreamLimits,
        incomplete: Incomplete,
    ) -> Self {
        let (streams, sessions, swept) = (HashMap::new(), HashMap::new(), Instant::now());
        let pace = Mutex::new(Pace::new());
        Self { link, commands, keys, limits, incomplete, pace, streams, sessions, swept }
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
                let is_new = self.streams.insert(id, RunningStream::new(Some(runs.clone()))).is_none();
                self.bound_session(id, is_new, STREAM_COST);
                let mut command = redis::cmd("XADD");
                command.arg(key).arg("0-1").arg("r").arg(&**runs);
                command
            }
            Change::Event { place, data } => {
                let is_new = !self.streams.contains_key(&id);
                let stream = self.streams.entry(id).or_insert_with(|| RunningStream::new(None));
                let command = stream.add(key, *place, data, self.limits);
                let bytes = stream.bytes + STREAM_COST;
                self.bound_session(id, is_new, bytes);
                command
            }
            Change::Last { place, data } => {
                let before = self.streams.remove(&id).map(|stream| stream.bytes + STREAM_COST);
                self.bound_session(id, before.is_none(), before.unwrap_or(RESULT_COST) + data.len());
                last_event::store(
                    key,
                    self.keys.streams(write.session),
                    write.stream,
                    (*place, data),
                    &self.limits,
                )
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

    /// A stream takes so many bytes now. Deletes streams of its session where that has too many, or too many bytes.
    fn bound_session(&mut self, (session, stream): (SessionId, u64), is_new: bool, bytes: usize) {
        let events = self.sessions.entry(session).or_insert_with(SessionEvents::new);
        for deleted in events.set(stream, is_new, bytes, &self.limits) {
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

    /// Sends writes in parts, one after the other, so that each part that passes is done. Returns those that are to be repeated.
    async fn attempt_group(&self, group: Vec<Pending>) -> Vec<Pending> {
        let (mut left, mut repeated) = (VecDeque::from(group), Vec::new());
        while !left.is_empty() {
            let count = self.pace.lock().count(left.iter().map(|pending| pending.write.size));
            match self.attempt_part(left.drain(..count).collect()).await {
                Ok(part) => repeated.extend(part),
                Err(part) => {
                    repeated.extend(part);
                    repeated.extend(left);
                    break;
                }
            }
        }
        repeated
    }

    /// Sends writes together. Returns those that are to be repeated, as an error where the engine did not answer.
    async fn attempt_part(&self, mut group: Vec<Pending>) -> Result<Vec<Pending>, Vec<Pending>> {
        let mut pipeline = Pipeline::new();
        group.iter().for_each(|pending| _ = pipeline.add_command(pending.command.clone()));
        self.add_expiries(&group, &mut pipeline);
        let timeout = self.link.timeout();
        let (patience, is_longest) = self.pace.lock().next_timeout(timeout);
        let answered = is_longest && group.len() == 1 && self.answers(&group).await;
        let sent = Instant::now();
        match self.link.run_all_within(&pipeline, patience).await {
            Ok(replies) => {
                self.pace.lock().succeed(sent.elapsed() < timeout);
                let replies = replies.into_iter();
                // A cluster's connection repeats commands by itself.
                let is_repeated = self.link.is_cluster();
                let results = join_all(group.into_iter().zip(replies).map(|(pending, reply)| async move {
                    let may_be_done = pending.is_repeated || is_repeated;
                    self.finish(pending, reply, may_be_done).await
                }))
                .await;
                Ok(results.into_iter().flatten().collect())
            }
            Err(error) if is_silent(&error) && self.is_too_slow(&group, answered).await => {
                for Pending { write, .. } in group {
                    let error = StoreError::full(TooSlow(write.size));
                    self.lose(write, error);
                }
                Ok(Vec::new())
            }
            Err(StoreError::Away(_)) => {
                group.iter_mut().for_each(|pending| pending.is_repeated = true);
                // The queue stays bounded: these count until they are written.
                Err(group)
            }
            Err(error) => {
                for pending in group {
                    self.answer(pending.write, Err(StoreError::damaged(error.to_string())));
                }
                Ok(Vec::new())
            }
        }
    }

    /// A pipeline had no answer in its time. Returns whether a message that was alone in it never passes: in the longest time it has
    /// not, and the engine `answered` before that and answers now. Otherwise the engine is asked so often that one that is away counts
    /// as away.
    async fn is_too_slow(&self, group: &[Pending], answered: bool) -> bool {
        self.pace.lock().fail(group.len() == 1);
        let is_too_slow = answered && self.answers(group).await;
        if !is_too_slow {
            self.commands.probe();
        }
        is_too_slow
    }

    /// Asks whether the engine answers for the keys of these writes.
    async fn answers(&self, group: &[Pending]) -> bool {
        let Some(Pending { write, .. }) = group.first() else { return false };
        let key = self.keys.stream(write.session, write.stream);
        self.commands.run(redis::cmd("EXISTS").arg(key)).await.is_ok()
    }

    /// A write cannot be done.
    fn lose(&self, write: Write, error: StoreError) {
        if !write.change.is_last() {
            self.incomplete.add(write.session, write.stream);
        }
        self.unlink(write.session, write.stream);
        self.answer(write, Err(error));
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
                if let Some(listed) = self.limits.listed(*stream) {
                    pipeline.cmd("ZREMRANGEBYRANK").arg(&streams).arg(0).arg(-listed - 1);
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
            Err(error) => {
                let is_refusal = error.code() == Some("ERR") || is_only_event(error);
                is_refusal && !matches!(pending.write.change, Change::Last { .. })
            }
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
        match result {
            Err(error @ (StoreError::Full(_) | StoreError::Damaged(_))) => self.lose(pending.write, error),
            result => self.answer(pending.write, result),
        }
        None
    }

    /// Returns whether a write that was refused is there: an earlier attempt has done it.
    async fn is_stored(&self, write: &Write) -> Result<bool, StoreError> {
        let key = self.keys.stream(write.session, write.stream);
        let (id, expected) = match &write.change {
            Change::Begin(runs) => ("0-1".to_owned(), runs),
            Change::Event { place, data } => (format!("{place}-0"), data),
            Change::Last { data, .. } => (END.to_owned(), data),
            Change::End => return Ok(true),
        };
        let mut pipeline = Pipeline::new();
        pipeline.cmd("XRANGE").arg(&key).arg(&id).arg(&id);
        let reply = self.link.run_all(&pipeline).await?.pop().unwrap_or(Ok(Value::Nil));
        if matches!(&reply, Err(error) if is_only_event(error)) {
            let only = entry::only_event(self.link.run(redis::cmd("GET").arg(key)).await?)?;
            let is_last = |(place, data): &(u64, Bytes)| matches!(&write.change, Change::Last { place: of, data: expected } if of == place && expected == data);
            return Ok(only.as_ref().is_some_and(is_last));
        }
        let found = entry::entries(reply.map_err(store_error)?)?;
        Ok(found.iter().any(|entry| entry.data.as_ref().or(entry.runs.as_ref()) == Some(expected)))
    }

    fn answer(&self, write: Write, result: Result<(), StoreError>) {
        drop(write.room);
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
