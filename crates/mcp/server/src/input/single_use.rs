//! Lets each `requestState` be used once across all nodes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, WithCauses};
use agentwire_seal::SealingKeys;
use agentwire_store::{Node, OnceStore};
use futures::future::BoxFuture;

/// How much longer than its state a name is remembered: another node whose clock is behind accepts the state for as long.
const SLACK: Duration = Duration::from_secs(60);

/// The single use of a `requestState`, counted across all nodes.
pub(crate) struct SingleUse {
    store: Arc<dyn OnceStore>,
    name: String,
    owner: Option<String>,
    left: Duration,
    is_taken: AtomicBool,
}

impl SingleUse {
    /// The use of a state that was opened, and can be used for so long.
    pub(super) fn new(node: &Node, sealed: &str, owner: Option<String>, left: Duration) -> Self {
        let name = format!("state:{}", SealingKeys::name(sealed));
        Self { store: node.stores().once.clone(), name, owner, left, is_taken: AtomicBool::new(false) }
    }

    /// Uses the state.
    ///
    /// # Errors
    ///
    /// If the state was used, or the store cannot be reached.
    pub(crate) async fn take(&self) -> Result<(), ErrorObject> {
        let left = self.left.saturating_add(SLACK);
        match self.store.insert(&self.name, self.owner.as_deref(), left).await {
            Ok(true) => {
                self.is_taken.store(true, Ordering::Relaxed);
                Ok(())
            }
            Ok(false) => Err(ErrorObject::invalid_params(
                "`requestState` was used already, so the request may have been done; without `requestState` it begins anew",
            )),
            Err(error) => Err(ErrorObject::internal_error(format_args!(
                "whether `requestState` was used cannot be found out, so nothing was done: {}",
                WithCauses::new(&error),
            ))),
        }
    }

    /// Gives the use back: the request has come to another question, and a client that has not got it can send the state
    /// again. `None` if it was not taken.
    pub(crate) fn give_back(&self) -> Option<BoxFuture<'static, ()>> {
        let is_taken = self.is_taken.swap(false, Ordering::Relaxed);
        let (store, name) = (self.store.clone(), self.name.clone());
        // If it fails, the client begins again.
        is_taken
            .then(|| -> BoxFuture<'static, ()> { Box::pin(async move { drop(store.remove(&name).await) }) })
    }
}
