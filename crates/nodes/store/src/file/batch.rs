//! Groups changes of one write, so that callers can wait for its result.

use std::io;
use std::sync::Arc;

use agentwire_sync::{Monitor, Waiter};
use futures_util::future::BoxFuture;

use crate::StoreError;

/// The result of a write that several changes share, once it is known. Clones are one batch.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch(Arc<Monitor<Option<Result<(), Failure>>>>);

/// Why changes were not written.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    is_full: bool,
    message: Arc<str>,
}

impl Batch {
    pub(super) fn complete(&self, result: Result<(), Failure>) {
        self.0.update(|done| *done = Some(result));
    }

    /// Waits for the result.
    pub(super) fn wait(self) -> BoxFuture<'static, Result<(), StoreError>> {
        let result = Waiter::new(self.0).until(|done: &mut Option<Result<(), Failure>>| done.clone());
        Box::pin(async { result.await.map_err(StoreError::from) })
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let is_full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        Self { is_full, message: error.to_string().into() }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        let message = format!("the journal cannot be written: {}", failure.message);
        if failure.is_full { Self::full(message) } else { Self::away(message) }
    }
}
