//! Names that are used once.

use std::fmt;
use std::time::Duration;

use futures_core::future::BoxFuture;

use crate::StoreError;

/// Remembers names, so that none is used twice: sealed states of requests, proofs of possession, authorization codes.
pub trait OnceStore: fmt::Debug + Send + Sync + 'static {
    /// Remembers a name. False where it is remembered already. Of two calls at once with one name, one gets false.
    fn insert(&self, name: &str, remember: Duration) -> BoxFuture<'static, Result<bool, StoreError>>;
}
