//! Sessions in a directory.

mod directory;
mod header;
mod journal;
mod name;
mod record;

use std::collections::HashMap;
use std::fmt;
use std::panic;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentwire_acp_schema::v1::SessionId;
use agentwire_jsonrpc::RawJson;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt as _};
use tokio::runtime::Handle;
use tokio::sync::OwnedMutexGuard;

use self::directory::Directory;
use self::journal::{Journal, Reader};
use self::name::Kind;
use super::{Claim, Claims, ListQuery, SessionHeader, SessionStore, StoreError, StoreWarning, StoredSession};

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
/// as a whole. Both are lines of text, each with its length and a checksum. Opening reads the headers of all sessions,
/// and from then on they are in memory; journals are read only for [`read`](SessionStore::read), and once before the
/// first append to a session that was there before.
///
/// # What can go wrong
///
/// - *A write is cut off*, by the end of the process or the machine. What there is of the last record is dropped and
///   told as [`StoreWarning::TornTail`]; its append had not returned. That holds for a cut at any byte.
/// - *A journal is damaged*: a record is not as it was written, or missing. Reading gives the records in front of it,
///   then [`StoreError::Corrupt`] with the file and the place; nothing can be appended, and nothing is changed. The session can still
///   be listed and deleted. To go on with what there is in front of the damage, cut the file off at the byte that the
///   error names, while no store has the directory. What no store can see is that whole records are missing at the end.
/// - *A header is damaged or missing*. It is restored from where the journal begins, as
///   [`StoreWarning::HeaderRestored`].
/// - *The disk is full*, or another write fails. What was written of it is taken back, so that the next append may
///   succeed. Where it cannot be taken back, and where a sync has failed, nothing more is appended to that session:
///   [`StoreError::Stopped`].
/// - *Two stores on one directory*. The second gets [`StoreError::Locked`] at once, in the same process, too. The lock
///   ends with the store or its process, however that ends, so it is never stale. It is as good as the file system:
///   over a network it may be none.
///
/// Directories are created with mode 0700 and files with 0600, on Unix. An id of a session may be any text of up to 100
/// bytes; [`StoreError::Id`] refuses longer ones. No id leads out of the directory.
///
/// # Blocking
///
/// Appending up to 64 KiB without a sync writes right where it is polled: that is a copy into the operating system's
/// memory, which takes less time than to ask another thread for it. All else, namely syncing, reading, creating, deleting
/// and large appends, happens on tokio's threads for blocking work. Outside of a tokio runtime it happens where it is
/// polled.
pub struct FileStore {
    shared: Arc<Shared>,
    fsync: Fsync,
}

struct Shared {
    directory: Directory,
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
    claims: Claims,
    /// Held by whoever creates a session, so that of two that create the same one is told that it exists.
    creating: Mutex<()>,
    warnings: Mutex<Vec<StoreWarning>>,
}

struct Session {
    session_id: SessionId,
    stem: String,
    /// Replaced with the files of the session locked.
    header: Mutex<Arc<SessionHeader>>,
    files: Arc<tokio::sync::Mutex<Files>>,
}

/// The files of a session. Whoever has them locked is alone with them.
struct Files {
    journal: Journal,
    /// Whether a header was replaced since the directory was last synced.
    directory_unsynced: bool,
    /// Whether the session was deleted while somebody waited for its files.
    deleted: bool,
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
    /// [`StoreError::Locked`] where another store has the directory; [`StoreError::Io`] where the operating system
    /// refuses.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, StoreError> {
        let directory = Directory::open(directory.as_ref())?;
        let mut warnings = Vec::new();
        let headers = header::read_all(&directory, &mut warnings)?;
        let session = |(stem, header): (String, SessionHeader)| {
            let journal = Journal::existing(header.session_id.clone(), directory.file(&stem, Kind::Journal));
            (header.session_id.clone(), Session::new(stem, header, journal))
        };
        let sessions = Mutex::new(headers.into_iter().map(session).collect());
        let shared = Shared {
            directory,
            sessions,
            claims: Claims::new(),
            creating: Mutex::default(),
            warnings: Mutex::new(warnings),
        };
        Ok(Self { shared: Arc::new(shared), fsync: Fsync::default() })
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

    /// A session, and its files for us alone.
    async fn lock(&self, session_id: &SessionId) -> Option<(Arc<Session>, OwnedMutexGuard<Files>)> {
        let session = Arc::clone(locked(&self.shared.sessions).get(session_id)?);
        let files = Arc::clone(&session.files).lock_owned().await;
        (!files.deleted).then_some((session, files))
    }

    /// The same, for those to whom it is an error that there is no such session.
    async fn find(
        &self,
        session_id: &SessionId,
    ) -> Result<(Arc<Session>, OwnedMutexGuard<Files>), StoreError> {
        self.lock(session_id).await.ok_or_else(|| StoreError::not_found(session_id))
    }
}

impl Session {
    fn new(stem: String, header: SessionHeader, journal: Journal) -> Arc<Self> {
        let files = Files { journal, directory_unsynced: false, deleted: false };
        let files = Arc::new(tokio::sync::Mutex::new(files));
        let session_id = header.session_id.clone();
        Arc::new(Self { session_id, stem, header: Mutex::new(Arc::new(header)), files })
    }
}

impl Shared {
    fn create(&self, header: &SessionHeader, durable: bool) -> Result<(), StoreError> {
        let stem = name::stem(&header.session_id)?;
        let creating = locked(&self.creating);
        if locked(&self.sessions).contains_key(&header.session_id) {
            return Err(StoreError::exists(&header.session_id));
        }
        let path = self.directory.file(&stem, Kind::Journal);
        // In this order, so that what is cut off here is known to be the beginning of a session and not its rest.
        header::prepare(&self.directory, &stem, header, durable)?;
        let journal = Journal::create(header, path.clone(), durable).inspect_err(|_| {
            let _ = directory::remove(&self.directory.file(&stem, Kind::NewHeader));
        })?;
        header::put(&self.directory, &stem).inspect_err(|_| {
            let _ = directory::remove(&path);
        })?;
        let session = Session::new(stem, header.clone(), journal);
        locked(&self.sessions).insert(header.session_id.clone(), session);
        drop(creating);
        if durable { self.directory.sync() } else { Ok(()) }
    }

    fn find_end(&self, session: &Session, files: &mut Files) -> Result<(), StoreError> {
        let header = Arc::clone(&locked(&session.header));
        files.journal.find_end(&header, |warning| locked(&self.warnings).push(warning))
    }

    fn update_header(
        &self,
        session: &Session,
        files: &mut Files,
        header: SessionHeader,
        fsync: Fsync,
    ) -> Result<(), StoreError> {
        if **locked(&session.header) == header {
            return Ok(());
        }
        header::prepare(&self.directory, &session.stem, &header, fsync != Fsync::Never)?;
        header::put(&self.directory, &session.stem)?;
        *locked(&session.header) = Arc::new(header);
        files.directory_unsynced = true;
        if fsync == Fsync::Always { self.sync_directory(files) } else { Ok(()) }
    }

    fn sync_directory(&self, files: &mut Files) -> Result<(), StoreError> {
        self.directory.sync()?;
        files.directory_unsynced = false;
        Ok(())
    }

    fn delete(&self, session: &Session, files: &mut Files, durable: bool) -> Result<(), StoreError> {
        let file = |kind| self.directory.file(&session.stem, kind);
        // With this the session is gone. What is left to do is done when the store is opened, if not now.
        header::discard(&self.directory, &session.stem)?;
        files.deleted = true;
        let removed =
            directory::remove(&file(Kind::Journal)).and_then(|()| directory::remove(&file(Kind::Deleted)));
        locked(&self.sessions).remove(&session.session_id);
        removed?;
        if durable { self.directory.sync() } else { Ok(()) }
    }
}

impl SessionStore for FileStore {
    fn create<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        let (shared, header, durable) =
            (Arc::clone(&self.shared), header.clone(), self.fsync != Fsync::Never);
        Box::pin(blocking(move || shared.create(&header, durable)))
    }

    fn append<'a>(
        &'a self,
        session_id: &'a SessionId,
        records: &'a [RawJson],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let (session, mut files) = self.find(session_id).await?;
            let durable = self.fsync == Fsync::Always;
            let bytes: usize = records.iter().map(RawJson::len).sum();
            if files.journal.is_known() && !durable && bytes <= INLINE {
                return files.journal.append(records, durable);
            }
            let (shared, records) = (Arc::clone(&self.shared), records.to_vec());
            blocking(move || {
                shared.find_end(&session, &mut files)?;
                files.journal.append(&records, durable)
            })
            .await
        })
    }

    fn sync<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let (_, mut files) = self.find(session_id).await?;
            let durable = self.fsync != Fsync::Never;
            if !durable || !(files.directory_unsynced || files.journal.is_unsynced()) {
                return files.journal.sync(false);
            }
            let shared = Arc::clone(&self.shared);
            blocking(move || {
                files.journal.sync(true)?;
                if files.directory_unsynced { shared.sync_directory(&mut files) } else { Ok(()) }
            })
            .await
        })
    }

    fn read<'a>(
        &'a self,
        session_id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(async move {
            let Some((session, mut files)) = self.lock(session_id).await else { return Ok(None) };
            let shared = Arc::clone(&self.shared);
            blocking(move || {
                shared.find_end(&session, &mut files)?;
                let header = SessionHeader::clone(&locked(&session.header));
                Ok(Some(StoredSession::new(header, records(files.journal.reader()?))))
            })
            .await
        })
    }

    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, Result<Vec<SessionHeader>, StoreError>> {
        Box::pin(async move {
            let header = |session: &Arc<Session>| Arc::clone(&locked(&session.header));
            let headers: Vec<_> = locked(&self.shared.sessions).values().map(header).collect();
            Ok(query.select(headers.iter().map(|header| &**header)))
        })
    }

    fn update_header<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let (session, mut files) = self.find(&header.session_id).await?;
            let (shared, header, fsync) = (Arc::clone(&self.shared), header.clone(), self.fsync);
            blocking(move || shared.update_header(&session, &mut files, header, fsync)).await
        })
    }

    fn delete<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let Some((session, mut files)) = self.lock(session_id).await else { return Ok(false) };
            let (shared, durable) = (Arc::clone(&self.shared), self.fsync != Fsync::Never);
            blocking(move || shared.delete(&session, &mut files, durable).map(|()| true)).await
        })
    }

    fn claim<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<Claim, StoreError>> {
        Box::pin(async move { self.shared.claims.claim(session_id) })
    }

    fn take_warnings(&self) -> Vec<StoreWarning> {
        std::mem::take(&mut *locked(&self.shared.warnings))
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

/// Locks for a moment. A panic elsewhere cannot leave these half changed, so they are used after one, too.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
