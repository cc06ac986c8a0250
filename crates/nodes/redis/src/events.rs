//! The store of streams' events: writes go to a queue, replays read from the engine.

pub(crate) mod entry;
pub(crate) mod incomplete;
pub(crate) mod last_event;
pub(crate) mod message;
pub(crate) mod pace;
pub(crate) mod pipeline;
pub(crate) mod queue;
pub(crate) mod running_stream;
pub(crate) mod session_events;
pub(crate) mod shares;
pub(crate) mod waiting;
pub(crate) mod writer;

use std::sync::Arc;

use agentwire_store::{
    Durable, Event, EventId, EventStore, Replay, Rest, SessionId, StoreError, StreamRun, TAKE_OVER_GAP,
};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use redis::{Pipeline, Value};

use crate::error::{store_error, unexpected};
use crate::events::entry::{END, StreamEntry, entries, is_only_event, only_event};
use crate::events::message::{Change, millis};
use crate::json;
use crate::link::Link;
use crate::store::RedisStore;

/// The maximum number of entries that one command reads.
const PAGE: usize = 128;

impl EventStore for RedisStore {
    fn open(&self, session: SessionId, owner: Option<&str>) {
        self.shares.open(session, owner);
    }

    fn begin(&self, session: SessionId, stream: u64, runs: StreamRun) -> Durable {
        match serde_json::to_vec(&runs) {
            Ok(runs) => self.events.write(session, stream, Change::Begin(runs.into())),
            Err(error) => Durable::failed(StoreError::damaged(error)),
        }
    }

    fn append(&self, session: SessionId, event: Event, is_last: bool) -> Durable {
        let EventId { stream, place, .. } = event.id;
        let data = event.data;
        let change = if is_last { Change::Last { place, data } } else { Change::Event { place, data } };
        self.events.write(session, stream, change)
    }

    fn end(&self, session: SessionId, stream: u64) -> Durable {
        self.events.write(session, stream, Change::End)
    }

    fn replay(
        &self,
        session: SessionId,
        after: EventId,
        limit: usize,
    ) -> BoxFuture<'static, Result<Replay, StoreError>> {
        let (link, key) = (self.link.clone(), self.keys.stream(session, after.stream));
        let written = self.events.written(session);
        async move {
            written.await?;
            replay(link, key, after, limit).await
        }
        .boxed()
    }

    fn take_over(
        &self,
        session: SessionId,
        stream: u64,
        last: Option<Bytes>,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        let (link, key, time) =
            (self.link.clone(), self.keys.stream(session, stream), millis(self.stream_time));
        async move {
            let mut pipeline = Pipeline::new();
            let command = pipeline.cmd("XADD").arg(&key).arg("NOMKSTREAM").arg(END);
            match &last {
                Some(last) => command.arg("d").arg(&**last),
                None => command.arg("e").arg(1),
            };
            pipeline.cmd("PEXPIRE").arg(key).arg(time);
            match link.run_all(&pipeline).await?.into_iter().next() {
                Some(Ok(Value::Nil)) => Ok(false),
                Some(Ok(_)) => Ok(true),
                // The stream has its end already, and no id is higher than that of the end.
                Some(Err(error)) if error.code() == Some("ERR") || is_only_event(&error) => Ok(false),
                Some(Err(error)) => Err(store_error(error)),
                None => Err(unexpected("XADD")),
            }
        }
        .boxed()
    }

    fn forget(&self, session: SessionId) {
        self.events.forget(session);
    }
}

async fn replay(link: Arc<Link>, key: String, after: EventId, limit: usize) -> Result<Replay, StoreError> {
    let EventId { stream, mut place, .. } = after;
    let (mut events, mut bytes) = (Vec::new(), 0);
    loop {
        let Some(Page { entries, newest, runs }) = page(&link, &key, place).await? else {
            return replay_only_event(&link, &key, after).await;
        };
        let is_final = entries.len() < PAGE;
        for entry in entries {
            let is_end = entry.is_end();
            if let Some(data) = entry.data {
                let here = match (is_end, entry.last_place) {
                    (false, _) => entry.place,
                    (true, Some(place)) => place,
                    // The node that took the stream over did not know the last place. No event can be added before the end now.
                    (true, None) => {
                        let last = newest.get(1).map_or(0, |entry| entry.place);
                        last.saturating_add(TAKE_OVER_GAP)
                    }
                };
                // The client may have received the last event already.
                if here > after.place {
                    if bytes >= limit && !events.is_empty() {
                        return Ok(Replay::new(events, Rest::More));
                    }
                    bytes += data.len();
                    events.push(Event::new(EventId::new(stream, here), data));
                }
            }
            if is_end {
                return Ok(Replay::new(events, Rest::Ended));
            }
            place = entry.place;
        }
        if is_final {
            let rest = if newest.is_empty() { Rest::Unknown } else { Rest::Running(runs) };
            return Ok(Replay::new(events, rest));
        }
    }
}

/// Replays a stream that is stored as a single event. It may have expired since.
async fn replay_only_event(link: &Link, key: &str, after: EventId) -> Result<Replay, StoreError> {
    let only = only_event(link.run(redis::cmd("GET").arg(key)).await?)?;
    let rest = if only.is_some() { Rest::Ended } else { Rest::Unknown };
    let event = only.filter(|(place, _)| *place > after.place);
    let event = event.map(|(place, data)| Event::new(EventId::new(after.stream, place), data));
    Ok(Replay::new(event.into_iter().collect(), rest))
}

/// Entries of a stream, and the ends of the stream.
struct Page {
    entries: Vec<StreamEntry>,
    /// The last entry and the one before it.
    newest: Vec<StreamEntry>,
    /// The node and the request that write the stream, from the newest or the oldest entry.
    runs: Option<StreamRun>,
}

/// Reads the entries after a place. Returns `None` for a stream that is stored as a single event.
async fn page(link: &Link, key: &str, after: u64) -> Result<Option<Page>, StoreError> {
    let mut pipeline = Pipeline::new();
    pipeline.cmd("XRANGE").arg(key).arg(after.saturating_add(1)).arg("+").arg("COUNT").arg(PAGE);
    pipeline.cmd("XREVRANGE").arg(key).arg("+").arg("-").arg("COUNT").arg(2);
    pipeline.cmd("XRANGE").arg(key).arg("-").arg("+").arg("COUNT").arg(1);
    let replies = link.run_all(&pipeline).await?;
    if replies.iter().any(|reply| reply.as_ref().is_err_and(is_only_event)) {
        return Ok(None);
    }
    let mut replies = replies.into_iter();
    let mut next = || {
        let reply = replies.next().ok_or_else(|| unexpected("XRANGE"))?;
        entries(reply.map_err(store_error)?)
    };
    let (entries, newest, oldest) = (next()?, next()?, next()?);
    let runs = newest.first().and_then(|entry| entry.runs.as_ref());
    let runs = runs.or_else(|| oldest.first().and_then(|entry| entry.runs.as_ref()));
    let runs = runs.map(|runs| json::decode(runs)).transpose()?;
    Ok(Some(Page { entries, newest, runs }))
}
