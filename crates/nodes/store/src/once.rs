//! The trait of a store for names that may be used once, such as sealed states.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::StoreError;

/// The longest name of an [`OnceStore`], in bytes.
pub const MAX_ONCE_NAME: usize = 256;

/// Remembers names, so that no name is used twice. The names are sealed states of requests, proofs of possession, authorization
/// codes, and sealed ids of sessions that have ended.
///
/// A name is at most [`MAX_ONCE_NAME`] bytes of text. A caller passes the digest of a longer name. A name begins with its use, so
/// that names of different uses differ.
pub trait OnceStore: fmt::Debug + Send + Sync + 'static {
    /// Remembers a name for the time `remember`, by the clock of the store. Returns false if the name is remembered already. Of
    /// several calls at once with one name, one returns true.
    ///
    /// `owner` names the caller whose share of the room the name uses, as in [`EventStore::open`](crate::EventStore::open). A
    /// store with a limit leaves room for other owners. A store that expires names soon, in the memory of an engine, may need no
    /// such limit.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] if there is no room, if the owner has used up its share, or if the name is too long. The caller then
    /// refuses the use.
    fn insert(
        &self,
        name: &str,
        owner: Option<&str>,
        remember: Duration,
    ) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Returns whether a name is remembered.
    fn contains(&self, name: &str) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Forgets a name whose use has failed, so that it can be used again.
    fn remove(&self, name: &str) -> BoxFuture<'static, Result<(), StoreError>>;
}
