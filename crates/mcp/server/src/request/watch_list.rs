//! The resources that a client watches, and the limits on them.

use std::collections::HashSet;
use std::sync::Arc;

use agentwire_jsonrpc::ErrorObject;
use agentwire_wire_derive::Build;

use crate::quota::{Holder, Limits, Quota, QuotaExceeded, Share};

/// The memory of a URI beside its text, in bytes.
const OVERHEAD: usize = 64;

/// How many resources clients may watch, by `resources/subscribe` or `subscriptions/listen`. Set it by
/// [`Server::subscription_limits`](crate::Server::subscription_limits).
///
/// A request over a limit is refused with an error that names the limit. Each URI counts as its length and 64 bytes more.
#[derive(Clone, Debug, PartialEq, Eq, Build)]
#[build(default)]
#[non_exhaustive]
pub struct SubscriptionLimits {
    /// URIs of one session, or of one `subscriptions/listen` (default [`DEFAULT_URIS`](Self::DEFAULT_URIS)). The same
    /// number of tasks may be named in one `subscriptions/listen`.
    #[build(default = Self::DEFAULT_URIS)]
    pub uris: usize,
    /// Bytes of the URIs of one client (default [`DEFAULT_CLIENT_BYTES`](Self::DEFAULT_CLIENT_BYTES)): of a
    /// [principal](crate::InputConfig::principal), or else of a [sender](agentwire_transport::MessageSource::sender),
    /// or else of a session. All requests without a session of which nothing is known are one client.
    #[build(default = Self::DEFAULT_CLIENT_BYTES)]
    pub client_bytes: usize,
    /// Bytes of the URIs of all clients (default [`DEFAULT_TOTAL_BYTES`](Self::DEFAULT_TOTAL_BYTES)).
    #[build(default = Self::DEFAULT_TOTAL_BYTES)]
    pub total_bytes: usize,
}

impl SubscriptionLimits {
    /// The default of [`uris`](Self::uris): 1,000.
    pub const DEFAULT_URIS: usize = 1000;
    /// The default of [`client_bytes`](Self::client_bytes): 1 MiB.
    pub const DEFAULT_CLIENT_BYTES: usize = 1024 * 1024;
    /// The default of [`total_bytes`](Self::total_bytes): 16 MiB.
    pub const DEFAULT_TOTAL_BYTES: usize = 16 * 1024 * 1024;

    /// Refuses a list over the limit.
    pub(crate) fn check_count(&self, count: usize) -> Result<(), ErrorObject> {
        if count <= self.uris {
            return Ok(());
        }
        let why = format_args!(
            "a session or `subscriptions/listen` can name {} resources or tasks (SubscriptionLimits::uris)",
            self.uris
        );
        Err(ErrorObject::invalid_params(why))
    }

    fn bytes(&self) -> Limits {
        Limits { total: self.total_bytes, holder: self.client_bytes }
    }
}

/// The URIs of a session, or of a request that listens.
#[derive(Default)]
pub(crate) struct WatchList {
    uris: HashSet<Arc<str>>,
    /// `None` until the first URI is added.
    share: Option<Share>,
}

impl WatchList {
    /// Adds a URI, unless a limit leaves no room for it.
    pub(crate) fn add(
        &mut self,
        uri: &str,
        limits: &SubscriptionLimits,
        quota: &Quota,
        holder: impl FnOnce() -> Holder,
    ) -> Result<(), ErrorObject> {
        if self.uris.contains(uri) {
            return Ok(());
        }
        limits.check_count(self.uris.len() + 1)?;
        let size = uri.len() + OVERHEAD;
        let taken = match &mut self.share {
            Some(share) => share.grow(size, limits.bytes()),
            None => quota.take(holder(), size, limits.bytes()).map(|share| self.share = Some(share)),
        };
        taken.map_err(|exceeded| {
            ErrorObject::invalid_params(match exceeded {
                QuotaExceeded::Holder(bytes) => format!(
                    "the resources that one client watches can have URIs of {bytes} bytes together \
                     (SubscriptionLimits::client_bytes)"
                ),
                QuotaExceeded::Total(bytes) => format!(
                    "the resources that all clients watch can have URIs of {bytes} bytes together \
                     (SubscriptionLimits::total_bytes)"
                ),
            })
        })?;
        self.uris.insert(uri.into());
        Ok(())
    }

    pub(crate) fn remove(&mut self, uri: &str) {
        if self.uris.remove(uri)
            && let Some(share) = &mut self.share
        {
            share.shrink(uri.len() + OVERHEAD);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<str>> {
        self.uris.iter()
    }

    /// The URI, where it is watched.
    pub(crate) fn find(&self, uri: &str) -> Option<&Arc<str>> {
        self.uris.get(uri)
    }
}
