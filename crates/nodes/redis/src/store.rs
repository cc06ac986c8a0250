//! `RedisStore`: its parts, and how it connects.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use redis::Value;

use crate::error::ConnectError;
use crate::events::message::StreamLimits;
use crate::events::pace::Pace;
use crate::events::queue::EventQueue;
use crate::events::shares::Shares;
use crate::link::Link;
use crate::link::config::RedisConfig;
use crate::link::connection::Engine;
use crate::link::keys::Keys;
use crate::permissions;
use crate::subscriptions::Subscriber;

/// The state that the nodes of one server share, on Redis or Valkey.
///
/// It implements each trait of `agentwire-store`: [`EventStore`](agentwire_store::EventStore),
/// [`SessionRecords`](agentwire_store::SessionRecords), [`Bus`](agentwire_store::Bus), [`Nodes`](agentwire_store::Nodes) and
/// [`OnceStore`](agentwire_store::OnceStore). One value serves a whole node. When it is dropped, events that wait are written if the
/// engine answers, and then its connections are closed.
pub struct RedisStore {
    pub(crate) link: Arc<Link>,
    pub(crate) keys: Keys,
    pub(crate) events: EventQueue,
    pub(crate) shares: Arc<Shares>,
    pub(crate) subscriber: Subscriber,
    pub(crate) stream_time: Duration,
    pub(crate) owner_sessions: usize,
    pub(crate) lease: Duration,
    /// The number of leases that were taken. It names the next one.
    pub(crate) lease_count: AtomicU64,
    #[cfg(feature = "acp")]
    pub(crate) claims: crate::claims::Claims,
}

impl RedisStore {
    /// Connects, and checks that the engine does not evict keys and that the user may run the commands of the store.
    ///
    /// Call it on a runtime of tokio with I/O and time. The store's tasks run there.
    ///
    /// # Errors
    ///
    /// Fails if an address is invalid, the engine does not answer, its `maxmemory-policy` is not `noeviction`, or the user may not run
    /// a command that the store needs.
    pub async fn connect(config: RedisConfig) -> Result<Self, ConnectError> {
        let engine = |timeout| Engine::new(&config, timeout).map_err(ConnectError::Address);
        let link = Link::new(engine(config.timeout)?, config.timeout);
        let of_events = link.slow(engine(Pace::longest(config.timeout))?);
        check_policy(&link).await?;
        let keys = Keys::new(&config.prefix);
        permissions::check(&link, &keys).await?;
        let shares = Shares::new(config.queue_bytes, config.stream_time);
        let limits = StreamLimits {
            time: config.stream_time,
            events: config.stream_events,
            bytes: config.stream_bytes,
            session_bytes: config.session_bytes,
            session_streams: config.session_streams,
        };
        Ok(Self {
            events: EventQueue::new(&link, &of_events, &keys, limits, shares.clone()),
            shares,
            subscriber: Subscriber::new(&link, &keys),
            stream_time: config.stream_time,
            owner_sessions: config.owner_sessions,
            lease: config.lease,
            lease_count: AtomicU64::new(0),
            #[cfg(feature = "acp")]
            claims: Default::default(),
            link,
            keys,
        })
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("keys", &self.keys)
            .field("link", &self.link)
            .finish_non_exhaustive()
    }
}

/// Checks `maxmemory-policy` with INFO, because most hosted engines forbid CONFIG. In a cluster each master replies.
async fn check_policy(link: &Link) -> Result<(), ConnectError> {
    let mut texts = Vec::new();
    let info = link.run(redis::cmd("INFO").arg("memory")).await;
    collect_texts(info.map_err(permissions::refused)?, &mut texts);
    let lines = texts.iter().flat_map(|text| text.lines());
    let policies: Vec<_> = lines.filter_map(|line| line.strip_prefix("maxmemory_policy:")).collect();
    match policies.iter().find(|policy| **policy != "noeviction") {
        Some(policy) => Err(ConnectError::Eviction((*policy).to_owned())),
        None if policies.is_empty() => Err(ConnectError::NoPolicy),
        None => Ok(()),
    }
}

fn collect_texts(value: Value, texts: &mut Vec<String>) {
    match value {
        Value::BulkString(text) => texts.push(String::from_utf8_lossy(&text).into_owned()),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => texts.push(text),
        Value::Array(values) => values.into_iter().for_each(|value| collect_texts(value, texts)),
        Value::Map(pairs) => pairs.into_iter().for_each(|(_, value)| collect_texts(value, texts)),
        _ => (),
    }
}
