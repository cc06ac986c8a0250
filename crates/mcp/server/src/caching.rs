//! How long a client may cache a result, and for whom.

use std::time::Duration;

use agentwire_mcp_schema::CacheScope;

/// How long a client may cache a result, and for whom.
#[derive(Clone, Debug)]
pub(crate) struct Caching {
    /// Milliseconds.
    pub(crate) ttl: u64,
    pub(crate) scope: CacheScope,
}

/// The greatest integer that every JSON parser keeps exactly.
const LONGEST: u64 = (1 << 53) - 1;

impl Caching {
    pub(crate) fn new(ttl: Duration, scope: CacheScope) -> Self {
        let ttl = u64::try_from(ttl.as_millis()).unwrap_or(LONGEST).min(LONGEST);
        Self { ttl, scope }
    }
}

/// No caching: a lifetime of zero, and private.
impl Default for Caching {
    fn default() -> Self {
        Self { ttl: 0, scope: CacheScope::Private }
    }
}
