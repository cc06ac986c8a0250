//! The client's cache: stores results while a modern server's `ttlMs` calls them fresh.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_jsonrpc::runtime::Members;
use agentwire_jsonrpc::{RawJson, RequestMethod, read};
use agentwire_mcp_schema::{
    CacheScope, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    ReadResourceRequest,
};
use agentwire_peer::{Clock, TokioClock};
use agentwire_sync::{Mutex, MutexGuard};
use serde::Deserialize;

use crate::raw::RawCall;

/// The methods whose results depend on the list of resources.
pub(crate) const RESOURCES: &[&str] =
    &[ListResourcesRequest::NAME, ListResourceTemplatesRequest::NAME, ReadResourceRequest::NAME];

const METHODS: [&str; 5] = [
    ListToolsRequest::NAME,
    ListPromptsRequest::NAME,
    ListResourcesRequest::NAME,
    ListResourceTemplatesRequest::NAME,
    ReadResourceRequest::NAME,
];

/// The approximate size in bytes of an entry without its texts.
const OVERHEAD: usize = 300;

/// Keeps lists and resources while a modern server calls them fresh. See
/// [`Client::cache`](crate::Client::cache).
///
/// Caches pages of lists, and resources, by their exact parameters. Does not cache the result of a request with its own
/// `_meta`, nor a result for which the server asked a question. Removes results that the server reports as changed, all
/// pages of a list when the server refuses one of them, and a connection's private results when the connection ends.
///
/// See <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching>.
///
/// ```
/// use agentwire_mcp_client::{Cache, Client};
///
/// let client = Client::new("my-host", "1.0.0").cache(Cache::new().limit(1 << 20));
/// # let _ = client;
/// ```
#[derive(Clone)]
pub struct Cache {
    store: Arc<Mutex<Store>>,
    shares: bool,
}

impl Cache {
    /// Creates a cache that shares no results between connections, even those that the server calls public.
    pub fn new() -> Self {
        Self { store: Arc::default(), shares: false }
    }

    /// Creates a cache that shares public results between the connections of all clients that have a clone of it. All
    /// of these connections must be to one server: the cache does not distinguish servers.
    pub fn shared() -> Self {
        Self { shares: true, ..Self::new() }
    }

    /// Sets how many bytes are kept (default 16 MiB). On overflow the entries that become stale soonest are removed.
    #[must_use]
    pub fn limit(self, bytes: usize) -> Self {
        self.lock().limit = bytes;
        self
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.lock().forget(|_| true);
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock()
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = self.lock();
        f.debug_struct("Cache")
            .field("bytes", &store.bytes)
            .field("limit", &store.limit)
            .finish_non_exhaustive()
    }
}

struct Store {
    entries: HashMap<Arc<Key>, Entry>,
    /// The keys in the order in which their entries become stale, then in the order in which they came.
    by_time: BTreeMap<(Instant, u64), Arc<Key>>,
    /// The number of entries inserted so far.
    inserted: u64,
    bytes: usize,
    limit: usize,
    /// The number of connections opened so far.
    connections: u64,
    /// Counts removals. A result that was requested before the latest removal is not cached.
    forgotten: u64,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    /// The connection that the entry is private to; `None` for a public one.
    owner: Option<u64>,
    method: &'static str,
    params: String,
}

struct Entry {
    text: RawJson,
    fresh_until: Instant,
    /// Unique among the entries.
    number: u64,
}

impl Default for Store {
    fn default() -> Self {
        let limit = 16 * 1024 * 1024;
        Self {
            entries: HashMap::new(),
            by_time: BTreeMap::new(),
            inserted: 0,
            bytes: 0,
            limit,
            connections: 0,
            forgotten: 0,
        }
    }
}

impl Store {
    fn insert(&mut self, key: Key, text: RawJson, fresh_until: Instant) {
        let entry = Entry { text, fresh_until, number: self.inserted };
        let size = size(&key, &entry);
        self.remove(&key);
        if size > self.limit {
            return;
        }
        while self.bytes + size > self.limit
            && let Some((_, soonest)) = self.by_time.first_key_value()
        {
            let soonest = soonest.clone();
            self.remove(&soonest);
        }
        self.inserted += 1;
        self.bytes += size;
        let key = Arc::new(key);
        self.by_time.insert((fresh_until, entry.number), key.clone());
        self.entries.insert(key, entry);
    }

    fn remove(&mut self, key: &Key) {
        if let Some((key, entry)) = self.entries.remove_entry(key) {
            self.by_time.remove(&(entry.fresh_until, entry.number));
            self.bytes -= size(&key, &entry);
        }
    }

    fn forget(&mut self, mut which: impl FnMut(&Key) -> bool) {
        self.forgotten += 1;
        let Self { entries, by_time, bytes, .. } = self;
        entries.retain(|key, entry| {
            let stays = !which(key);
            if !stays {
                by_time.remove(&(entry.fresh_until, entry.number));
                *bytes -= size(key, entry);
            }
            stays
        });
    }
}

fn size(key: &Key, entry: &Entry) -> usize {
    key.params.len() + entry.text.len() + OVERHEAD
}

/// The view of a cache that belongs to one connection.
pub(crate) struct ConnectionCache {
    cache: Cache,
    connection: u64,
}

impl ConnectionCache {
    pub(crate) fn new(cache: Cache) -> Self {
        let mut store = cache.lock();
        store.connections += 1;
        let connection = store.connections;
        drop(store);
        Self { cache, connection }
    }

    /// Forgets all results of these methods.
    pub(crate) fn forget(&self, methods: &[&str]) {
        self.cache.lock().forget(|key| self.sees(key) && methods.contains(&key.method));
    }

    /// Forgets a resource, and the resources that contain it.
    pub(crate) fn forget_resource(&self, uri: &str) {
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Params {
            uri: String,
        }

        let holds = |params: &str| read(params).is_ok_and(|params: Params| uri.starts_with(&params.uri));
        let which = |key: &Key| key.method == ReadResourceRequest::NAME && holds(&key.params);
        self.cache.lock().forget(|key| self.sees(key) && which(key));
    }

    /// The place of a call's result; `None` if the result is not cached.
    pub(crate) fn place(&self, call: &RawCall) -> Option<Place> {
        let method = METHODS.into_iter().find(|method| *method == &*call.method)?;
        if call.has_own_meta {
            return None;
        }
        // The stamp is the same for every request of a connection.
        let mut params = String::new();
        for (name, value) in Members::of(call.params.as_str()).filter(|(name, _)| name != "_meta") {
            if name == "inputResponses" || name == "requestState" {
                return None;
            }
            // No parameter of the protocol has such a name; two of them must not become one key.
            if name.contains(|c: char| matches!(c, '"' | '\\') || c.is_control()) {
                return None;
            }
            params.push(if params.is_empty() { '{' } else { ',' });
            params.extend(["\"", &*name, "\":", value]);
        }
        params.push_str(if params.is_empty() { "{}" } else { "}" });
        Some(Place { method, params, forgotten: self.cache.lock().forgotten })
    }

    pub(crate) fn find(&self, place: &Place) -> Option<RawJson> {
        let now = TokioClock::default().now();
        let mut store = self.cache.lock();
        let owners = [Some(self.connection), None];
        owners.into_iter().find_map(|owner| {
            let key = Key { owner, method: place.method, params: place.params.clone() };
            let entry = store.entries.get(&key)?;
            if now < entry.fresh_until {
                return Some(entry.text.clone());
            }
            store.remove(&key);
            None
        })
    }

    pub(crate) fn keep(&self, place: Place, text: &RawJson) {
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        #[serde(rename_all = "camelCase")]
        struct Hints {
            ttl_ms: Option<serde_json::Number>,
            cache_scope: Option<CacheScope>,
        }

        let Ok(Hints { ttl_ms, cache_scope }) = text.decode() else { return };
        // A `ttlMs` that is negative or too large for the clock counts as missing.
        let time = Duration::from_millis(ttl_ms.and_then(|time| time.as_u64()).unwrap_or_default());
        let fresh_until = TokioClock::default().now().checked_add(time);
        let Some(fresh_until) = fresh_until.filter(|_| !time.is_zero()) else { return };
        let is_public = self.cache.shares && cache_scope == Some(CacheScope::Public);
        let owner = (!is_public).then_some(self.connection);
        let mut store = self.cache.lock();
        if store.forgotten == place.forgotten {
            let key = Key { owner, method: place.method, params: place.params };
            // A copy, so that the entry does not keep the whole message in memory.
            let text = RawJson::encode(text).unwrap_or_else(|_| text.clone());
            store.insert(key, text, fresh_until);
        }
    }

    fn sees(&self, key: &Key) -> bool {
        key.owner.is_none_or(|owner| owner == self.connection)
    }
}

impl Drop for ConnectionCache {
    fn drop(&mut self) {
        let connection = Some(self.connection);
        self.cache.lock().forget(|key| key.owner == connection);
    }
}

/// The place of a result in the cache.
pub(crate) struct Place {
    method: &'static str,
    params: String,
    /// The cache's count of removals when the result was requested.
    forgotten: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_that_is_stale_soonest_makes_room_and_both_orders_agree() {
        let (mut store, now) = (Store { limit: 10 * (OVERHEAD + 10), ..Store::default() }, Instant::now());
        let key = |number: u64| Key { owner: None, method: "m", params: format!("{number:08}") };
        let text = || RawJson::parse("12".into()).expect("JSON");
        for number in 0..1000_u64 {
            // Later entries become stale sooner, except every tenth.
            let seconds = if number % 10 == 0 { 5000 } else { 2000 - number };
            store.insert(key(number), text(), now + Duration::from_secs(seconds));
            assert_eq!(store.entries.len(), store.by_time.len());
            assert_eq!(store.bytes, store.entries.len() * (OVERHEAD + 10));
            assert!(store.bytes <= store.limit);
        }
        let left: Vec<_> = store.by_time.values().map(|key| key.params.clone()).collect();
        assert!(left.iter().filter(|params| params.ends_with('0')).count() >= 9, "{left:?}");
        store.insert(key(990), text(), now);
        store.forget(|key| key.params != "00000990");
        assert_eq!((store.entries.len(), store.by_time.len(), store.bytes), (1, 1, OVERHEAD + 10));
        store.remove(&key(990));
        assert!(store.entries.is_empty() && store.by_time.is_empty() && store.bytes == 0);
    }
}
