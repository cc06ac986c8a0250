//! The storage of credentials.

#[cfg(feature = "file")]
mod file;
mod key_locks;
#[cfg(feature = "keyring")]
mod keyring;
mod memory;

use std::fmt;
use std::sync::Arc;

use agentwire_transport_http::client::BoxError;
use futures_util::future::BoxFuture;

#[cfg(feature = "file")]
pub use file::FileStore;
#[cfg(feature = "keyring")]
pub use keyring::KeyringStore;
pub use memory::MemoryStore;

use crate::Secret;

/// A store failed.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
#[non_exhaustive]
pub struct StoreError {
    /// The failed step, such as `cannot write /home/user/.config/app/credentials.json`.
    pub what: String,
    /// Why.
    #[source]
    pub cause: BoxError,
}

impl StoreError {
    /// Makes an error of what failed, and of the cause.
    pub fn new(what: impl Into<String>, cause: impl Into<BoxError>) -> Self {
        Self { what: what.into(), cause: cause.into() }
    }
}

/// Held while one process changes what is under a key. Dropping it, or the end of the process, releases the key.
pub trait StoreGuard: Send + Sync {}

/// Keeps small texts by key, for all processes of a user. The texts are secrets; the keys are not.
///
/// The layer above decides what is written. It changes an entry only while it holds the key's lock:
/// lock, read, renew, write, release.
pub trait CredentialStore: fmt::Debug + Send + Sync {
    /// The entry under a key, as the last process wrote it.
    fn read(&self, key: &str) -> BoxFuture<'static, Result<Option<Secret>, StoreError>>;

    /// Replaces the entry under a key, or removes it. When this returns, a crash does not undo it, and no reader sees a part.
    fn write(&self, key: &str, entry: Option<Secret>) -> BoxFuture<'static, Result<(), StoreError>>;

    /// Waits until no other process and no other task holds this key, and takes it.
    fn lock(&self, key: &str) -> BoxFuture<'static, Result<Box<dyn StoreGuard>, StoreError>>;
}

impl<S: CredentialStore + ?Sized> CredentialStore for Arc<S> {
    fn read(&self, key: &str) -> BoxFuture<'static, Result<Option<Secret>, StoreError>> {
        (**self).read(key)
    }

    fn write(&self, key: &str, entry: Option<Secret>) -> BoxFuture<'static, Result<(), StoreError>> {
        (**self).write(key, entry)
    }

    fn lock(&self, key: &str) -> BoxFuture<'static, Result<Box<dyn StoreGuard>, StoreError>> {
        (**self).lock(key)
    }
}
