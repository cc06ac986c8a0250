//! The answer that sets up a session, in its order among what the agent sends.

use std::sync::Arc;

use agentwire_acp_client::Call;
use agentwire_sync::{Mutex, MutexGuard};

/// Keeps the answer from its arrival until the client takes it over, which is before it shows or does anything that the
/// agent sends behind it. Clones are the same.
#[derive(Debug)]
pub(super) struct Opening<T>(Arc<Mutex<Option<T>>>);

impl<T: Send + 'static> Opening<T> {
    pub(super) fn new() -> Self {
        Self(Arc::default())
    }

    /// Keeps the answer to the call when it arrives. `split` gives what is kept, and what is left for the caller.
    pub(super) fn keep<R: 'static>(
        &self,
        call: Call<R>,
        split: impl FnOnce(R) -> (T, R) + Send + 'static,
    ) -> Call<R> {
        let slot = self.0.clone();
        call.check(move |answer| {
            let (kept, left) = split(answer);
            *lock(&slot) = Some(kept);
            Ok(left)
        })
    }

    /// The answer, once it has arrived, the first time.
    pub(super) fn take(&self) -> Option<T> {
        lock(&self.0).take()
    }
}

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock()
}
