//! Proofs of possession that were used.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agentwire_mcp_auth::server::ReplayStore;
use agentwire_store::OnceStore;
use agentwire_transport_http::client::BoxError;
use agentwire_transport_http::server::Principal;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::store::RedisStore;

/// A node whose clock is this much behind accepts a proof for as much longer.
const SLACK: Duration = Duration::from_secs(60);

impl ReplayStore for RedisStore {
    fn insert(
        &self,
        name: &str,
        _: &Principal,
        expires_at: u64,
    ) -> BoxFuture<'static, Result<bool, BoxError>> {
        // As long as this node accepts it, from now on: the engine's clock may be another.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let left = Duration::from_secs(expires_at).saturating_sub(now).saturating_add(SLACK);
        OnceStore::insert(self, &format!("dpop:{name}"), left)
            .map(|result| result.map_err(BoxError::from))
            .boxed()
    }
}
