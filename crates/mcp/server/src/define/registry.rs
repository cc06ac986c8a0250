//! The items of one kind that a server offers: found by name, listed in pages.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_mcp_schema::Revision;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::define::registered::{Registered, RegisteredKind};
use crate::request::params::read_params;
use crate::request::result_meta::PageMeta;

/// Entries in the order in which they were added.
pub(crate) struct Registry<K: RegisteredKind> {
    entries: RwLock<Entries<K>>,
}

struct Entries<K: RegisteredKind> {
    /// By a number that is never used again, so that a cursor keeps its meaning when entries come and go.
    in_order: BTreeMap<u64, Arc<Registered<K>>>,
    by_key: HashMap<String, u64>,
    next: u64,
}

impl<K: RegisteredKind> Default for Registry<K> {
    fn default() -> Self {
        let entries = Entries { in_order: BTreeMap::new(), by_key: HashMap::new(), next: 0 };
        Self { entries: RwLock::new(entries) }
    }
}

impl<K: RegisteredKind> Registry<K> {
    /// Adds an entry, in the place of the one with the same key if there is one.
    pub(crate) fn add(&self, entry: Registered<K>) {
        let mut entries = self.write();
        let key = entry.key().to_owned();
        let number = entries.by_key.get(&key).copied().unwrap_or(entries.next);
        entries.next = entries.next.max(number + 1);
        entries.by_key.insert(key, number);
        let replaced = entries.in_order.insert(number, Arc::new(entry));
        // Values captured by the replaced function may use the server when they are dropped.
        drop(entries);
        drop(replaced);
    }

    /// Refuses a key that is taken.
    ///
    /// # Panics
    ///
    /// When there is an entry with this key.
    #[track_caller]
    pub(crate) fn check_is_new(&self, key: &str) {
        let (is_new, noun) = (!self.read().by_key.contains_key(key), K::NOUN);
        let add = noun.replace(' ', "_");
        assert!(
            is_new,
            "the {noun} `{key}` is registered twice: use `Server::add_{add}` to replace the first"
        );
    }

    /// Removes an entry. Returns false if the key is not registered.
    pub(crate) fn remove(&self, key: &str) -> bool {
        let mut entries = self.write();
        let removed = entries.by_key.remove(key).and_then(|number| entries.in_order.remove(&number));
        drop(entries);
        removed.is_some()
    }

    pub(crate) fn find(&self, key: &str) -> Option<Arc<Registered<K>>> {
        let entries = self.read();
        entries.by_key.get(key).and_then(|number| entries.in_order.get(number)).cloned()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.read().in_order.is_empty()
    }

    pub(crate) fn any(&self, is_one: impl Fn(&Registered<K>) -> bool) -> bool {
        self.read().in_order.values().any(|entry| is_one(entry))
    }

    /// Returns the current entries, in order.
    pub(crate) fn all(&self) -> Vec<Arc<Registered<K>>> {
        self.read().in_order.values().cloned().collect()
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        self.read().in_order.values().map(|entry| entry.key().to_owned()).collect()
    }

    /// Answers a request for a list with one page of it, as the member `items`, with the members of `page_meta`.
    pub(crate) fn page(
        &self,
        params: Option<&RawJson>,
        items: &'static str,
        revision: Revision,
        page_size: usize,
        page_meta: Option<&PageMeta<'_>>,
    ) -> Result<RawJson, ErrorObject> {
        let ListParams { cursor } = read_params(params)?;
        let entries = self.read();
        let first = match &cursor {
            None => 0,
            Some(cursor) => parse_cursor(items, cursor)
                .filter(|number| *number < entries.next)
                .ok_or_else(|| ErrorObject::invalid_params("the cursor is none of this list"))?,
        };
        let mut rest = entries.in_order.range(first..);
        let texts = rest.by_ref().take(page_size).map(|(_, entry)| entry.listed(revision)).collect();
        let next = rest.next().map(|(number, _)| format_cursor(items, *number));
        RawJson::encode(&Page { items, texts, next, page_meta }).map_err(ErrorObject::internal_error)
    }

    fn read(&self) -> RwLockReadGuard<'_, Entries<K>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Entries<K>> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A cursor names the list, and the number of the entry with which its page begins, even if that was removed.
fn format_cursor(items: &str, number: u64) -> String {
    format!("{items}-{number}")
}

fn parse_cursor(items: &str, cursor: &str) -> Option<u64> {
    let number = cursor.strip_prefix(items)?.strip_prefix('-')?.parse().ok()?;
    (format_cursor(items, number) == cursor).then_some(number)
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct ListParams {
    #[serde(default)]
    cursor: Option<String>,
}

/// A page whose items are text already.
struct Page<'a> {
    items: &'static str,
    texts: Vec<&'a RawValue>,
    next: Option<String>,
    page_meta: Option<&'a PageMeta<'a>>,
}

impl Serialize for Page<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(self.items, &self.texts)?;
        if let Some(next) = &self.next {
            map.serialize_entry("nextCursor", next)?;
        }
        if let Some(page_meta) = self.page_meta {
            page_meta.write(&mut map)?;
        }
        map.end()
    }
}
