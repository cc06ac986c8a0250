//! The records of sessions, and the lists that bound the sessions of a caller.

use std::time::Duration;

use agentwire_store::{SessionId, SessionRecord, SessionRecords, StoreError, StreamBlock};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use redis::{Cmd, Pipeline, Value};

use crate::error::{store_error, unexpected};
use crate::events::message::millis;
use crate::json;
use crate::link::Link;
use crate::new_session::{CREATE, SKIPPED, TAKE};
use crate::store::RedisStore;

// `new_session` describes the stored form.

/// KEYS: record, numbers. ARGV: time to live in milliseconds. Returns 1 if the record exists.
const TOUCH: &str = "\
redis.call('PEXPIRE', KEYS[2], ARGV[1] * 2)
return redis.call('PEXPIRE', KEYS[1], ARGV[1])";

/// KEYS: record, numbers. Deletes both if the record has version 0, which means that it was never updated. Returns 1 if so.
const DELETE_UNUSED: &str = "\
if redis.call('GETRANGE', KEYS[1], 0, 1) ~= '0 ' then return 0 end
redis.call('UNLINK', KEYS[2])
return redis.call('UNLINK', KEYS[1])";

/// KEYS: record. ARGV: the expected version, the next version, JSON. Returns 0 if the record has another version.
const UPDATE: &str = "\
local version, epoch = string.match(redis.call('GETRANGE', KEYS[1], 0, 63), '^(%d+) (%x+ )')
if version ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2] .. ' ' .. epoch .. ARGV[3], 'KEEPTTL')
return 1";

// The sessions of a caller are counted by a list with the time at which each expires, by the clock of the engine. The list is in
// another slot than the sessions, so it may be behind: if a renewal in the list fails, a session leaves it too early; if a removal
// fails, a session leaves it when its record would have expired.

/// KEYS: sessions of a caller. ARGV: session, time to live in milliseconds, the limit. Returns 0 if the limit is reached.
const LIST: &str = "\
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2], 'NX')
redis.call('PEXPIRE', KEYS[1], ARGV[2], 'GT')
return 1";

/// The caller has reached the limit of sessions.
#[derive(Debug, thiserror::Error)]
#[error("the caller has {0} sessions, as many as one may have")]
struct TooMany(usize);

impl RedisStore {
    fn record_script(&self, script: &'static str, session: SessionId) -> Cmd {
        let mut command = redis::cmd("EVAL");
        command.arg(script).arg(2).arg(self.keys.record(session)).arg(self.keys.numbers(session));
        command
    }

    /// The key of the list of a caller's sessions. `None` if the caller is unknown.
    fn list_of(&self, owner: Option<&str>) -> Option<String> {
        owner.map(|owner| self.keys.other(format_args!("o:{owner}")))
    }
}

/// Puts a session into the list of its caller for `time` milliseconds. Returns false if the caller has reached the limit.
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
                    // The version in front of the JSON counts, because the scripts set it.
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
                // The session goes on even if its caller has too many now.
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
