//! An event that happens once, and that any number of futures wait for.

use std::sync::Arc;

use agentwire_sync::{Monitor, Waiter};

/// Clones are the same signal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signal(Arc<Monitor<bool>>);

impl Signal {
    /// Sets the signal. Returns whether it was not set before.
    pub(crate) fn set(&self) -> bool {
        self.0.update(|is_set| !std::mem::replace(is_set, true))
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.with(|is_set| *is_set)
    }

    /// Completes when the signal is set.
    pub(crate) fn wait(&self) -> impl Future<Output = ()> + Unpin + Send + use<> {
        Waiter::new(self.0.clone()).until(|is_set: &mut bool| is_set.then_some(()))
    }
}
