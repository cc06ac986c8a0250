//! The address of the engine, and the limits of the store.

use std::fmt;
use std::time::Duration;

use agentwire_wire_derive::Build;

/// The default of [`RedisConfig::timeout`]: 1 s.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The default of [`RedisConfig::stream_time`]: 1 h.
const STREAM_TIME: Duration = Duration::from_secs(3600);
/// The default of [`RedisConfig::stream_events`].
const STREAM_EVENTS: usize = 1000;
/// The default of [`RedisConfig::stream_bytes`]: 8 MiB.
const STREAM_BYTES: usize = 8 << 20;
/// The default of [`RedisConfig::session_bytes`]: 16 MiB.
const SESSION_BYTES: usize = 16 << 20;
/// The default of [`RedisConfig::session_streams`].
const SESSION_STREAMS: usize = 10_000;
/// The default of [`RedisConfig::owner_sessions`].
const OWNER_SESSIONS: usize = 10_000;
/// The default of [`RedisConfig::queue_bytes`]: 32 MiB.
const QUEUE_BYTES: usize = 32 << 20;
/// The default of [`RedisConfig::lease`]: 15 s.
const LEASE: Duration = Duration::from_secs(15);

/// The address of the engine.
#[derive(Clone)]
pub(crate) enum Address {
    One(String),
    Cluster(Vec<String>),
    Sentinel(Vec<String>, String),
}

/// The configuration of a [`RedisStore`](crate::RedisStore).
#[derive(Clone, Build)]
#[must_use]
pub struct RedisConfig {
    pub(crate) address: Address,
    pub(crate) prefix: String,
    /// Sets the time-out of a command (default 1 s). It includes the time to connect.
    pub(crate) timeout: Duration,
    /// Sets how long the events of a stream are kept after its last event (default 1 h).
    pub(crate) stream_time: Duration,
    /// Sets how many events of a stream are kept (default 1,000).
    #[build(min = 1)]
    pub(crate) stream_events: usize,
    /// Sets how many bytes of a stream's events are kept (default 8 MiB). A stream with a larger event is not stored.
    pub(crate) stream_bytes: usize,
    /// Sets how many bytes of a session's events each node keeps (default 16 MiB). The engine's overhead counts too: about 0.5 KiB for
    /// a stream that is a single result, and 4.5 KiB for any other. Beyond the limit, the least recently written streams are deleted
    /// until 63/64 of it are used.
    pub(crate) session_bytes: usize,
    /// Sets how many streams of a session each node keeps (default 10,000). Beyond the limit, the least recently written streams are
    /// deleted until 63/64 of it are left.
    #[build(min = 1)]
    pub(crate) session_streams: usize,
    /// Sets how many sessions of one caller are stored (default 10,000). Further ones are refused. Clients without a principal that
    /// come from the same proxy are one caller.
    pub(crate) owner_sessions: usize,
    /// Sets how many bytes of events wait while the engine is away or slow (default 32 MiB). A caller may use as many bytes as are left
    /// free, so at most half of them. A stream with an event beyond that is not stored.
    pub(crate) queue_bytes: usize,
    /// Sets the time without a renewal after which a node counts as dead (default 15 s). A node renews its lease every third of it.
    /// Claims on ACP sessions have the same time.
    pub(crate) lease: Duration,
    #[cfg(feature = "tls")]
    pub(crate) certificates: crate::link::tls::Certificates,
}

impl RedisConfig {
    /// Uses a single engine, by its URL: `redis://[USER]:[PASSWORD]@HOST:PORT/DATABASE`, `unix:///PATH`, or with the feature `tls`
    /// `rediss://…` for TLS.
    pub fn new(url: impl Into<String>) -> Self {
        Self::of(Address::One(url.into()))
    }

    /// Uses a cluster, by the URLs of some of its nodes.
    pub fn cluster(urls: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::of(Address::Cluster(urls.into_iter().map(Into::into).collect()))
    }

    /// Uses the master of this name, by the URLs of some sentinels. The user and password of the first URL are used for all sentinels
    /// and the master, its database for the master. If any URL is `rediss://`, sentinels and master use TLS.
    pub fn sentinel(urls: impl IntoIterator<Item = impl Into<String>>, master: impl Into<String>) -> Self {
        Self::of(Address::Sentinel(urls.into_iter().map(Into::into).collect(), master.into()))
    }

    fn of(address: Address) -> Self {
        Self {
            address,
            prefix: "agentwire".into(),
            timeout: TIMEOUT,
            stream_time: STREAM_TIME,
            stream_events: STREAM_EVENTS,
            stream_bytes: STREAM_BYTES,
            session_bytes: SESSION_BYTES,
            session_streams: SESSION_STREAMS,
            owner_sessions: OWNER_SESSIONS,
            queue_bytes: QUEUE_BYTES,
            lease: LEASE,
            #[cfg(feature = "tls")]
            certificates: Default::default(),
        }
    }

    /// Sets the beginning of all keys (default `agentwire`). Servers that share an engine need different ones. Braces are removed,
    /// because they would choose the slot of a key.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self.prefix.retain(|character| !matches!(character, '{' | '}'));
        self
    }

    /// Sets the root certificates, in PEM, for `rediss://` URLs. By default those of the platform are used.
    #[cfg(feature = "tls")]
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.certificates.roots = Some(pem.into());
        self
    }

    /// Sets the certificate of this client and its key, in PEM, for `rediss://` URLs.
    #[cfg(feature = "tls")]
    pub fn client_certificate(mut self, pem: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.certificates.client = Some((pem.into(), key.into()));
        self
    }
}

/// Shows no address, because it may contain a password.
impl fmt::Debug for RedisConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.address {
            Address::One(_) => "one",
            Address::Cluster(_) => "cluster",
            Address::Sentinel(..) => "sentinel",
        };
        f.debug_struct("RedisConfig")
            .field("engine", &kind)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}
