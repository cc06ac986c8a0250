//! Names that are used once.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::StoreError;

/// The longest name of an [`OnceStore`], in bytes.
pub const MAX_ONCE_NAME: usize = 256;

/// Remembers names, so that none is used twice: sealed states of requests, proofs of possession, authorization codes, sealed ids
/// of sessions that have ended.
///
/// A name is at most [`MAX_ONCE_NAME`] bytes of text. Of longer ones a caller gives a digest. Names of several uses begin
/// with the use.
pub trait OnceStore: fmt::Debug + Send + Sync + 'static {
    /// Remembers a name for so long, by the clock of the store. Returns false where it is remembered already. Of several calls at
    /// once with one name, one returns true.
    ///
    /// `owner` names the caller that the room for the name counts for, as in [`EventStore::open`](crate::EventStore::open): a store
    /// with a limit leaves room for others. One that expires names soon and has the memory of an engine may need none.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] where there is no room, or the owner has its share of it, and for a name that is too long: the caller
    /// then refuses the use.
    fn insert(
        &self,
        name: &str,
        owner: Option<&str>,
        remember: Duration,
    ) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Returns whether a name is remembered.
    fn contains(&self, name: &str) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Forgets a name whose use has come to nothing, so that it can be used.
    fn remove(&self, name: &str) -> BoxFuture<'static, Result<(), StoreError>>;
}
