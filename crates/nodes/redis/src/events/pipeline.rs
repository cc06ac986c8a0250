//! Sends prepared writes to the engine in pipelines, and returns those that must be repeated because the engine was away.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use agentwire_store::{SessionId, StoreError};
use agentwire_sync::Mutex;
use bytes::Bytes;
use futures_util::future::join_all;
use redis::{Cmd, Pipeline, RedisResult, Value};

use crate::error::{is_silent, store_error};
use crate::events::entry;
use crate::events::entry::{END, is_only_event};
use crate::events::incomplete::Incomplete;
use crate::events::last_event;
use crate::events::message::{Change, GROUP, StreamLimits, Write, millis};
use crate::events::pace::Pace;
use crate::link::Link;
use crate::link::keys::Keys;

/// The engine answers, but the event does not reach it within the longest time-out.
#[derive(Debug, thiserror::Error)]
#[error("the connection to the engine is too slow for an event of {0} bytes")]
struct TooSlow(usize);

/// An earlier event of the stream could not be stored.
#[derive(Debug, thiserror::Error)]
#[error("an earlier event of the stream could not be stored")]
struct EarlierEventLost;

/// Sends writes to the engine. Those of a stream keep their order.
pub(crate) struct EventPipeline {
    /// The connection for events. Other commands do not wait behind them.
    pub(crate) link: Arc<Link>,
    /// The connection for other commands, which shows whether the engine answers.
    commands: Arc<Link>,
    pub(crate) keys: Keys,
    pub(crate) limits: StreamLimits,
    pub(crate) incomplete: Incomplete,
    pace: Mutex<Pace>,
}

/// A write with its prepared command.
pub(crate) struct Pending {
    pub(crate) write: Write,
    pub(crate) command: Cmd,
    /// Whether its stream is in the list of its session.
    pub(crate) is_listed: bool,
    /// Whether an earlier attempt failed that may have stored it.
    pub(crate) is_repeated: bool,
}

impl EventPipeline {
    pub(crate) fn new(
        (link, commands): (Arc<Link>, Arc<Link>),
        keys: Keys,
        limits: StreamLimits,
        incomplete: Incomplete,
    ) -> Self {
        let pace = Mutex::new(Pace::new());
        Self { link, commands, keys, limits, incomplete, pace }
    }

    /// Sends writes, in a cluster those of each session on their own. Returns those that must be repeated.
    pub(crate) async fn attempt(&self, pending: Vec<Pending>) -> Vec<Pending> {
        if !self.link.is_cluster() {
            return self.attempt_group(pending).await;
        }
        let mut groups: Vec<Vec<Pending>> = Vec::new();
        let mut by_session = HashMap::new();
        for pending in pending {
            let group = *by_session.entry(pending.write.session).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(pending);
        }
        join_all(groups.into_iter().map(|group| self.attempt_group(group)))
            .await
            .into_iter()
            .flatten()
            .collect()
    }

    /// Sends writes in parts, one after the other, so that a time-out repeats one part only. Returns those that must be repeated.
    async fn attempt_group(&self, mut left: Vec<Pending>) -> Vec<Pending> {
        let mut repeated = Vec::new();
        loop {
            left = self.refuse_incomplete(left);
            if left.is_empty() {
                return repeated;
            }
            let count = self.pace.lock().count(left.iter().map(|pending| pending.write.size));
            let rest = left.split_off(count);
            match self.attempt_part(std::mem::replace(&mut left, rest)).await {
                Ok(part) => repeated.extend(part),
                Err(part) => {
                    repeated.extend(part);
                    repeated.append(&mut left);
                }
            }
        }
    }

    /// Refuses the writes of streams that have lost an event. Returns the others.
    fn refuse_incomplete(&self, mut pending: Vec<Pending>) -> Vec<Pending> {
        if self.incomplete.is_empty() {
            return pending;
        }
        let now = Instant::now();
        let is_refused =
            |Pending { write, .. }: &mut Pending| self.incomplete.refuses(write.session, write.stream, now);
        pending.extract_if(.., is_refused).for_each(|pending| self.refuse(pending.write));
        pending
    }

    /// Sends writes in one pipeline. Returns those that must be repeated, as an error if the engine did not answer.
    async fn attempt_part(&self, mut group: Vec<Pending>) -> Result<Vec<Pending>, Vec<Pending>> {
        let mut pipeline = Pipeline::with_capacity(group.len());
        for pending in &mut group {
            pipeline.add_command(std::mem::take(&mut pending.command));
        }
        self.add_expiries(&group, &mut pipeline);
        let timeout = self.link.timeout();
        let (next_timeout, is_longest) = self.pace.lock().next_timeout(timeout);
        let answered = is_longest && group.len() == 1 && self.answers(&group).await;
        let sent = Instant::now();
        match self.link.run_all_within(&pipeline, next_timeout).await {
            Ok(replies) => {
                self.pace.lock().succeed(sent.elapsed() < timeout);
                Ok(self.finish_all(group, replies, &pipeline).await)
            }
            Err(error) if is_silent(&error) && self.is_too_slow(&group, answered).await => {
                for Pending { write, .. } in group {
                    let error = StoreError::full(TooSlow(write.size));
                    self.lose(write, error);
                }
                Ok(Vec::new())
            }
            Err(StoreError::Away(_)) => {
                for (pending, command) in group.iter_mut().zip(pipeline.cmd_iter()) {
                    // The list may have expired when it is repeated.
                    (pending.is_repeated, pending.is_listed) = (true, false);
                    pending.command = command.clone();
                }
                // The queue stays bounded, because these count until they are written.
                Err(group)
            }
            Err(error) => {
                for pending in group {
                    pending.write.finish(Err(StoreError::damaged(
                        agentwire_jsonrpc::WithCauses::new(&error).to_string(),
                    )));
                }
                Ok(Vec::new())
            }
        }
    }

    /// Called when a pipeline has timed out. Returns whether its single message is given up: the time-out was the longest, and the
    /// engine `answered` on the other connection before and answers now. Otherwise PINGs open the circuit if the engine is away.
    async fn is_too_slow(&self, group: &[Pending], answered: bool) -> bool {
        self.pace.lock().fail(group.len() == 1);
        let is_too_slow = answered && self.answers(group).await;
        if !is_too_slow {
            self.commands.probe();
        }
        is_too_slow
    }

    /// Returns whether the engine answers a command on the key of the first write.
    async fn answers(&self, group: &[Pending]) -> bool {
        let Some(Pending { write, .. }) = group.first() else { return false };
        let key = self.keys.stream(write.session, write.stream);
        self.commands.run(redis::cmd("EXISTS").arg(key)).await.is_ok()
    }

    /// Fails a write whose stream has lost an event.
    pub(crate) fn refuse(&self, write: Write) {
        write.finish(Err(StoreError::full(EarlierEventLost)));
    }

    /// Fails a write that cannot be stored, and deletes its stream.
    fn lose(&self, write: Write, error: StoreError) {
        self.incomplete.add(write.session, write.stream, Instant::now());
        self.unlink(write.session, &[write.stream]);
        write.finish(Err(error));
    }

    /// Deletes streams of a session.
    pub(crate) fn unlink(&self, session: SessionId, streams: &[u64]) {
        if streams.is_empty() {
            return;
        }
        let mut command = redis::cmd("UNLINK");
        streams.iter().for_each(|stream| _ = command.arg(self.keys.stream(session, *stream)));
        let link = self.link.clone();
        tokio::spawn(async move { link.run(&command).await });
    }

    /// Adds the commands that renew the expiry of each stream, and that list new streams with their session.
    fn add_expiries(&self, group: &[Pending], pipeline: &mut Pipeline) {
        let time = millis(self.limits.time);
        let (mut listed, mut seen) = (HashSet::new(), HashSet::new());
        for Pending { write: Write { session, stream, change, .. }, is_listed, .. } in group {
            let group = stream / GROUP;
            if !is_listed && listed.insert((session, group)) {
                let list = self.keys.streams(*session);
                pipeline.cmd("ZADD").arg(&list).arg(group).arg(group);
                let last = -1 - i64::try_from(self.limits.groups()).unwrap_or(i64::MAX - 1);
                pipeline.cmd("ZREMRANGEBYRANK").arg(&list).arg(0).arg(last);
                // A listed group is listed again after half of `time`, and its streams live for `time` after their last event.
                pipeline.cmd("PEXPIRE").arg(list).arg(time.saturating_mul(2));
            }
            // The command of a last event sets the expiry itself.
            if !matches!(change, Change::Last { .. }) && seen.insert((session, stream)) {
                pipeline.cmd("PEXPIRE").arg(self.keys.stream(*session, *stream)).arg(time);
            }
        }
    }

    /// Finishes writes by the engine's replies to a pipeline that begins with their commands. Returns those that must be repeated.
    async fn finish_all(
        &self,
        group: Vec<Pending>,
        replies: Vec<RedisResult<Value>>,
        pipeline: &Pipeline,
    ) -> Vec<Pending> {
        // A cluster's connection repeats commands by itself.
        let is_repeated = self.link.is_cluster();
        let (mut others, now) = (Vec::new(), Instant::now());
        for ((mut pending, reply), command) in group.into_iter().zip(replies).zip(pipeline.cmd_iter()) {
            let Write { session, stream, .. } = pending.write;
            if self.incomplete.refuses(session, stream, now) {
                self.refuse(pending.write);
                continue;
            }
            if pending.is_rejected(&reply) {
                pending.command = command.clone();
                let may_be_done = pending.is_repeated || is_repeated;
                others.push(self.finish_rejected(pending, matches!(reply, Ok(Value::Nil)), may_be_done));
                continue;
            }
            let write = pending.write;
            match reply.map_err(store_error) {
                Err(error @ (StoreError::Full(_) | StoreError::Damaged(_))) => self.lose(write, error),
                result => write.finish(result.map(drop)),
            }
        }
        join_all(others).await.into_iter().flatten().collect()
    }

    /// Finishes a write that the engine has rejected. Returns the write instead if it must be repeated.
    async fn finish_rejected(
        &self,
        mut pending: Pending,
        is_there: bool,
        may_be_done: bool,
    ) -> Option<Pending> {
        let result = match pending.write.change {
            Change::End => Ok(()),
            _ => match self.is_done(&mut pending, is_there, may_be_done).await {
                Ok(true) => Ok(()),
                Ok(false) => Err(StoreError::TakenOver),
                Err(_) => {
                    pending.is_repeated = true;
                    return Some(pending);
                }
            },
        };
        pending.write.finish(result);
        None
    }

    /// Returns whether a rejected write is stored nevertheless. `is_there` is true if the key of an only event exists, maybe without an
    /// event; then the event is stored behind the others.
    async fn is_done(
        &self,
        pending: &mut Pending,
        is_there: bool,
        may_be_done: bool,
    ) -> Result<bool, StoreError> {
        if may_be_done && self.is_stored(&pending.write).await? {
            return Ok(true);
        }
        let Write { session, stream, change: Change::Last { place, data }, .. } = &pending.write else {
            return Ok(false);
        };
        if !is_there {
            return Ok(false);
        }
        pending.command = last_event::store(&self.keys.stream(*session, *stream), *place, data, &self.limits);
        let is_done = self.link.run(&pending.command).await? != Value::Int(0);
        // A cluster's connection repeats commands by itself.
        Ok(is_done || self.link.is_cluster() && self.is_stored(&pending.write).await?)
    }

    /// Returns whether an earlier attempt has stored a rejected write.
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
}

impl Pending {
    /// Returns whether the engine has rejected the write because its place is taken or its stream has ended.
    fn is_rejected(&self, reply: &RedisResult<Value>) -> bool {
        let is_last = matches!(self.write.change, Change::Last { .. });
        match reply {
            Ok(Value::Nil) => is_last,
            Ok(reply) => matches!(reply, Value::Int(0)),
            // The engine has no specific code for an id that is not higher. These commands cannot fail with `ERR` otherwise. A script
            // reports a rejection by its reply.
            Err(error) => !is_last && (error.code() == Some("ERR") || is_only_event(error)),
        }
    }
}
