//! A store in a directory, with the files of each session.

mod aside;
mod blocking;
mod catalogue;
mod check;
mod directory;
mod header;
mod journal;
mod location;
mod locks;
mod name;
mod operations;
mod reader;
mod scan;
mod session;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use agentwire_acp_schema::v1::SessionId;
use agentwire_sync::Mutex;
use agentwire_wire_derive::Build;
use futures_util::stream::{self, StreamExt as _};
use tokio::sync::OwnedMutexGuard;

use self::blocking::{blocking, records};
use self::catalogue::Catalogue;
pub use self::check::{Damage, Repair, SessionCheck};
use self::directory::{Directory, failed};
use self::header::HeaderError;
use self::location::Location;
use self::locks::{LockHandle, Locks};
use self::name::FileKind;
use self::reader::Reader;
pub use self::session::Fsync;
use self::session::{Files, Warnings};
use super::{SessionHeader, StoreError, StoredSession};

/// Stores sessions in a directory, so that they outlive the process.
///
/// ```
/// use agentwire_acp_sessions::{FileStore, Fsync};
///
/// # let directory = std::env::temp_dir().join(format!("agentwire-doc-{}", std::process::id()));
/// let store = FileStore::open(&directory)?.fsync(Fsync::Always);
/// # drop(store);
/// # let _ = std::fs::remove_dir_all(directory);
/// # Ok::<(), agentwire_acp_sessions::StoreError>(())
/// ```
///
/// Each session has a journal, which only grows, and a small file with its header, which is replaced as a whole. Both consist
/// of lines of text, each with its length and a checksum. A list reads only the headers that have changed since the last
/// list. A journal is read for [`SessionStore::read`](crate::SessionStore::read), and once before the first append to a
/// session that existed before.
///
/// # Several processes
///
/// Any number of stores may be open on one directory, in this process or others. A session belongs to one of them at a time:
/// a claim locks it until the claim is dropped, and a store that creates, appends to or changes a session without a claim
/// locks it until the store is dropped. The other stores can list and read the session; other operations fail with
/// [`StoreError::InUse`]. A lock ends with its process, however that ends, so it is never stale. Locks depend on the file
/// system, and may not work over a network. Each locked session costs a file descriptor.
///
/// # What can go wrong
///
/// - *A write is cut off*, by the end of the process or a crash of the machine. After each sync the header's file records how
///   much of the journal is durable. Damage behind that is the rest of writes that were never durable: it is dropped, and
///   reported as [`StoreWarning::TornTail`](crate::StoreWarning::TornTail). Whole lines among it are moved to a file of their
///   own.
/// - *A journal is damaged* in its durable part: a record is changed or missing, or the file is empty. Reading gives the
///   records before the damage, then [`StoreError::Corrupt`] with the file and the offset. Appends are refused, and nothing
///   is changed. The session can still be listed and deleted, and [`repair`](Self::repair) makes it usable again.
/// - *A header is damaged or missing*. It is restored from the first line of the journal, and reported as
///   [`StoreWarning::HeaderRestored`](crate::StoreWarning::HeaderRestored).
/// - *The disk is full*, or another write fails. The part that was written is removed, so the next append may succeed. Where
///   it cannot be removed, and after a failed sync, nothing more is appended to that session until it is claimed again:
///   [`StoreError::Stopped`].
/// - *A limit on the size of files* (`RLIMIT_FSIZE`) is reached. The system then sends `SIGXFSZ`, which ends a process that
///   neither handles nor ignores it. A program that does either gets a failed write instead, as above.
/// - *Others can write to the directory*. On Unix a directory that belongs to another user, or that its group or others may
///   write to, is refused with [`StoreError::NotPrivate`]. So are such files, links, and files that are not regular.
///
/// On Unix directories are created with mode 0700 and files with 0600. An id of a session may be any text of up to 100 bytes;
/// longer ones are refused with [`StoreError::Id`]. No id leads out of the directory.
///
/// # Blocking
///
/// An append of up to 64 KiB without a sync writes where it is polled: it copies into the operating system's memory, which
/// takes less time than a switch to another thread. All else (sync, read, list, create, delete, claim and large appends)
/// runs on tokio's threads for blocking work, or where it is polled outside of a tokio runtime. A claim waits up to 0.2 s for
/// a session that another store has locked.
///
/// # Examples
///
/// ```
/// use agentwire_acp_sessions::schema::StopReason;
/// use agentwire_acp_sessions::{BoxError, FileStore, Fsync, Turn, agent};
///
/// # fn main() -> Result<(), BoxError> {
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path().join("sessions");
/// let store = FileStore::open(directory)?.fsync(Fsync::Always); // outlives a power cut
/// let agent = agent(async |_: Turn| Ok(StopReason::EndTurn)).store(store);
/// # Ok(())
/// # }
/// ```
#[derive(Build)]
pub struct FileStore {
    shared: Arc<StoreInner>,
    /// Sets when writes are made durable (default: [`Fsync::EveryTurn`]).
    fsync: Fsync,
}

struct StoreInner {
    directory: Arc<Directory>,
    locks: Arc<Locks>,
    catalogue: Mutex<Catalogue>,
    warnings: Warnings,
}

impl FileStore {
    /// Opens the sessions in a directory, which is created if it is missing. A relative path is resolved now, against the
    /// current directory.
    ///
    /// Blocks while it reads the headers of all sessions: about 0.1 s for some thousands.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotPrivate`] where others may write to the directory; [`StoreError::Io`] where the operating system
    /// refuses.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::with(Directory::create(directory.as_ref())?)
    }

    fn with(directory: Directory) -> Result<Self, StoreError> {
        let directory = Arc::new(directory);
        let locks = Locks::new(Arc::clone(&directory));
        let (catalogue, warnings) = <(Mutex<Catalogue>, Warnings)>::default();
        let shared = StoreInner { directory, locks, catalogue, warnings };
        shared.headers()?;
        Ok(Self { shared: Arc::new(shared), fsync: Fsync::default() })
    }

    /// Checks all sessions in a directory, and changes nothing. Parts that the next opening of a session cleans up are not
    /// damage. Sessions may be open at the same time.
    ///
    /// Blocks while it reads all journals.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open), and where there is no such directory.
    pub fn check(directory: impl AsRef<Path>) -> Result<Vec<SessionCheck>, StoreError> {
        check::check(&Arc::new(Directory::open(directory.as_ref())?))
    }

    /// Makes the damaged sessions in a directory usable again. Each keeps the records before the damage; the rest is moved to
    /// files of their own, which are deleted only with the session. Returns what was damaged and what was done
    /// ([`Damage::repair`]). Sessions that are open are left alone.
    ///
    /// Blocks while it reads all journals.
    ///
    /// # Errors
    ///
    /// As for [`check`](Self::check).
    pub fn repair(directory: impl AsRef<Path>) -> Result<Vec<SessionCheck>, StoreError> {
        check::repair(&Arc::new(Directory::open(directory.as_ref())?))
    }

    /// Returns the directory, as an absolute path.
    pub fn directory(&self) -> &Path {
        self.shared.directory.path()
    }

    /// Locks a session, and returns its files for exclusive use.
    async fn lock(&self, session_id: &SessionId) -> Result<(LockHandle, OwnedMutexGuard<Files>), StoreError> {
        let handle = match self.shared.locks.get(session_id) {
            Some(handle) => handle,
            None => {
                let (shared, session_id) = (Arc::clone(&self.shared), session_id.clone());
                blocking(move || shared.locks.lock(&session_id)).await?
            }
        };
        let files = Arc::clone(&handle.files).lock_owned().await;
        Ok((handle, files))
    }

    /// As [`lock`](Self::lock). Fails with [`StoreError::NotFound`] if the store does not support the id.
    async fn find(&self, session_id: &SessionId) -> Result<(LockHandle, OwnedMutexGuard<Files>), StoreError> {
        self.lock(session_id).await.map_err(|error| match error {
            StoreError::Id { session_id, .. } => StoreError::not_found(&session_id),
            error => error,
        })
    }
}

impl StoreInner {
    /// Returns the current headers of all sessions.
    fn headers(&self) -> Result<Vec<Arc<SessionHeader>>, StoreError> {
        self.catalogue.lock().read(&self.directory, &self.locks, &self.warnings)
    }

    /// Reads a session that this store has not locked.
    fn read(&self, session_id: &SessionId) -> Result<Option<StoredSession>, StoreError> {
        let Ok(stem) = name::stem(session_id) else { return Ok(None) };
        let header_failed = |source| failed("read", &self.directory.file(&stem, FileKind::Header))(source);
        let (header, synced) = match header::read(&self.directory, &stem) {
            Ok(file) => (file.header, file.synced.unwrap_or(0)),
            Err(HeaderError::Invalid(_)) => match header::read_first(&self.directory, &stem) {
                Ok(header) => (header, 0),
                Err(HeaderError::Io(source)) => return Err(header_failed(source)),
                Err(_) => return Ok(None),
            },
            Err(HeaderError::Io(source)) => return Err(header_failed(source)),
            Err(HeaderError::Missing | HeaderError::Unsupported(_)) => return Ok(None),
        };
        let (directory, session_id) = (Arc::clone(&self.directory), session_id.clone());
        let location = Location { directory, session_id, stem };
        let records = match Reader::concurrent(location, synced)? {
            Some(reader) => records(reader),
            None => stream::empty().boxed(),
        };
        Ok(Some(StoredSession::new(header, records)))
    }

    fn exists(&self, session_id: &SessionId) -> Result<bool, StoreError> {
        let Ok(stem) = name::stem(session_id) else { return Ok(false) };
        Ok(self.directory.version(&stem, FileKind::Header)?.is_some())
    }
}

/// Shows the directory, and not the sessions in it.
impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let directory = self.directory();
        f.debug_struct("FileStore")
            .field("directory", &directory)
            .field("fsync", &self.fsync)
            .finish_non_exhaustive()
    }
}
