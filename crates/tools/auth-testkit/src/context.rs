//! The state that all requests share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;

use crate::config::{Config, TokenFormat};
use crate::fault::{Fault, FaultSet};
use crate::log::{Recorder, Site};
use crate::store::Store;
use crate::tokens::signer::{Signer, random};

/// The server's URLs.
#[derive(Clone, Debug)]
pub(crate) struct Urls {
    /// The origin of the authorization server.
    pub(crate) server: String,
    /// The origin of the resource.
    pub(crate) resource: String,
    /// The origin that faults redirect to.
    pub(crate) other: String,
}

/// The keys that sign tokens.
#[derive(Debug)]
pub(crate) struct Keys {
    /// The one that signs now, and before it those that only verify.
    pub(crate) signers: Vec<Signer>,
    next: u64,
}

pub(crate) struct Context {
    pub(crate) config: Config,
    pub(crate) urls: Urls,
    pub(crate) faults: FaultSet,
    pub(crate) log: Recorder,
    keys: Mutex<Keys>,
    store: Mutex<Store>,
    /// By how many milliseconds the server's clock is ahead.
    ahead: AtomicU64,
}

impl Context {
    pub(crate) fn new(config: Config, urls: Urls) -> Self {
        let mut store = Store { nonce: random(12), ..Store::default() };
        for client in &config.clients {
            if let Some(secret) = client.auth.secret() {
                store.remember(secret);
            }
            store.clients.insert(client.id.clone(), client.clone());
        }
        let context = Self {
            config,
            urls,
            faults: FaultSet::default(),
            log: Recorder::default(),
            keys: Mutex::new(Keys { signers: Vec::new(), next: 1 }),
            store: Mutex::new(store),
            ahead: AtomicU64::new(0),
        };
        context.rotate_keys();
        context
    }

    pub(crate) fn issuer(&self) -> String {
        format!("{}{}", self.urls.server, self.config.issuer_path)
    }

    pub(crate) fn resource_url(&self) -> String {
        format!("{}{}", self.urls.resource, self.config.resource_path)
    }

    pub(crate) fn endpoint(&self, name: &str) -> String {
        format!("{}/{name}", self.issuer())
    }

    /// The origin that has received a request.
    pub(crate) fn origin(&self, site: Site) -> &str {
        match site {
            Site::AuthServer => &self.urls.server,
            Site::Resource => &self.urls.resource,
            Site::OtherOrigin => &self.urls.other,
        }
    }

    pub(crate) fn occurs(&self, fault: Fault) -> bool {
        self.faults.occurs(fault)
    }

    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Milliseconds since 1970, by the server's clock.
    pub(crate) fn now(&self) -> u64 {
        millis(UNIX_EPOCH.elapsed().unwrap_or_default()).saturating_add(self.ahead.load(Ordering::Relaxed))
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.ahead.fetch_add(millis(by), Ordering::Relaxed);
    }

    pub(crate) fn rotate_keys(&self) {
        let mut keys = self.keys();
        let id = format!("key-{}", keys.next);
        keys.next += 1;
        let signer = match self.config.token_format {
            TokenFormat::Rs256 => Signer::rs256(id),
            TokenFormat::Es256 | TokenFormat::Opaque => Signer::es256(id),
        };
        // The last key stays published, for tokens that it has signed.
        let obsolete = keys.signers.len().saturating_sub(1);
        keys.signers.drain(..obsolete);
        keys.signers.push(signer);
    }

    pub(crate) fn signer(&self) -> Signer {
        self.keys().signers.last().cloned().unwrap_or_else(|| Signer::es256("key-0"))
    }

    /// The public keys, the one that signs now at the end.
    pub(crate) fn public_keys(&self) -> Vec<Value> {
        self.keys().signers.iter().map(Signer::jwk).collect()
    }

    fn keys(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Seconds since 1970 by the clock that clients have as well, for what they sign.
pub(crate) fn wall_seconds() -> i64 {
    i64::try_from(UNIX_EPOCH.elapsed().unwrap_or_default().as_secs()).unwrap_or(i64::MAX)
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
