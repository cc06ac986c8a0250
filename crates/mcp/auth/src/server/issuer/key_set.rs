//! The keys of an issuer: fetched once for all requests, cached, fetched again when they may have changed.

use agentwire_jsonrpc::WithCauses;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use agentwire_sync::Mutex;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::clock::unix_now;
use crate::fetch::Fetcher;
use crate::jose::{Claims, Jwk, Jwt};
use crate::server::issuer::discovery::{NoKeySet, jwks_uri};
use crate::server::rejection::{Rejection, short};

/// The number of keys of a set that are used.
const MAX_KEYS: usize = 100;
/// How long to wait after a failed fetch before the next.
const RETRY: Duration = Duration::from_secs(5);
/// How long after its start requests that have usable keys wait for a fetch.
const REFRESH_WAIT: Duration = Duration::from_secs(1);

/// When keys are fetched.
#[derive(Clone, Debug)]
pub(crate) struct KeySetTimes {
    /// The least time between two fetches for a token with an unknown key.
    pub(crate) refresh: Duration,
    /// The age at which keys are fetched again.
    pub(crate) lifetime: Duration,
    /// The age at which keys are no longer used.
    pub(crate) stale: Duration,
}

/// The key set of one issuer. A clone shares the keys.
#[derive(Clone)]
pub(crate) struct KeySet {
    pub(crate) times: KeySetTimes,
    /// The URL of the set. `None` if the issuer's metadata has it.
    pub(crate) uri: Option<String>,
    cache: Arc<Mutex<Cache>>,
}

#[derive(Default)]
struct Cache {
    keys: Option<Arc<Keys>>,
    /// When the last fetch began.
    begun: Option<Instant>,
    /// Why the last fetch failed, if it did.
    failure: Option<Arc<str>>,
    /// The fetch that all requests share. It runs in its own task, so that it completes even if all of them are dropped.
    pending: Option<PendingFetch>,
}

type FetchResult = Result<Arc<Keys>, Arc<str>>;
type PendingFetch = Shared<BoxFuture<'static, FetchResult>>;

struct Keys {
    all: Vec<Jwk>,
    fetched: Instant,
}

/// The outcome of a request for newer keys.
enum FetchStart {
    /// A running fetch, and when it began.
    Pending(PendingFetch, Instant),
    /// Another request has fetched newer keys.
    Newer(Arc<Keys>),
    /// The last fetch began too recently.
    TooSoon,
}

/// Why no key of the set verifies a token.
enum VerifyError {
    NoKey,
    Signature,
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Box<RawValue>>,
}

impl KeySet {
    pub(crate) fn new() -> Self {
        let times = KeySetTimes {
            refresh: Duration::from_secs(60),
            lifetime: Duration::from_secs(3600),
            stale: Duration::from_secs(24 * 3600),
        };
        Self { times, uri: None, cache: Arc::default() }
    }

    /// Verifies the signature of a token of the issuer. If no key verifies it, the set is fetched again: the key may be new.
    pub(crate) async fn verify(
        &self,
        jwt: &Jwt,
        issuer: &str,
        fetcher: &Fetcher,
    ) -> Result<Claims, Rejection> {
        let keys = self.current(issuer, fetcher).await?;
        let first = match keys.verify(jwt) {
            Ok(claims) => return Ok(claims),
            Err(unverified) => unverified,
        };
        let (newer, is_late) = match self.begin(self.times.refresh, Some(&keys), issuer, fetcher) {
            FetchStart::Pending(pending, _) => (self.finish(pending).await.ok(), false),
            FetchStart::Newer(newer) => (Some(newer), false),
            FetchStart::TooSoon => (None, jwt.unverified_issue_time() > Some(keys.fetched_at())),
        };
        let verified = newer.map_or(Err(first), |newer| newer.verify(jwt));
        verified.map_err(|unverified| match unverified {
            VerifyError::NoKey => self.unknown_key(jwt, is_late),
            VerifyError::Signature => Rejection::Signature,
        })
    }

    /// The rejection of a token with an unknown key. The key may be new if the last fetch failed, or if the token was issued after
    /// it: a fetch that an attacker's token with a wrong key caused delays the next one. Then the rejection is temporary.
    fn unknown_key(&self, jwt: &Jwt, is_late: bool) -> Rejection {
        match &self.cache.lock().failure {
            Some(why) => Rejection::unavailable("the key set of the issuer", why),
            None if is_late => {
                let why = "it was fetched a moment ago, and before the token was made";
                Rejection::unavailable("the key set of the issuer", why)
            }
            None => Rejection::Key { kid: jwt.header_text("kid").map(short) },
        }
    }

    /// The cached keys, or newly fetched ones if the cache is empty or old.
    async fn current(&self, issuer: &str, fetcher: &Fetcher) -> Result<Arc<Keys>, Rejection> {
        let (known, failed) = {
            let cache = self.cache.lock();
            (cache.keys.clone(), cache.failure.is_some())
        };
        if let Some(keys) = known.as_ref().filter(|keys| keys.fetched.elapsed() < self.times.lifetime) {
            return Ok(keys.clone());
        }
        let wait = if failed { self.retry() } else { Duration::ZERO };
        let usable = known.clone().filter(|keys| keys.fetched.elapsed() < self.times.stale);
        let fetched = match self.begin(wait, known.as_ref(), issuer, fetcher) {
            FetchStart::Pending(pending, begun) => {
                let finished = self.finish(pending);
                match &usable {
                    // An issuer that does not answer delays no token whose key is known.
                    Some(keys) => {
                        let waited = tokio::time::timeout_at(begun + REFRESH_WAIT, finished).await;
                        waited.unwrap_or_else(|_| Ok(keys.clone()))
                    }
                    None => finished.await,
                }
            }
            FetchStart::Newer(keys) => Ok(keys),
            FetchStart::TooSoon => {
                Err(self.cache.lock().failure.clone().unwrap_or_else(|| "it is not there yet".into()))
            }
        };
        fetched.or_else(|why| usable.ok_or_else(|| Rejection::unavailable("the key set of the issuer", why)))
    }

    fn retry(&self) -> Duration {
        RETRY.min(self.times.refresh)
    }

    /// Joins the running fetch or starts one, unless the last one began less than `wait` ago or the cache has newer keys than
    /// `seen`.
    fn begin(&self, wait: Duration, seen: Option<&Arc<Keys>>, issuer: &str, fetcher: &Fetcher) -> FetchStart {
        let mut cache = self.cache.lock();
        if let (Some(pending), Some(begun)) = (&cache.pending, cache.begun) {
            return FetchStart::Pending(pending.clone(), begun);
        }
        if let Some(keys) = &cache.keys
            && seen.is_none_or(|seen| !Arc::ptr_eq(seen, keys))
        {
            return FetchStart::Newer(keys.clone());
        }
        let wait = if cache.failure.is_some() { wait.min(self.retry()) } else { wait };
        if cache.begun.is_some_and(|begun| begun.elapsed() < wait) {
            return FetchStart::TooSoon;
        }
        let fetch = fetch(self.uri.clone(), issuer.to_owned(), fetcher.clone());
        let kept = self.cache.clone();
        let task = tokio::spawn(async move {
            let fetched: FetchResult = match AssertUnwindSafe(fetch).catch_unwind().await {
                Ok(fetched) => {
                    fetched.map(Arc::new).map_err(|error| WithCauses::new(&error).to_string().into())
                }
                Err(_) => Err("the HTTP client panicked".into()),
            };
            kept.lock().keep(&fetched);
            fetched
        });
        let pending = task.map(|ended| ended.unwrap_or_else(|_| Err("its task was dropped".into())));
        let (pending, begun) = (pending.boxed().shared(), Instant::now());
        cache.begun = Some(begun);
        cache.pending = Some(pending.clone());
        FetchStart::Pending(pending, begun)
    }

    /// Waits for a fetch.
    async fn finish(&self, pending: PendingFetch) -> FetchResult {
        let fetched = pending.clone().await;
        let mut cache = self.cache.lock();
        // The task was dropped with its runtime before it could update the cache.
        if cache.pending.as_ref().is_some_and(|current| current.ptr_eq(&pending)) {
            cache.keep(&fetched);
        }
        fetched
    }
}

impl Cache {
    /// Stores the result of a fetch.
    fn keep(&mut self, fetched: &FetchResult) {
        self.pending = None;
        self.failure = fetched.as_ref().err().cloned();
        if let Ok(keys) = fetched {
            self.keys = Some(keys.clone());
        }
    }
}

impl Keys {
    /// When they were fetched, in seconds since 1970.
    fn fetched_at(&self) -> u64 {
        unix_now().saturating_sub(self.fetched.elapsed().as_secs())
    }

    /// Tries the keys with the `kid` of the token and those without one. For a token without a `kid`, tries all keys.
    fn verify(&self, jwt: &Jwt) -> Result<Claims, VerifyError> {
        let kid = jwt.header_text("kid");
        let is_meant = |key: &&Jwk| {
            key.verifies(jwt.algorithm()) && (kid.is_none() || key.kid().is_none_or(|own| Some(own) == kid))
        };
        let mut result = Err(VerifyError::NoKey);
        for key in self.all.iter().filter(is_meant) {
            match jwt.verify(key) {
                Ok(claims) => return Ok(claims),
                Err(_) => result = Err(VerifyError::Signature),
            }
        }
        result
    }
}

async fn fetch(uri: Option<String>, issuer: String, fetcher: Fetcher) -> Result<Keys, NoKeySet> {
    let uri = match uri {
        Some(uri) => uri,
        None => jwks_uri(&issuer, &fetcher).await?,
    };
    let document: Document = fetcher.get_json(&uri).await?;
    // Keys of unknown kinds and malformed keys are ignored.
    let keys = document.keys.iter().filter_map(|key| agentwire_jsonrpc::read(key.get()).ok());
    Ok(Keys { all: keys.take(MAX_KEYS).collect(), fetched: Instant::now() })
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySet").field("uri", &self.uri).field("times", &self.times).finish_non_exhaustive()
    }
}
