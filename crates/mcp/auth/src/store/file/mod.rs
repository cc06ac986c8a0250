//! A store in one file, which processes share.

mod document;
mod lock;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentwire_files::{Access, FileSystem as _, Privacy, PrivateDir};
use agentwire_wire_derive::Build;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use self::document::Document;
use self::lock::{FileLock, blocking};
use super::key_locks::{KeyGuard, KeyLocks};
use super::{CredentialStore, StoreError, StoreGuard};
use crate::Secret;

/// How long a write waits for the writes of other processes, each of which takes milliseconds.
const WRITE_LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// A store in one file of JSON, which the processes of one user share:
///
/// ```json
/// { "version": 1, "entries": { "the key": "the text" } }
/// ```
///
/// On Unix only its owner can read the file (mode `0600`), from its creation on. A file that is a link, belongs to another user
/// or can be read by others is refused, and so is a folder to which others may write. Elsewhere the folder's access rules apply.
///
/// A write replaces the file as a whole: a crash or a full disk leaves the old one. A file that is damaged or has another
/// version is an error, and is never overwritten.
///
/// Beside the file `NAME` are `NAME.lock`, which a write holds for milliseconds, and `NAME.locks/`, with a file for each locked
/// key. The system releases a lock when its process ends. Locks need a file system with `flock`: a local one, or NFS since
/// version 4.
///
/// Its futures must be polled in a tokio runtime with time enabled. Clones share the store.
///
/// # Cancel safety
///
/// A dropped `lock` leaves nothing behind. A dropped `write` either has not begun, or is finished in the background.
#[derive(Clone, Debug, Build)]
pub struct FileStore {
    location: Arc<Location>,
    /// Sets how many bytes the file may have. A longer file is not read, and no longer one is written.
    size_limit: u64,
    // Tasks of this process queue here, so that only one of them at a time polls the key's lock file.
    locks: KeyLocks,
    writes: Arc<tokio::sync::Mutex<()>>,
}

/// The path of the file.
#[derive(Debug)]
struct Location {
    path: PathBuf,
    folder: PathBuf,
    name: OsString,
}

impl FileStore {
    /// The longest file by default: 16 MiB.
    pub const DEFAULT_SIZE_LIMIT: u64 = 16 << 20;

    /// Opens the store at a path. The file need not exist; a missing folder is created with mode `0700`.
    ///
    /// Blocks the thread for a few file operations.
    ///
    /// # Errors
    ///
    /// The path names no file, the folder cannot be created, or the file or its folder is refused.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let location = Location::new(path.into())?;
        let checked = location.open_folder().and_then(|folder| match folder.version(&location.name)? {
            Some(_) => folder.open(&location.name, Access::Read).map(drop),
            None => Ok(()),
        });
        checked.map_err(|error| location.error("open", error))?;
        Ok(Self {
            location: Arc::new(location),
            size_limit: Self::DEFAULT_SIZE_LIMIT,
            locks: KeyLocks::default(),
            writes: Arc::default(),
        })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.location.path
    }

    async fn replace(self, key: String, entry: Option<Secret>) -> Result<(), StoreError> {
        let turn = Arc::clone(&self.writes).lock_owned().await;
        let location = Arc::clone(&self.location);
        let locked = tokio::time::timeout(WRITE_LOCK_TIMEOUT, FileLock::acquire(location.write_lock())).await;
        let lock = match locked {
            Ok(locked) => locked.map_err(|error| location.error("write", error))?,
            Err(_) => {
                let held = format!("another process has held its lock for {WRITE_LOCK_TIMEOUT:?}");
                return Err(location.error("write", io::Error::other(held)));
            }
        };
        // The locks move into the task: they are held until the write is done, even if the caller is dropped.
        let limit = self.size_limit;
        blocking(move || {
            let _locks = (lock, turn);
            location.replace(key, entry, limit).map_err(|error| location.error("write", error))
        })
        .await
        .map_err(|error| self.location.error("write", error))?
    }

    async fn acquire(self, key: String) -> Result<Box<dyn StoreGuard>, StoreError> {
        let place = self.locks.lock(key.clone()).await;
        let file = FileLock::acquire(self.location.key_lock(&key)).await;
        let file = file.map_err(|error| self.location.error("lock a key of", error))?;
        Ok(Box::new(FileGuard { _file: file, _place: place }))
    }
}

impl CredentialStore for FileStore {
    fn read(&self, key: &str) -> BoxFuture<'static, Result<Option<Secret>, StoreError>> {
        let (location, limit, key) = (Arc::clone(&self.location), self.size_limit, key.to_owned());
        async move {
            let reader = Arc::clone(&location);
            let document =
                blocking(move || reader.open_folder().and_then(|folder| reader.read(&folder, limit)));
            let document =
                document.await.and_then(|read| read).map_err(|error| location.error("read", error))?;
            Ok(document.into_entry(&key))
        }
        .boxed()
    }

    fn write(&self, key: &str, entry: Option<Secret>) -> BoxFuture<'static, Result<(), StoreError>> {
        self.clone().replace(key.to_owned(), entry).boxed()
    }

    fn lock(&self, key: &str) -> BoxFuture<'static, Result<Box<dyn StoreGuard>, StoreError>> {
        self.clone().acquire(key.to_owned()).boxed()
    }
}

impl Location {
    fn new(path: PathBuf) -> Result<Self, StoreError> {
        let Some(name) = path.file_name().map(ToOwned::to_owned) else {
            return Err(StoreError::new(format!("cannot open {}", path.display()), "the path names no file"));
        };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        Ok(Self { path, folder, name })
    }

    /// Opens the folder, again for each operation: a person may remove it while the program runs.
    fn open_folder(&self) -> io::Result<PrivateDir> {
        PrivateDir::create(&self.folder, Privacy::OwnerOnly)
    }

    fn read(&self, folder: &PrivateDir, limit: u64) -> io::Result<Document> {
        match folder.read(&self.name, limit)? {
            Some(text) => Document::decode(&text),
            None => Ok(Document::default()),
        }
    }

    fn replace(&self, key: String, entry: Option<Secret>, limit: u64) -> io::Result<()> {
        let folder = self.open_folder()?;
        let mut document = self.read(&folder, limit)?;
        if !document.set(key, entry) {
            return Ok(());
        }
        let text = document.encode()?;
        if text.len() as u64 > limit {
            return Err(io::Error::other(format!("it would be longer than the limit of {limit} bytes")));
        }
        folder.replace(&self.name, &text)
    }

    fn write_lock(&self) -> lock::Place {
        lock::Place { folder: self.folder.clone(), name: self.sibling(".lock") }
    }

    fn key_lock(&self, key: &str) -> lock::Place {
        let folder = self.folder.join(self.sibling(".locks"));
        let digest = ring::digest::digest(&ring::digest::SHA256, key.as_bytes());
        let name: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        lock::Place { folder, name: name.into() }
    }

    fn sibling(&self, suffix: &str) -> OsString {
        let mut name = self.name.clone();
        name.push(suffix);
        name
    }

    fn error(&self, verb: &str, cause: io::Error) -> StoreError {
        StoreError::new(format!("cannot {verb} {}", self.path.display()), cause)
    }
}

/// Holds a key. The lock file is released before the next task of this process tries it.
struct FileGuard {
    _file: FileLock,
    _place: KeyGuard,
}

impl StoreGuard for FileGuard {}
