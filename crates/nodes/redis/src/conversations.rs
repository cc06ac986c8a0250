//! The sessions of an ACP agent, called conversations here beside the sessions of MCP. Each has a header and a list of records.

use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_sessions::schema::SessionId;
use agentwire_acp_sessions::{
    Claim, ListQuery, Position, SessionHeader, SessionStore, StoreError, StoredSession, Timestamp,
};
use agentwire_jsonrpc::RawJson;
use agentwire_store::NodeId;
use bytes::Bytes;
use bytestring::ByteString;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use redis::{Cmd, Pipeline, Value};
use tokio::sync::oneshot;

use crate::claims::Claims;
use crate::error::{store_error, unexpected};
use crate::events::message::millis;
use crate::json;
use crate::link::Link;
use crate::store::RedisStore;

/// The maximum number of listed sessions that one command reads.
const PAGE: usize = 256;
/// The maximum number of records that one command reads.
const RECORDS: usize = 128;

// A claim is stored as OWNER and the time at which it expires, by the engine's clock. An expired claim is kept: its owner can go on
// writing until another process claims the session.

/// KEYS: header, records, claim. ARGV: the owner of a claim or an empty string; records. Returns 0 if the session does not exist,
/// and -1 if another owner has the claim.
const APPEND: &str = "\
local claim = redis.call('GET', KEYS[3])
if ARGV[1] ~= '' and (not claim or string.match(claim, '^%x+') ~= ARGV[1]) then return -1 end
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
for i = 2, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[i]) end
return 1";

/// KEYS: header, claim. ARGV: the owner of a claim or an empty string; the header. Returns the same as [`APPEND`].
const UPDATE: &str = "\
local claim = redis.call('GET', KEYS[2])
if ARGV[1] ~= '' and (not claim or string.match(claim, '^%x+') ~= ARGV[1]) then return -1 end
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1";

/// KEYS: claim. ARGV: the new owner, milliseconds. Takes the claim. Returns 0 if an owner has it and it has not expired.
const CLAIM: &str = "\
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local claim = redis.call('GET', KEYS[1])
if claim and tonumber(string.match(claim, ' (%d+)$')) > now then return 0 end
redis.call('SET', KEYS[1], string.format('%s %.0f', ARGV[1], now + ARGV[2]))
return 1";

/// KEYS: claim. ARGV: its owner, milliseconds. Renews the claim. Returns 0 if it is gone or another owner has it.
const RENEW: &str = "\
local claim = redis.call('GET', KEYS[1])
if not claim or string.match(claim, '^%x+') ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('SET', KEYS[1], string.format('%s %.0f', ARGV[1], now + ARGV[2]))
return 1";

/// KEYS: claim. ARGV: its owner. Deletes the claim if it is that owner's.
const RELEASE: &str = "\
local claim = redis.call('GET', KEYS[1])
if claim and string.match(claim, '^%x+') == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0";

impl RedisStore {
    fn conversation(&self, session_id: &SessionId, kind: &str) -> String {
        // A brace in an id would end the hash tag.
        let mut id = String::new();
        for character in session_id.as_str().chars() {
            match character {
                '{' => id.push_str("%7b"),
                '}' => id.push_str("%7d"),
                '%' => id.push_str("%25"),
                other => id.push(other),
            }
        }
        self.keys.other(format_args!("a:{{{id}}}:{kind}"))
    }

    fn conversations(&self) -> String {
        self.keys.other("{a}:all")
    }

    /// Puts a session into the list, in which the session that changed last comes first.
    async fn list_header(&self, header: &SessionHeader) -> Result<(), StoreError> {
        let score = format!("-{}", header.updated.as_millis());
        let mut command = redis::cmd("ZADD");
        command.arg(self.conversations()).arg(score).arg(header.session_id.as_str());
        self.link.run(&command).await.map(drop).map_err(StoreError::other)
    }

    /// Runs [`APPEND`] or [`UPDATE`]. Fails if another process has claimed the session.
    async fn write(&self, session_id: &SessionId, command: &Cmd) -> Result<(), StoreError> {
        match self.link.run(command).await.map_err(StoreError::other)? {
            Value::Int(1) => Ok(()),
            Value::Int(-1) => Err(StoreError::in_use(session_id)),
            _ => Err(StoreError::not_found(session_id)),
        }
    }

    async fn list_conversations(&self, query: &ListQuery) -> Result<Vec<SessionHeader>, StoreError> {
        let (mut after, mut found) = (query.after.clone(), Vec::new());
        let (limit, mut count) = (query.limit.unwrap_or(usize::MAX), PAGE);
        while found.len() < limit {
            let first =
                after.as_ref().map_or("-inf".to_owned(), |after| format!("-{}", after.updated.as_millis()));
            let mut find = redis::cmd("ZRANGE");
            find.arg(self.conversations()).arg(first).arg("+inf").arg("BYSCORE");
            find.arg("LIMIT").arg(0).arg(count).arg("WITHSCORES");
            let members = self.link.run(&find).await.map_err(StoreError::other)?;
            let members: Vec<(String, f64)> = redis::from_redis_value(members).map_err(StoreError::other)?;
            let is_final = members.len() < count;
            let positions = members
                .into_iter()
                .map(|(id, score)| Position::new(Timestamp::from_millis(-score as u64), SessionId::from(id)));
            let positions: Vec<_> = positions.filter(|position| Some(position) > after.as_ref()).collect();
            // More sessions than a page have the same time.
            if positions.is_empty() && !is_final {
                count = count.saturating_mul(2);
            }
            after = positions.last().cloned().or(after);
            let reads = positions.iter().map(|position| {
                let mut command = redis::cmd("GET");
                command.arg(self.conversation(&position.session_id, "h"));
                command
            });
            let replies = self.link.run_each(&reads.collect::<Vec<_>>()).await.map_err(StoreError::other)?;
            for (position, reply) in positions.into_iter().zip(replies) {
                // A session that has changed since the list was read stays at its old position.
                let header = header(&position.session_id, reply)?;
                found.extend(header.filter(|header| query.cwd.as_ref().is_none_or(|cwd| *cwd == header.cwd)));
            }
            if is_final {
                break;
            }
        }
        found.truncate(limit);
        Ok(found)
    }
}

fn header(session_id: &SessionId, reply: Value) -> Result<Option<SessionHeader>, StoreError> {
    match reply {
        Value::Nil => Ok(None),
        Value::BulkString(text) => json::decode(&text)
            .map(Some)
            .map_err(|error| StoreError::corrupt(session_id, "its header", error.to_string())),
        _ => Err(StoreError::other(unexpected("GET"))),
    }
}

impl SessionStore for RedisStore {
    fn create<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            let text = serde_json::to_vec(header).map_err(StoreError::other)?;
            let mut command = redis::cmd("SET");
            command.arg(self.conversation(&header.session_id, "h")).arg(text).arg("NX");
            match self.link.run(&command).await.map_err(StoreError::other)? {
                Value::Nil => Err(StoreError::exists(&header.session_id)),
                _ => self.list_header(header).await,
            }
        }
        .boxed()
    }

    fn append<'a>(
        &'a self,
        session_id: &'a SessionId,
        records: &'a [RawJson],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            let mut command = redis::cmd("EVAL");
            command.arg(APPEND).arg(3);
            ["h", "j", "c"].iter().for_each(|kind| _ = command.arg(self.conversation(session_id, kind)));
            command.arg(self.claims.owner(session_id));
            records.iter().for_each(|record| _ = command.arg(record.as_str()));
            self.write(session_id, &command).await
        }
        .boxed()
    }

    fn read<'a>(
        &'a self,
        session_id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        async move {
            let key = self.conversation(session_id, "j");
            let mut pipeline = Pipeline::new();
            pipeline.cmd("LLEN").arg(&key);
            pipeline.cmd("GET").arg(self.conversation(session_id, "h"));
            let replies = self.link.run_all(&pipeline).await.map_err(StoreError::other)?;
            let mut replies =
                replies.into_iter().map(|reply| reply.map_err(store_error).map_err(StoreError::other));
            let (Some(length), Some(text)) = (replies.next(), replies.next()) else {
                return Err(StoreError::other(unexpected("GET")));
            };
            let length = redis::from_redis_value(length?).map_err(StoreError::other)?;
            let header = header(session_id, text?)?;
            Ok(header.map(|header| {
                let records = records(self.link.clone(), session_id.clone(), key, length);
                StoredSession::new(header, records)
            }))
        }
        .boxed()
    }

    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, Result<Vec<SessionHeader>, StoreError>> {
        self.list_conversations(query).boxed()
    }

    fn update_header<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            let (id, text) = (&header.session_id, serde_json::to_vec(header).map_err(StoreError::other)?);
            let mut command = redis::cmd("EVAL");
            command.arg(UPDATE).arg(2).arg(self.conversation(id, "h")).arg(self.conversation(id, "c"));
            self.write(id, command.arg(self.claims.owner(id)).arg(text)).await?;
            self.list_header(header).await
        }
        .boxed()
    }

    fn delete<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<bool, StoreError>> {
        async move {
            let mut pipeline = Pipeline::new();
            for kind in ["h", "j", "c"] {
                pipeline.cmd("UNLINK").arg(self.conversation(session_id, kind));
            }
            let replies = self.link.run_all(&pipeline).await.map_err(StoreError::other)?;
            let was_there = matches!(replies.first(), Some(Ok(Value::Int(1))));
            let mut command = redis::cmd("ZREM");
            command.arg(self.conversations()).arg(session_id.as_str());
            self.link.run(&command).await.map_err(StoreError::other)?;
            Ok(was_there)
        }
        .boxed()
    }

    /// A claim expires unless it is renewed, so the claim of a dead process ends. A process whose claim was taken by another cannot
    /// write: its writes fail with [`StoreError::InUse`] until it has claimed the session again.
    fn claim<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<Claim, StoreError>> {
        async move {
            let owner = NodeId::random().ok_or_else(|| StoreError::other("the system has no randomness"))?;
            let claim = RedisClaim {
                link: self.link.clone(),
                claims: self.claims.clone(),
                session_id: session_id.clone(),
                key: self.conversation(session_id, "c"),
                owner,
                time: self.lease,
            };
            if !claim.run(CLAIM).await.map_err(StoreError::other)? {
                return Err(StoreError::in_use(session_id));
            }
            self.claims.insert(session_id, owner);
            let (dropped, until) = oneshot::channel();
            tokio::spawn(claim.keep(until));
            Ok(Claim::new(dropped))
        }
        .boxed()
    }
}

/// The first `length` records of a session.
fn records(
    link: Arc<Link>,
    session_id: SessionId,
    key: String,
    length: usize,
) -> BoxStream<'static, Result<RawJson, StoreError>> {
    let pages = stream::iter((0..length).step_by(RECORDS)).then(move |first| {
        let last = (first + RECORDS).min(length) - 1;
        let (link, session_id, mut command) = (link.clone(), session_id.clone(), redis::cmd("LRANGE"));
        command.arg(&key).arg(first).arg(last);
        async move {
            let reply = match link.run(&command).await {
                Ok(reply) => redis::from_redis_value::<Vec<Vec<u8>>>(reply).map_err(StoreError::other),
                Err(error) => Err(StoreError::other(error)),
            };
            let mut items: Vec<_> = match reply {
                Ok(texts) => texts.into_iter().map(|text| record(&session_id, text)).collect(),
                Err(error) => vec![Err(error)],
            };
            // The session was deleted while it was read.
            if items.len() <= last - first && items.iter().all(Result::is_ok) {
                items.push(Err(StoreError::not_found(&session_id)));
            }
            stream::iter(items)
        }
    });
    // An error is the last item.
    let until_error = pages.flatten().scan(false, |has_failed, item| {
        let item = (!*has_failed).then_some(item);
        *has_failed |= matches!(item, Some(Err(_)));
        std::future::ready(item)
    });
    until_error.boxed()
}

fn record(session_id: &SessionId, text: Vec<u8>) -> Result<RawJson, StoreError> {
    let corrupt = |reason: String| StoreError::corrupt(session_id, "its records", reason);
    let text = ByteString::try_from(Bytes::from(text)).map_err(|error| corrupt(error.to_string()))?;
    RawJson::parse(text).map_err(|error| corrupt(error.to_string()))
}

/// A claim of this process.
struct RedisClaim {
    link: Arc<Link>,
    claims: Claims,
    session_id: SessionId,
    key: String,
    owner: NodeId,
    time: Duration,
}

impl RedisClaim {
    /// Runs a script with the claim. Returns true if the script did its work.
    async fn run(&self, script: &'static str) -> Result<bool, agentwire_store::StoreError> {
        let mut command = redis::cmd("EVAL");
        command.arg(script).arg(1).arg(&self.key).arg(self.owner.to_string()).arg(millis(self.time));
        Ok(self.link.run(&command).await? == Value::Int(1))
    }

    /// Renews the claim until it is dropped, and releases it then.
    async fn keep(self, mut dropped: oneshot::Receiver<()>) {
        while tokio::time::timeout(self.time / 3, &mut dropped).await.is_err() {
            // While the engine is away, another attempt may succeed. Once another process has the claim, the next write fails.
            if let Ok(false) = self.run(RENEW).await {
                _ = dropped.await;
                break;
            }
        }
        self.claims.remove(&self.session_id, self.owner);
        _ = self.run(RELEASE).await;
    }
}
