//! Used proofs in a store that several servers share.

use std::sync::Arc;
use std::time::Duration;

use agentwire_store::OnceStore;
use agentwire_transport_http::client::BoxError;
use agentwire_transport_http::server::Principal;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::clock::unix_now;
use crate::server::ReplayStore;

/// How much longer than this server accepts a proof it stays in the store. A server whose clock is behind accepts it longer.
const SLACK: Duration = Duration::from_secs(60);

/// A [`ReplayStore`] on any [`OnceStore`], such as the one in Redis that the nodes of a server share.
///
/// ```
/// use std::sync::Arc;
///
/// use agentwire_mcp_auth::server::SharedReplayStore;
/// use agentwire_store::{Clock, StoreLimits, Stores};
///
/// let stores = Stores::memory(&StoreLimits::new(), &Clock::system());
/// let store = SharedReplayStore::new(stores.once.clone());
/// # let _ = Arc::new(store);
/// ```
#[derive(Clone, Debug)]
pub struct SharedReplayStore(Arc<dyn OnceStore>);

impl SharedReplayStore {
    /// Remembers proofs in this store, with `dpop:` before their names.
    pub fn new(store: Arc<dyn OnceStore>) -> Self {
        Self(store)
    }
}

impl ReplayStore for SharedReplayStore {
    fn insert(
        &self,
        name: &str,
        caller: &Principal,
        expires_at: u64,
    ) -> BoxFuture<'static, Result<bool, BoxError>> {
        // A duration and not a time, because the clock of the store may differ.
        let left = Duration::from_secs(expires_at.saturating_sub(unix_now())).saturating_add(SLACK);
        self.0
            .insert(&format!("dpop:{name}"), Some(caller.as_str()), left)
            .map(|result| result.map_err(BoxError::from))
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use agentwire_store::MemoryOnceStore;
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn proof_is_accepted_once_by_all_servers() {
        let store: Arc<dyn OnceStore> = Arc::new(MemoryOnceStore::default());
        let [one, two] = [(); 2].map(|()| SharedReplayStore::new(store.clone()));
        let insert = |at: &SharedReplayStore, name, expires_at| {
            let inserted = at.insert(name, &Principal::new("ada"), expires_at).now_or_never();
            inserted.expect("memory answers at once").expect("there is room")
        };
        assert!(insert(&one, "name", unix_now() + 60) && !insert(&two, "name", unix_now() + 60));
        // A server that accepts an expired proof, for a clock that differs, accepts it once too.
        assert!(insert(&two, "old", unix_now() - 5) && !insert(&one, "old", unix_now() - 5));
        let known = store.contains("dpop:name").now_or_never().expect("memory answers at once");
        assert!(known.expect("it is there"));
    }
}
