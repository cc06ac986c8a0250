//! The server's memory: clients, codes, tokens, keys of proofs.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use serde_json::Value;

use crate::client::RegisteredClient;

/// How many entries of one kind are kept. The oldest is forgotten for a new one.
pub(crate) const ENTRY_LIMIT: usize = 65_536;

/// A shorter string may be part of anything, so it is not a secret.
const SECRET_LENGTH: usize = 8;

/// A map that forgets its oldest entry when it is full.
pub(crate) struct Bounded<K, V> {
    map: HashMap<K, V>,
    order: VecDeque<K>,
}

impl<K, V> Default for Bounded<K, V> {
    fn default() -> Self {
        Self { map: HashMap::new(), order: VecDeque::new() }
    }
}

impl<K: Eq + Hash + Clone, V> Bounded<K, V> {
    /// Adds or replaces an entry; returns whether it is new.
    pub(crate) fn insert(&mut self, key: K, value: V) -> bool {
        let is_new = self.map.insert(key.clone(), value).is_none();
        if is_new {
            self.order.push_back(key);
            if self.order.len() > ENTRY_LIMIT
                && let Some(oldest) = self.order.pop_front()
            {
                self.map.remove(&oldest);
            }
        }
        is_new
    }

    pub(crate) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
    {
        self.map.get(key)
    }

    pub(crate) fn get_mut<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: std::borrow::Borrow<Q>,
    {
        self.map.get_mut(key)
    }

    /// The keys, oldest first.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.order.iter()
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.map.values_mut()
    }

    pub(crate) fn clear(&mut self) {
        self.map.clear();
        self.order.clear();
    }
}

/// A person's consent: the client, the scopes and the resource.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    pub(crate) client: String,
    pub(crate) subject: String,
    pub(crate) scope: String,
    /// The `resource` of the request, byte for byte.
    pub(crate) resource: Option<String>,
    /// The thumbprint of the key that tokens are bound to.
    pub(crate) key: Option<String>,
    /// All tokens of one authorization, which are revoked together.
    pub(crate) family: u64,
}

impl Grant {
    pub(crate) fn has_scope(&self, scope: &str) -> bool {
        let granted: Vec<&str> = self.scope.split_ascii_whitespace().collect();
        scope.split_ascii_whitespace().all(|scope| granted.contains(&scope))
    }
}

pub(crate) struct Code {
    pub(crate) grant: Grant,
    pub(crate) redirect_uri: String,
    pub(crate) challenge: String,
    /// In milliseconds since 1970, as all times here.
    pub(crate) expires: u64,
    pub(crate) is_used: bool,
}

pub(crate) struct RefreshToken {
    pub(crate) grant: Grant,
    pub(crate) expires: Option<u64>,
    /// Whether another token has taken its place.
    pub(crate) is_replaced: bool,
}

#[derive(Clone)]
pub(crate) struct AccessToken {
    pub(crate) grant: Grant,
    pub(crate) audience: String,
    pub(crate) issued: u64,
    pub(crate) expires: u64,
    pub(crate) is_revoked: bool,
}

/// How often something has happened since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Clients that were registered.
    pub registrations: u64,
    /// Codes that were issued.
    pub codes: u64,
    /// Codes that were presented again after their use. Their tokens are revoked.
    pub replayed_codes: u64,
    /// Access tokens that were issued, of each grant.
    pub access_tokens: u64,
    /// Refreshes that succeeded on the server's side.
    pub refreshes: u64,
    /// Refresh tokens that were presented again after they were replaced. Their family is revoked.
    pub reused_refresh_tokens: u64,
    /// Proofs of possession whose `jti` was presented before.
    pub replayed_proofs: u64,
    /// Requests to the resource that were answered with success.
    pub authorized_requests: u64,
}

#[derive(Default)]
pub(crate) struct Store {
    pub(crate) clients: Bounded<String, RegisteredClient>,
    pub(crate) codes: Bounded<String, Code>,
    pub(crate) refresh_tokens: Bounded<String, RefreshToken>,
    pub(crate) access_tokens: Bounded<String, AccessToken>,
    pub(crate) revoked_families: Bounded<u64, ()>,
    /// The `jti` of assertions and proofs.
    pub(crate) used_ids: Bounded<String, ()>,
    pub(crate) nonce: String,
    /// Issuers whose assertions are accepted, with their keys.
    pub(crate) trusted: HashMap<String, Vec<Value>>,
    /// Values of `resource` that are accepted besides the server's own.
    pub(crate) resources: HashSet<String>,
    /// Everything secret that was issued or received, in order.
    pub(crate) secrets: Bounded<String, ()>,
    pub(crate) counters: Counters,
    pub(crate) last_family: u64,
}

impl Store {
    pub(crate) fn new_family(&mut self) -> u64 {
        self.last_family += 1;
        self.last_family
    }

    pub(crate) fn revoke_family(&mut self, family: u64) {
        self.revoked_families.insert(family, ());
    }

    /// Remembers a secret, so that tests can look for it in what they print.
    pub(crate) fn remember(&mut self, secret: &str) {
        if secret.len() >= SECRET_LENGTH {
            self.secrets.insert(secret.to_owned(), ());
        }
    }

    /// An access token that is valid at a time.
    pub(crate) fn valid_token(&self, token: &str, now: u64) -> Option<&AccessToken> {
        let found = self.access_tokens.get(token)?;
        let is_valid = !found.is_revoked
            && found.expires > now
            && self.revoked_families.get(&found.grant.family).is_none();
        is_valid.then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entry_is_forgotten() {
        let mut map = Bounded::default();
        for key in 0..=ENTRY_LIMIT {
            assert!(map.insert(key, ()));
        }
        assert!(!map.insert(ENTRY_LIMIT, ()));
        assert!(map.get(&0).is_none());
        assert!(map.get(&1).is_some());
    }
}
