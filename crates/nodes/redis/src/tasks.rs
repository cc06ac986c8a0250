//! The records of tasks, the lists of them, and their removal from the lists.

use agentwire_mcp_server::{TaskCursor, TaskOwner, TaskRecord, TaskStore, TaskStoreError};
use agentwire_store::StoreError;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use redis::{Cmd, Value};

use crate::error::unexpected;
use crate::events::message::millis;
use crate::json;
use crate::store::RedisStore;

/// The maximum number of list entries that one command reads.
const PAGE: usize = 256;
/// The time that an owner's list is kept longer than its tasks, in milliseconds.
const SLACK: u64 = 60_000;
/// The first byte of the record of a task that has not ended. The JSON follows, which the script need not read.
const OPEN: u8 = b'o';
/// The first byte of the record of a task that has ended.
const ENDED: u8 = b'e';
/// KEYS: the record. ARGV: its new value. Returns 0 if it does not exist or the task has ended.
const UPDATE: &str = "\
if redis.call('GETRANGE', KEYS[1], 0, 0) ~= 'o' then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'KEEPTTL')
return 1";
/// The maximum number of expired tasks that the creation of a task removes from the lists.
const SWEPT: usize = 16;

// Tasks expire by the clock of the engine, and they leave the lists by the same clock, because a node's clock may differ. A sorted set
// of expiry times contains each task with its owner, so that the task is removed from the owner's list too. Tasks of 2026-07-28 are in
// no owner's list, because that revision has no `tasks/list`.

/// KEYS: the expiry times. ARGV: milliseconds from now, task.
const EXPIRE: &str = "\
local time = redis.call('TIME')
return redis.call('ZADD', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1], ARGV[2])";

/// KEYS: the expiry times. ARGV: the maximum number of tasks. Returns the tasks that have expired.
const EXPIRED: &str = "\
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call('ZRANGE', KEYS[1], '-inf', string.format('(%.0f', now), 'BYSCORE', 'LIMIT', 0, ARGV[1])";

// The list of all tasks and the expiry times share a slot. The lists of owners expire by themselves.

impl RedisStore {
    fn task(&self, id: &str) -> String {
        self.keys.other(format_args!("t:{id}"))
    }

    /// The key of the list of an owner's tasks, or of all tasks.
    fn tasks(&self, owner: Option<&TaskOwner>) -> Result<String, StoreError> {
        Ok(match owner {
            Some(owner) => {
                let owner = serde_json::to_string(owner).map_err(StoreError::damaged)?;
                self.keys.other(format_args!("to:{owner}"))
            }
            None => self.keys.other("{t}:all"),
        })
    }

    /// The key of the owner's list that a task is in. `None` if its revision has no `tasks/list`.
    fn tasks_of_owner(&self, record: &TaskRecord) -> Result<Option<String>, StoreError> {
        listing_owner(record).map(|owner| self.tasks(Some(owner))).transpose()
    }

    fn task_expiries(&self) -> String {
        self.keys.other("{t}:expiries")
    }

    async fn create_task(&self, record: TaskRecord) -> Result<(), StoreError> {
        let text = encode(&record)?;
        let time = record.ttl.map_or(u64::MAX, |ttl| ttl.max(1)).min(millis(std::time::Duration::MAX));
        // The record is written before the lists, because a reader removes a task without a record from its list.
        self.link.run(redis::cmd("SET").arg(self.task(&record.id)).arg(text).arg("PX").arg(time)).await?;
        let mut commands = Vec::new();
        if let Some(of_owner) = self.tasks_of_owner(&record)? {
            let time = time.saturating_add(SLACK);
            commands.extend([
                command("ZADD", &of_owner, |command| command.arg(record.created_at).arg(&record.id)),
                // The list lives as long as its longest task: NX sets the first expiry, GT only a later one.
                command("PEXPIRE", &of_owner, |command| command.arg(time).arg("NX")),
                command("PEXPIRE", &of_owner, |command| command.arg(time).arg("GT")),
            ]);
        }
        let all = self.tasks(None)?;
        commands.push(command("ZADD", &all, |command| command.arg(record.created_at).arg(&record.id)));
        if let Some(ttl) = record.ttl {
            let mut expire = redis::cmd("EVAL");
            expire.arg(EXPIRE).arg(1).arg(self.task_expiries()).arg(ttl.min(time)).arg(expiry(&record)?);
            commands.push(expire);
        }
        self.link.run_each(&commands).await?;
        self.sweep_tasks().await
    }

    /// Removes up to [`SWEPT`] expired tasks from the lists.
    async fn sweep_tasks(&self) -> Result<(), StoreError> {
        let expiries = self.task_expiries();
        let mut find = redis::cmd("EVAL");
        find.arg(EXPIRED).arg(1).arg(&expiries).arg(SWEPT);
        let expired = redis::from_redis_value::<Vec<String>>(self.link.run(&find).await?);
        let (mut ids, mut commands) = (Vec::new(), Vec::new());
        let expired = expired.map_err(StoreError::damaged)?;
        for expired in &expired {
            let decoded = json::decode::<(String, Option<TaskOwner>)>(expired.as_bytes());
            let Ok((id, of_owner)) = decoded else { continue };
            if let Some(owner) = of_owner {
                commands.push(command("ZREM", &self.tasks(Some(&owner))?, |command| command.arg(&id)));
            }
            ids.push(id);
        }
        if !ids.is_empty() {
            commands.push(command("ZREM", &self.tasks(None)?, |command| command.arg(&ids)));
        }
        if !expired.is_empty() {
            commands.push(command("ZREM", &expiries, |command| command.arg(&expired)));
            self.link.run_each(&commands).await?;
        }
        Ok(())
    }

    async fn read_task(&self, id: &str) -> Result<Option<TaskRecord>, StoreError> {
        record(self.link.run(redis::cmd("GET").arg(self.task(id))).await?)
    }

    async fn update_task(&self, record: TaskRecord) -> Result<bool, StoreError> {
        let mut command = redis::cmd("EVAL");
        command.arg(UPDATE).arg(1).arg(self.task(&record.id)).arg(encode(&record)?);
        Ok(self.link.run(&command).await? == Value::Int(1))
    }

    async fn remove_task(&self, id: &str) -> Result<(), StoreError> {
        let Some(record) = self.read_task(id).await? else { return Ok(()) };
        let expiry = expiry(&record)?;
        self.link.run(redis::cmd("UNLINK").arg(self.task(id))).await?;
        let mut commands = vec![
            command("ZREM", &self.tasks(None)?, |command| command.arg(id)),
            command("ZREM", &self.task_expiries(), |command| command.arg(&expiry)),
        ];
        if let Some(of_owner) = self.tasks_of_owner(&record)? {
            commands.push(command("ZREM", &of_owner, |command| command.arg(id)));
        }
        self.link.run_each(&commands).await.map(drop)
    }

    async fn list_tasks(
        &self,
        owner: Option<&TaskOwner>,
        after: Option<&TaskCursor>,
        limit: usize,
    ) -> Result<Vec<TaskRecord>, StoreError> {
        let list = self.tasks(owner)?;
        let (mut after, mut records) = (after.cloned(), Vec::new());
        let mut count = limit.clamp(2, PAGE);
        while records.len() < limit {
            let first = after.as_ref().map_or(0, |after| after.created_at);
            let mut find = redis::cmd("ZRANGE");
            find.arg(&list).arg(first).arg("+inf").arg("BYSCORE");
            find.arg("LIMIT").arg(0).arg(count).arg("WITHSCORES");
            let members = redis::from_redis_value::<Vec<(String, f64)>>(self.link.run(&find).await?);
            let members = members.map_err(StoreError::damaged)?;
            let is_final = members.len() < count;
            let cursors = members.into_iter().map(|(id, created_at)| TaskCursor::new(created_at as u64, id));
            let cursors: Vec<_> = cursors.filter(|cursor| Some(cursor) > after.as_ref()).collect();
            // More tasks than a page have the same time.
            if cursors.is_empty() && !is_final {
                count = count.saturating_mul(2);
            }
            after = cursors.last().cloned().or(after);
            let reads: Vec<_> = cursors
                .iter()
                .map(|cursor| command("GET", &self.task(&cursor.id), |command| command))
                .collect();
            let mut gone = Vec::new();
            for (cursor, reply) in cursors.into_iter().zip(self.link.run_each(&reads).await?) {
                match record(reply)? {
                    Some(record) => records.push(record),
                    None => gone.push(cursor.id),
                }
            }
            if !gone.is_empty() {
                self.link.run(redis::cmd("ZREM").arg(&list).arg(gone)).await?;
            }
            if is_final {
                break;
            }
        }
        records.truncate(limit);
        Ok(records)
    }
}

fn command(name: &str, key: &str, arguments: impl FnOnce(&mut Cmd) -> &mut Cmd) -> Cmd {
    let mut command = redis::cmd(name);
    arguments(command.arg(key));
    command
}

/// The owner of a task. `None` if its revision has no `tasks/list`.
fn listing_owner(record: &TaskRecord) -> Option<&TaskOwner> {
    Some(&record.owner).filter(|_| record.revision.has_core_tasks())
}

/// The member for a task in the expiry times: its id, and its owner if that has a list.
fn expiry(record: &TaskRecord) -> Result<String, StoreError> {
    serde_json::to_string(&(&record.id, listing_owner(record))).map_err(StoreError::damaged)
}

fn encode(record: &TaskRecord) -> Result<Vec<u8>, StoreError> {
    let mut text = vec![if record.is_final() { ENDED } else { OPEN }];
    serde_json::to_writer(&mut text, record).map_err(StoreError::damaged)?;
    Ok(text)
}

fn record(reply: Value) -> Result<Option<TaskRecord>, StoreError> {
    match reply {
        Value::Nil => Ok(None),
        Value::BulkString(text) if !text.is_empty() => json::decode(&text[1..]).map(Some),
        _ => Err(unexpected("GET")),
    }
}

impl TaskStore for RedisStore {
    fn create(&self, record: TaskRecord) -> BoxFuture<'_, Result<(), TaskStoreError>> {
        self.create_task(record).map(|result| result.map_err(TaskStoreError::new)).boxed()
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<TaskRecord>, TaskStoreError>> {
        self.read_task(id).map(|result| result.map_err(TaskStoreError::new)).boxed()
    }

    fn update(&self, record: TaskRecord) -> BoxFuture<'_, Result<bool, TaskStoreError>> {
        self.update_task(record).map(|result| result.map_err(TaskStoreError::new)).boxed()
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), TaskStoreError>> {
        self.remove_task(id).map(|result| result.map_err(TaskStoreError::new)).boxed()
    }

    fn list<'a>(
        &'a self,
        owner: Option<&'a TaskOwner>,
        after: Option<&'a TaskCursor>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<TaskRecord>, TaskStoreError>> {
        self.list_tasks(owner, after, limit).map(|result| result.map_err(TaskStoreError::new)).boxed()
    }
}
