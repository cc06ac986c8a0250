//! The records of sessions.

use std::time::Duration;

use agentwire_store::{SessionId, SessionRecord, SessionRecords, StoreError, StreamBlock};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use redis::{Cmd, Pipeline, Value};

use crate::error::{store_error, unexpected};
use crate::json;
use crate::link::Link;
use crate::message::millis;
use crate::store::RedisStore;

// A record is stored as VERSION, EPOCH, JSON, with a space between two of them. So the scripts read no JSON. The numbers of streams
// are the last that is taken and an EPOCH. They are kept twice as long as the record: were they forgotten first, a number could be
// given twice.
//
// An epoch is the beginning of the engine's replication id, which is another after each restart and failover. Those may lose the
// last writes, and with them numbers that nodes have. So in another epoch the numbers go on far behind the last that is known.

/// KEYS: record. ARGV: version, time to live in milliseconds, JSON.
const CREATE: &str = "\
local epoch = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x%x%x%x%x%x%x%x)')
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. epoch .. ' ' .. ARGV[3], 'PX', ARGV[2])
return 1";

/// KEYS: a record that belongs to no session. ARGV: time to live in milliseconds. Writes it and deletes it.
const TRY: &str = "\
redis.call('SET', KEYS[1], '0', 'PX', ARGV[1])
return redis.call('UNLINK', KEYS[1])";

/// KEYS: record, numbers. ARGV: time to live in milliseconds. Returns 1 where there is a record.
const TOUCH: &str = "\
redis.call('PEXPIRE', KEYS[2], ARGV[1] * 2)
return redis.call('PEXPIRE', KEYS[1], ARGV[1])";

/// KEYS: record, numbers. Returns 1 where the record was of version 0, and is deleted.
const DELETE_UNUSED: &str = "\
if redis.call('GETRANGE', KEYS[1], 0, 1) ~= '0 ' then return 0 end
redis.call('UNLINK', KEYS[2])
return redis.call('UNLINK', KEYS[1])";

/// KEYS: record. ARGV: the version that it has, the next, JSON. Returns 1 where it had that version.
const UPDATE: &str = "\
local version, epoch = string.match(redis.call('GETRANGE', KEYS[1], 0, 63), '^(%d+) (%x+ )')
if version ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2] .. ' ' .. epoch .. ARGV[3], 'KEEPTTL')
return 1";

/// KEYS: record, numbers. ARGV: how many; how many more in another epoch. Returns the last number that is taken now.
const TAKE: &str = "\
local before = string.match(redis.call('GETRANGE', KEYS[1], 0, 63), '^%d+ (%x+) ')
if not before then return false end
local last, taken = 0, redis.call('GET', KEYS[2])
if taken then last, before = string.match(taken, '^(%d+) (%x+)$') end
local epoch = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x%x%x%x%x%x%x%x)')
if before ~= epoch then last = last + ARGV[2] end
last = last + ARGV[1]
redis.call('SET', KEYS[2], string.format('%.0f %s', last, epoch), 'PX', redis.call('PTTL', KEYS[1]) * 2 + 1000)
return last";

// The sessions of a caller are counted by a list with the time at which each expires, by the clock of the engine. It is in another slot
// than they are, so it may be behind: a session that could not be listed again leaves it too early, and one whose end was missed
// when its record would expire.

/// KEYS: sessions of a caller. ARGV: session, time to live in milliseconds, how many at most. Returns 0 where there are as many.
const LIST: &str = "\
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2], 'NX')
redis.call('PEXPIRE', KEYS[1], ARGV[2], 'GT')
return 1";

/// The caller has as many sessions as one may have.
#[derive(Debug, thiserror::Error)]
#[error("the caller has {0} sessions, as many as one may have")]
struct TooMany(usize);

/// How many numbers of streams are left out in another epoch: more than a session takes in the time whose writes may be lost.
const SKIPPED: u64 = 1 << 20;

/// How long the record of a check lives, at most.
const TRIAL_TIME: Duration = Duration::from_secs(10);

impl RedisStore {
    fn record_script(&self, script: &'static str, session: SessionId) -> Cmd {
        let mut command = redis::cmd("EVAL");
        command.arg(script).arg(2).arg(self.keys.record(session)).arg(self.keys.numbers(session));
        command
    }

    /// Writes a record that belongs to no session: an engine that answers may still take none, because its memory is full, it is a
    /// replica, or the user may not run scripts.
    pub(crate) fn trial_record(&self) -> Cmd {
        let mut command = redis::cmd("EVAL");
        command.arg(TRY).arg(1).arg(self.keys.other("check")).arg(millis(TRIAL_TIME));
        command
    }

    /// The list of the sessions of a caller, where that is known.
    fn list_of(&self, owner: Option<&str>) -> Option<String> {
        owner.map(|owner| self.keys.other(format_args!("o:{owner}")))
    }
}

/// Lists a session with those of its caller, for so many milliseconds. Returns false where that has as many as it may have.
async fn list(
    link: &Link,
    list: Option<&str>,
    session: SessionId,
    time: u64,
    limit: usize,
) -> Result<bool, StoreError> {
    let Some(list) = list else { return Ok(true) };
    let mut command = redis::cmd("EVAL");
    command.arg(LIST).arg(1).arg(list).arg(session.to_string()).arg(time).arg(limit);
    Ok(link.run(&command).await? == Value::Int(1))
}

async fn remove_from(link: &Link, list: Option<&str>, session: SessionId) -> Result<(), StoreError> {
    let Some(list) = list else { return Ok(()) };
    link.run(redis::cmd("ZREM").arg(list).arg(session.to_string())).await.map(drop)
}

impl SessionRecords for RedisStore {
    fn create(
        &self,
        session: SessionId,
        record: SessionRecord,
        time_to_live: Duration,
    ) -> BoxFuture<'static, Result<(), StoreError>> {
        let (link, limit, time) = (self.link.clone(), self.owner_sessions, millis(time_to_live));
        let of_owner = self.list_of(record.owner.as_deref());
        let mut command = redis::cmd("EVAL");
        command.arg(CREATE).arg(1).arg(self.keys.record(session));
        async move {
            let text = serde_json::to_vec(&record).map_err(StoreError::damaged)?;
            if !list(&link, of_owner.as_deref(), session, time, limit).await? {
                return Err(StoreError::full(TooMany(limit)));
            }
            command.arg(record.version).arg(time).arg(text);
            let created = link.run(&command).await.map(drop);
            if let Err(StoreError::Full(_)) = created {
                remove_from(&link, of_owner.as_deref(), session).await?;
            }
            created
        }
        .boxed()
    }

    fn load(&self, session: SessionId) -> BoxFuture<'static, Result<Option<SessionRecord>, StoreError>> {
        let (link, shares) = (self.link.clone(), self.shares.clone());
        let mut command = redis::cmd("GET");
        command.arg(self.keys.record(session));
        async move {
            match link.run(&command).await? {
                Value::Nil => Ok(None),
                Value::BulkString(text) => {
                    // The version counts that is in front: a script has set it.
                    let mut parts = text.splitn(3, |byte| *byte == b' ');
                    let version = parts.next().and_then(|version| str::from_utf8(version).ok()?.parse().ok());
                    let text = parts.nth(1).ok_or_else(|| unexpected("GET"))?;
                    let mut record: SessionRecord = json::decode(text)?;
                    record.version = version.ok_or_else(|| unexpected("GET"))?;
                    shares.open(session, record.owner.as_deref());
                    Ok(Some(record))
                }
                _ => Err(unexpected("GET")),
            }
        }
        .boxed()
    }

    fn touch(
        &self,
        session: SessionId,
        time_to_live: Duration,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        let (link, time) = (self.link.clone(), millis(time_to_live));
        let mut command = self.record_script(TOUCH, session);
        command.arg(time);
        let of_owner = self.list_of(self.shares.caller(session).as_deref());
        async move {
            let is_there = link.run(&command).await? == Value::Int(1);
            if is_there {
                // The session goes on even where its caller has too many by now.
                list(&link, of_owner.as_deref(), session, time, usize::MAX).await?;
            }
            Ok(is_there)
        }
        .boxed()
    }

    fn update(
        &self,
        session: SessionId,
        record: SessionRecord,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        let link = self.link.clone();
        let mut command = redis::cmd("EVAL");
        command.arg(UPDATE).arg(1).arg(self.keys.record(session)).arg(record.version).arg(record.version + 1);
        async move {
            command.arg(serde_json::to_vec(&record).map_err(StoreError::damaged)?);
            Ok(link.run(&command).await? == Value::Int(1))
        }
        .boxed()
    }

    fn delete(&self, session: SessionId) -> BoxFuture<'static, Result<bool, StoreError>> {
        let link = self.link.clone();
        let mut pipeline = Pipeline::new();
        pipeline.cmd("UNLINK").arg(self.keys.record(session));
        pipeline.cmd("UNLINK").arg(self.keys.numbers(session));
        let of_owner = self.list_of(self.shares.caller(session).as_deref());
        async move {
            let reply =
                link.run_all(&pipeline).await?.into_iter().next().ok_or_else(|| unexpected("UNLINK"))?;
            let is_deleted = reply.map_err(store_error)? == Value::Int(1);
            // What remains there expires.
            _ = remove_from(&link, of_owner.as_deref(), session).await;
            Ok(is_deleted)
        }
        .boxed()
    }

    fn delete_unused(&self, session: SessionId) -> BoxFuture<'static, Result<bool, StoreError>> {
        let (link, command) = (self.link.clone(), self.record_script(DELETE_UNUSED, session));
        let of_owner = self.list_of(self.shares.caller(session).as_deref());
        async move {
            let is_deleted = link.run(&command).await? == Value::Int(1);
            if is_deleted {
                // What remains there expires.
                _ = remove_from(&link, of_owner.as_deref(), session).await;
            }
            Ok(is_deleted)
        }
        .boxed()
    }

    fn take_streams(
        &self,
        session: SessionId,
        count: u64,
    ) -> BoxFuture<'static, Result<Option<StreamBlock>, StoreError>> {
        let link = self.link.clone();
        let mut command = self.record_script(TAKE, session);
        command.arg(count).arg(SKIPPED);
        async move {
            match link.run(&command).await? {
                Value::Nil => Ok(None),
                Value::Int(last) => {
                    let end = u64::try_from(last).map_err(StoreError::damaged)? + 1;
                    Ok(Some(end.saturating_sub(count)..end))
                }
                _ => Err(unexpected("INCRBY")),
            }
        }
        .boxed()
    }
}
