//! Sessions in a directory.

mod aside;
mod catalogue;
mod check;
mod directory;
#[cfg(unix)]
mod disk;
mod header;
mod journal;
mod locks;
mod name;
#[cfg(not(unix))]
mod other_disk;
mod record;
mod session;
mod system;
#[cfg(test)]
mod tests;

use std::fmt;
use std::panic;
use std::path::Path;
use std::sync::Arc;

use agentwire_acp_schema::v1::SessionId;
use agentwire_jsonrpc::RawJson;
use agentwire_sync::Mutex;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt as _};
use tokio::runtime::Handle;
use tokio::sync::OwnedMutexGuard;

use self::catalogue::Catalogue;
pub use self::check::{Damage, Repair, SessionCheck};
use self::directory::{Directory, failed};
use self::header::Unread;
use self::journal::{Place, Reader};
use self::locks::{Held, Locks};
use self::name::Kind;
use self::session::{Files, Warnings};
use super::{Claim, ListQuery, SessionHeader, SessionStore, StoreError, StoreWarning, StoredSession};

/// When a [`FileStore`] has the disk hold what was written, and not only the operating system.
///
/// Whatever this is, what was appended survives the end of the process, however it ends. This is about the end of the
/// machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fsync {
    /// When the operating system finds it convenient. A power cut may cost the last seconds.
    Never,
    /// When sessions are created and deleted, and at the end of each turn, where [`SessionStore::sync`] is called. A
    /// power cut may cost what was said in a turn that had not ended.
    #[default]
    EveryTurn,
    /// With every append. A power cut costs nothing; an update waits for the disk before it is sent.
    Always,
}

/// Keeps sessions in a directory, so that they outlive the process.
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
/// Each session has a journal, to which records are only ever added, and a small file with its header, which is replaced
/// as a whole. Both are lines of text, each with its length and a checksum. Lists read headers only, and only those that were
/// changed since the last list; journals are read for [`read`](SessionStore::read), and once before the first append to a
/// session that was there before.
///
/// # Several processes
///
/// Any number of stores may be open on one directory, in this process or others. A session belongs to one of them at a time:
/// whoever claims a session locks it until the claim is dropped, and a store that creates, appends to or changes a session
/// without a claim locks it until the store is dropped. What the others do to it then fails with [`StoreError::InUse`], but
/// for listing and reading. A lock ends with its process, however that ends, so it is never stale. It is as good as the file
/// system: over a network it may be none. Each session that is locked costs a file descriptor.
///
/// # What can go wrong
///
/// - *A write is cut off*, by the end of the process or the machine. After each sync the header's file says how much of the
///   journal the disk holds. Damage behind that is what is left of writes that were never durable: it is dropped, and told
///   as [`StoreWarning::TornTail`]. Whole lines that are dropped are moved to a file of their own.
/// - *A journal is damaged* in what the disk held: a record is not as it was written, or missing, or the file is empty.
///   Reading gives the records in front of it, then [`StoreError::Corrupt`] with the file and the place; nothing can be
///   appended, and nothing is changed. The session can still be listed and deleted, and [`repair`](Self::repair) makes it
///   usable again.
/// - *A header is damaged or missing*. It is restored from where the journal begins, as
///   [`StoreWarning::HeaderRestored`].
/// - *The disk is full*, or another write fails. What was written of it is taken back, so that the next append may
///   succeed. Where it cannot be taken back, and where a sync has failed, nothing more is appended to that session until
///   it is claimed anew: [`StoreError::Stopped`].
/// - *A limit on the size of files* (`RLIMIT_FSIZE`) is reached. The system then sends `SIGXFSZ`, which ends a process that
///   neither handles nor ignores it. A program that does either gets a failed write instead, as above.
/// - *Others can write to the directory*. It is refused as [`StoreError::NotPrivate`], on Unix, if it belongs to another
///   user, or its group or others may write to it. So are files of that kind, links, and what is no regular file.
///
/// Directories are created with mode 0700 and files with 0600, on Unix. An id of a session may be any text of up to 100
/// bytes; [`StoreError::Id`] refuses longer ones. No id leads out of the directory.
///
/// # Blocking
///
/// Appending up to 64 KiB without a sync writes right where it is polled: that is a copy into the operating system's
/// memory, which takes less time than to ask another thread for it. All else, namely syncing, reading, listing, creating,
/// deleting, claiming and large appends, happens on tokio's threads for blocking work. Outside of a tokio runtime it happens
/// where it is polled. Claiming waits for up to 0.2 s for a session that another store has.
pub struct FileStore {
    shared: Arc<Shared>,
    fsync: Fsync,
}

struct Shared {
    directory: Arc<Directory>,
    locks: Arc<Locks>,
    catalogue: Mutex<Catalogue>,
    warnings: Warnings,
}

/// How many bytes are appended without asking another thread.
const INLINE: usize = 64 << 10;

impl FileStore {
    /// Opens the sessions in a directory, which is created where there is none. Where it is relative, it is so to the
    /// current directory at this moment.
    ///
    /// Reads the headers of all sessions, and blocks for as long as that takes: about a tenth of a second for some
    /// thousands.
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
        let shared = Shared { directory, locks, catalogue, warnings };
        shared.headers()?;
        Ok(Self { shared: Arc::new(shared), fsync: Fsync::default() })
    }

    /// Examines all sessions in a directory, and changes nothing. What only waits to be tidied up when the session is next
    /// opened is no damage. Sessions may be open meanwhile.
    ///
    /// Reads all journals, and blocks for as long as that takes.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open), and where there is no such directory.
    pub fn check(directory: impl AsRef<Path>) -> Result<Vec<SessionCheck>, StoreError> {
        check::check(&Arc::new(Directory::open(directory.as_ref())?))
    }

    /// Makes the damaged sessions in a directory usable again: of each it keeps the records in front of the damage, and moves
    /// the rest to files of their own. Nothing is removed but with its session. Says what was damaged, and what was done
    /// ([`Damage::repair`]); sessions that are open are left alone.
    ///
    /// Reads all journals, and blocks for as long as that takes.
    ///
    /// # Errors
    ///
    /// As for [`check`](Self::check).
    pub fn repair(directory: impl AsRef<Path>) -> Result<Vec<SessionCheck>, StoreError> {
        check::repair(&Arc::new(Directory::open(directory.as_ref())?))
    }

    /// Sets when the disk is to hold what was written: [`Fsync::EveryTurn`] by default.
    #[must_use]
    pub fn fsync(mut self, fsync: Fsync) -> Self {
        self.fsync = fsync;
        self
    }

    /// The directory, as an absolute path.
    pub fn directory(&self) -> &Path {
        self.shared.directory.path()
    }

    /// A session's files, which are locked and for us alone.
    async fn lock(&self, session_id: &SessionId) -> Result<(Held, OwnedMutexGuard<Files>), StoreError> {
        let held = match self.shared.locks.held(session_id) {
            Some(held) => held,
            None => {
                let (shared, session_id) = (Arc::clone(&self.shared), session_id.clone());
                blocking(move || shared.locks.lock(&session_id)).await?
            }
        };
        let files = Arc::clone(&held.files).lock_owned().await;
        Ok((held, files))
    }

    /// The same, for a session that there must be.
    async fn find(&self, session_id: &SessionId) -> Result<(Held, OwnedMutexGuard<Files>), StoreError> {
        self.lock(session_id).await.map_err(|error| match error {
            StoreError::Id { session_id, .. } => StoreError::not_found(&session_id),
            error => error,
        })
    }
}

impl Shared {
    /// The headers of all sessions that there are now.
    fn headers(&self) -> Result<Vec<Arc<SessionHeader>>, StoreError> {
        self.catalogue.lock().read(&self.directory, &self.locks, &self.warnings)
    }

    /// Reads a session that this store has not locked.
    fn read(&self, session_id: &SessionId) -> Result<Option<StoredSession>, StoreError> {
        let Ok(stem) = name::stem(session_id) else { return Ok(None) };
        let header_failed = |source| failed("read", &self.directory.file(&stem, Kind::Header))(source);
        let (header, synced) = match header::read(&self.directory, &stem) {
            Ok(stored) => (stored.header, stored.synced.unwrap_or(0)),
            Err(Unread::Bad(_)) => match header::read_beginning(&self.directory, &stem) {
                Ok(header) => (header, 0),
                Err(Unread::Failed(source)) => return Err(header_failed(source)),
                Err(_) => return Ok(None),
            },
            Err(Unread::Failed(source)) => return Err(header_failed(source)),
            Err(Unread::Missing | Unread::Closed(_)) => return Ok(None),
        };
        let place = Place { directory: Arc::clone(&self.directory), session_id: session_id.clone(), stem };
        let records = match Reader::beside_others(place, synced)? {
            Some(reader) => records(reader),
            None => stream::empty().boxed(),
        };
        Ok(Some(StoredSession::new(header, records)))
    }

    fn exists(&self, session_id: &SessionId) -> Result<bool, StoreError> {
        let Ok(stem) = name::stem(session_id) else { return Ok(false) };
        Ok(self.directory.version(&stem, Kind::Header)?.is_some())
    }
}

impl SessionStore for FileStore {
    fn create<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let (held, mut files) = self.lock(&header.session_id).await?;
            let (shared, header, durable) =
                (Arc::clone(&self.shared), header.clone(), self.fsync != Fsync::Never);
            blocking(move || {
                files.create(&header, durable, &shared.warnings)?;
                held.keep();
                Ok(())
            })
            .await
        })
    }

    fn append<'a>(
        &'a self,
        session_id: &'a SessionId,
        records: &'a [RawJson],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let (held, mut files) = self.find(session_id).await?;
            let durable = self.fsync == Fsync::Always;
            let bytes: usize = records.iter().map(RawJson::len).sum();
            if !durable
                && bytes <= INLINE
                && let Some(session) = files.known()
            {
                return session.append(records, durable, &self.shared.warnings);
            }
            let (shared, records) = (Arc::clone(&self.shared), records.to_vec());
            blocking(move || {
                let session = files.find(&shared.warnings)?;
                held.keep();
                session.append(&records, durable, &shared.warnings)
            })
            .await
        })
    }

    fn sync<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let durable = self.fsync != Fsync::Never;
            let Some(held) = self.shared.locks.held(session_id) else {
                // Nothing of it was written here.
                let (shared, session_id) = (Arc::clone(&self.shared), session_id.clone());
                return blocking(move || match shared.exists(&session_id)? {
                    true => Ok(()),
                    false => Err(StoreError::not_found(&session_id)),
                })
                .await;
            };
            let mut files = Arc::clone(&held.files).lock_owned().await;
            if let Some(session) = files.known()
                && !(durable && session.is_unsynced())
            {
                return session.sync(false, &self.shared.warnings);
            }
            let shared = Arc::clone(&self.shared);
            blocking(move || {
                let _held = held;
                files.find(&shared.warnings)?.sync(durable, &shared.warnings)
            })
            .await
        })
    }

    fn read<'a>(
        &'a self,
        session_id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(async move {
            let (shared, session_id) = (Arc::clone(&self.shared), session_id.clone());
            let Some(held) = self.shared.locks.held(&session_id) else {
                return blocking(move || shared.read(&session_id)).await;
            };
            let mut files = Arc::clone(&held.files).lock_owned().await;
            blocking(move || {
                let _held = held;
                let Some(session) = files.load(&shared.warnings)? else { return Ok(None) };
                let reader = session.reader(&shared.warnings)?;
                Ok(Some(StoredSession::new(session.header.clone(), records(reader))))
            })
            .await
        })
    }

    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, Result<Vec<SessionHeader>, StoreError>> {
        Box::pin(async move {
            let shared = Arc::clone(&self.shared);
            let headers = blocking(move || shared.headers()).await?;
            Ok(query.select(headers.iter().map(|header| &**header)))
        })
    }

    fn update_header<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let (held, mut files) = self.find(&header.session_id).await?;
            let (shared, header, fsync) = (Arc::clone(&self.shared), header.clone(), self.fsync);
            blocking(move || {
                let session = files.find(&shared.warnings)?;
                held.keep();
                session.update_header(header, fsync)
            })
            .await
        })
    }

    fn delete<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let (held, mut files) = match self.lock(session_id).await {
                Err(StoreError::Id { .. }) => return Ok(false),
                locked => locked?,
            };
            let (shared, durable) = (Arc::clone(&self.shared), self.fsync != Fsync::Never);
            blocking(move || {
                let deleted = files.delete(durable, &shared.warnings);
                held.release();
                deleted
            })
            .await
        })
    }

    fn claim<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<Claim, StoreError>> {
        Box::pin(async move {
            let (shared, session_id) = (Arc::clone(&self.shared), session_id.clone());
            blocking(move || match shared.locks.claim(&session_id) {
                // There is no such session, and there cannot be one.
                Err(StoreError::Id { .. }) => Ok(Claim::default()),
                claimed => claimed,
            })
            .await
        })
    }

    fn take_warnings(&self) -> Vec<StoreWarning> {
        std::mem::take(&mut *self.shared.warnings.lock())
    }
}

/// Says which directory, not what is in it.
impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let directory = self.directory();
        f.debug_struct("FileStore")
            .field("directory", &directory)
            .field("fsync", &self.fsync)
            .finish_non_exhaustive()
    }
}

/// What a reader reads, some records at a time.
fn records(reader: Reader) -> BoxStream<'static, Result<RawJson, StoreError>> {
    let pieces = stream::unfold(Some(reader), async |reader| {
        let mut reader = reader?;
        let read = blocking(move || {
            let records = reader.some();
            let more = records.last().is_some_and(Result::is_ok);
            Ok((records, more.then_some(reader)))
        });
        Some(read.await.unwrap_or_else(|error| (vec![Err(error)], None)))
    });
    pieces.flat_map(stream::iter).boxed()
}

/// Does what blocks on a thread that may be blocked, where there is a runtime that has some. It is done to its end also
/// when the future is dropped.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let Ok(runtime) = Handle::try_current() else { return work() };
    match runtime.spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => panic::resume_unwind(panic),
            Err(_) => Err(StoreError::other("the runtime has shut down")),
        },
    }
}
