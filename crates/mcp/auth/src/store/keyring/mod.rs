//! A store in a file that is sealed with a key from the system's keyring.
//!
//! # Why the entries are not in the keyring themselves
//!
//! The keyring holds one short key. Keyrings are made for passwords: Windows stores at most 2,560 bytes, less than many tokens
//! have. None of them has locks for what is read, renewed and written, and some ask a person at each access. A file has room
//! and locks; the key makes a copy of the file, such as a backup, worthless.

mod seal;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use agentwire_sync::Mutex;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use keyring_core::Entry;

use self::seal::Key;
use super::{CredentialStore, FileStore, StoreError, StoreGuard};
use crate::Secret;

/// The lock under which a key is made. No entry can have this name by chance.
const KEY_LOCK: &str = "\u{0}the key in the keyring";

/// A [`FileStore`] whose entries are sealed with a key from the system's keyring.
///
/// The first write makes the key. Removing an entry does not need it. Where the keyring has lost the key, reading and writing
/// fail until the file is removed. The keyring is asked once for a process, on a thread that may block.
///
/// The program chooses the keyring, with a store crate of [`keyring_core`]: `apple-native-keyring-store`,
/// `windows-native-keyring-store`, `zbus-secret-service-keyring-store`, `linux-keyutils-keyring-store`.
///
/// ```
/// use agentwire_mcp_auth::store::KeyringStore;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("credentials.json");
///
/// // A program names the store of its system here.
/// let keyring = keyring_core::mock::Store::new()?;
/// let store = KeyringStore::open(keyring, "example-program", path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A program of the same user can ask the keyring for the key, except where the system asks the person. On Linux without a
/// desktop there is usually no Secret Service; the kernel's keyring forgets the key at the next boot, and the entries with it.
/// There [`FileStore`] is the better choice.
///
/// Its futures must be polled in a tokio runtime with time enabled. Clones share the store.
#[derive(Clone)]
pub struct KeyringStore {
    file: FileStore,
    keyring: Arc<keyring_core::CredentialStore>,
    service: String,
    /// The name of the key in the keyring: the path of the file.
    user: String,
    key: Arc<Mutex<Option<Arc<Key>>>>,
}

impl KeyringStore {
    /// Opens the store in a file, which only this store may have written. The file need not exist. `service` names the program
    /// in the keyring, where a person sees it.
    ///
    /// Blocks the thread for a few file operations; the keyring is not asked yet.
    ///
    /// # Errors
    ///
    /// As [`FileStore::open`].
    pub fn open(
        keyring: Arc<keyring_core::CredentialStore>,
        service: impl Into<String>,
        path: impl Into<PathBuf>,
    ) -> Result<Self, StoreError> {
        let path = path.into();
        let absolute = std::path::absolute(&path);
        let absolute =
            absolute.map_err(|error| StoreError::new(format!("cannot open {}", path.display()), error))?;
        let (file, user) = (FileStore::open(&absolute)?, absolute.display().to_string());
        Ok(Self { file, keyring, service: service.into(), user, key: Arc::default() })
    }

    /// Sets how many bytes the file may have (default [`FileStore::DEFAULT_SIZE_LIMIT`]).
    #[must_use]
    pub fn size_limit(mut self, bytes: u64) -> Self {
        self.file = self.file.size_limit(bytes);
        self
    }

    async fn read_entry(self, name: String) -> Result<Option<Secret>, StoreError> {
        let Some(sealed) = self.file.read(&name).await? else { return Ok(None) };
        let open = |key: &Key| key.open(&name, sealed.expose()).ok().map(|text| Some(Secret::new(text)));
        let known = self.key.lock().clone();
        if let Some(entry) = known.as_deref().and_then(open) {
            return Ok(entry);
        }
        // The key may have been replaced since it was read.
        let key = self.load().await?.ok_or_else(|| self.lost())?;
        open(&key).ok_or_else(|| self.error("an entry was not sealed with the key in the keyring"))
    }

    async fn write_entry(self, name: String, entry: Option<Secret>) -> Result<(), StoreError> {
        let Some(entry) = entry else { return self.file.write(&name, None).await };
        let key = self.key_or_new().await?;
        let sealed = key.seal(&name, entry.expose()).map_err(|_| self.error("an entry cannot be sealed"))?;
        self.file.write(&name, Some(Secret::new(sealed))).await
    }

    async fn key_or_new(&self) -> Result<Arc<Key>, StoreError> {
        let known = self.key.lock().clone();
        if let Some(key) = known {
            return Ok(key);
        }
        if let Some(key) = self.load().await? {
            return Ok(key);
        }
        // Two processes must not make two keys.
        let _held = self.file.lock(KEY_LOCK).await?;
        if let Some(key) = self.load().await? {
            return Ok(key);
        }
        let (store, path) = (self.clone(), self.file.path().to_owned());
        blocking(move || {
            // A new key could not open what is in the file.
            if path.symlink_metadata().is_ok() {
                return Err(store.lost());
            }
            let text = Key::generate().map_err(|_| store.error("no key can be made"))?;
            let entry = store.entry()?;
            entry.set_password(&text).map_err(|error| store.error(&error.to_string()))
        })
        .await
        .unwrap_or_else(|| Err(self.error("the runtime shuts down")))?;
        // Whatever the keyring has kept is the key.
        self.load().await?.ok_or_else(|| self.error("the keyring has not kept the key"))
    }

    /// Reads the key from the keyring; `None` if there is none.
    async fn load(&self) -> Result<Option<Arc<Key>>, StoreError> {
        let store = self.clone();
        let loaded = blocking(move || {
            let mut found = store.entry()?.get_password();
            if matches!(found, Err(keyring_core::Error::NoEntry)) {
                // Outside of a login session, the kernel's keyring is linked to the process when the first entry is built, and
                // is searched from the second on.
                found = store.entry()?.get_password();
            }
            match found {
                Ok(text) => Key::read(&text)
                    .map(Some)
                    .map_err(|_| store.error("the entry in the keyring is not a key")),
                Err(keyring_core::Error::NoEntry) => Ok(None),
                // As text: an error of the keyring may own the entry's bytes.
                Err(error) => Err(store.error(&error.to_string())),
            }
        });
        let loaded = loaded.await.unwrap_or_else(|| Err(self.error("the runtime shuts down")))?;
        let key = loaded.map(Arc::new);
        self.key.lock().clone_from(&key);
        Ok(key)
    }

    fn entry(&self) -> Result<Entry, StoreError> {
        let entry = Entry::new_in_store(&self.keyring, &self.service, &self.user);
        entry.map_err(|error| self.error(&error.to_string()))
    }

    fn lost(&self) -> StoreError {
        self.error("the keyring has no key for the file; remove the file and log in again")
    }

    fn error(&self, cause: &str) -> StoreError {
        StoreError::new(format!("cannot use the keyring for {}", self.file.path().display()), cause)
    }
}

impl fmt::Debug for KeyringStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyringStore")
            .field("path", &self.file.path())
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

impl CredentialStore for KeyringStore {
    fn read(&self, key: &str) -> BoxFuture<'static, Result<Option<Secret>, StoreError>> {
        self.clone().read_entry(key.to_owned()).boxed()
    }

    fn write(&self, key: &str, entry: Option<Secret>) -> BoxFuture<'static, Result<(), StoreError>> {
        self.clone().write_entry(key.to_owned(), entry).boxed()
    }

    fn lock(&self, key: &str) -> BoxFuture<'static, Result<Box<dyn StoreGuard>, StoreError>> {
        self.file.lock(key)
    }
}

/// Runs calls of the keyring on a thread that may block: they may ask the person. `None` if the runtime shuts down.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
