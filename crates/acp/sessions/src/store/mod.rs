//! The interface of a store of sessions, and its implementations.

mod claim;
mod error;
#[cfg(feature = "file")]
mod file;
mod header;
mod memory;
mod timestamp;

use std::fmt;

use agentwire_acp_schema::v1::SessionId;
use agentwire_jsonrpc::RawJson;
use futures_util::future::{self, BoxFuture};
use futures_util::stream::BoxStream;

pub use self::claim::{Claim, Claims};
pub use self::error::{StoreError, StoreWarning};
#[cfg(feature = "file")]
pub use self::file::{Damage, FileStore, Fsync, Repair, SessionCheck};
pub(crate) use self::header::first_words;
pub use self::header::{ListQuery, Position, SessionHeader};
pub use self::memory::{DEFAULT_MEMORY_LIMIT, MemoryStore};
pub use self::timestamp::Timestamp;

/// Stores sessions: for each a [header](SessionHeader), which can be replaced, and a journal of JSON records, which only
/// grows.
///
/// A store does not interpret the records. [`MemoryStore`] keeps them until the process ends, `FileStore` (feature `file`)
/// in a directory. A database can be another implementation.
///
/// # Requirements on an implementation
///
/// - When [`append`](Self::append) has returned `Ok`, the records are stored after all earlier ones, as durably as the store
///   is configured. When it returns an error, none of them is read later, unless the store could not undo its write. After
///   a crash during the call, the first of them may be read.
/// - [`read`](Self::read) returns exactly the records that were appended, byte by byte and in order, or an error for those
///   that it cannot return.
/// - A future that is dropped before it completes leaves the store valid. Whether its work is done is unspecified.
///
/// Calls may run concurrently, even for one session. The records of one `append` stay together. The order of two concurrent
/// `append`s is unspecified; a caller that needs an order awaits the first.
///
/// The futures are `Send`, so that one store can serve connections on many threads.
pub trait SessionStore: Send + Sync {
    /// Adds a session without records.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] where there is one with this id; [`StoreError::Id`] where the store does not support the id;
    /// others of the implementation.
    fn create<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Appends records to a session's journal.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where there is no such session; [`StoreError::Corrupt`] where its journal is damaged; others of
    /// the implementation.
    fn append<'a>(
        &'a self,
        session_id: &'a SessionId,
        records: &'a [RawJson],
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Makes the appended records durable, at the end of a turn or of another group of appends. A store can close its files
    /// then. The default does nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where there is no such session; others of the implementation, when the appends may not be
    /// durable.
    fn sync<'a>(&'a self, _session_id: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(future::ready(Ok(())))
    }

    /// Reads a session: its header and all its current records. Returns `None` if there is no such session.
    ///
    /// # Errors
    ///
    /// Those of the implementation. An error about a single record is the last item of the stream of records.
    fn read<'a>(
        &'a self,
        session_id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>>;

    /// Returns the headers of the sessions that match a query, in the order of [`ListQuery`]. Reads no journals.
    ///
    /// # Errors
    ///
    /// Those of the implementation.
    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, Result<Vec<SessionHeader>, StoreError>>;

    /// Replaces the header of the session that it names.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where there is no such session; others of the implementation, when the header is unchanged.
    fn update_header<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Deletes a session and all its records. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// Those of the implementation.
    fn delete<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Claims a session for exclusive use until the claim is dropped. The session need not exist. A connection claims a session
    /// that it opens, creates or deletes, so only one connection at a time has a session open. Calls of the other methods
    /// need no claim. [`Claims`] implements this within a process.
    ///
    /// By default a claim has no effect: the records of a session that is open on two connections are mixed.
    ///
    /// # Errors
    ///
    /// [`StoreError::InUse`] where the session is claimed already; others of the implementation.
    fn claim<'a>(&'a self, _session_id: &'a SessionId) -> BoxFuture<'a, Result<Claim, StoreError>> {
        Box::pin(future::ready(Ok(Claim::default())))
    }

    /// Returns the warnings since the last call. None by default.
    fn take_warnings(&self) -> Vec<StoreWarning> {
        Vec::new()
    }
}

/// A session that a [`SessionStore`] has read.
///
/// ```
/// use agentwire_acp_sessions::schema::{SessionId, SessionUpdate};
/// use agentwire_acp_sessions::{SessionStore, StoreError};
/// use futures_util::TryStreamExt;
///
/// async fn count_calls(store: &dyn SessionStore, id: &SessionId) -> Result<usize, StoreError> {
///     let Some(mut session) = store.read(id).await? else { return Ok(0) };
///     let mut calls = 0;
///     while let Some(record) = session.records.try_next().await? {
///         calls += usize::from(matches!(record.decode(), Ok(SessionUpdate::ToolCall(_))));
///     }
///     Ok(calls)
/// }
/// ```
#[non_exhaustive]
pub struct StoredSession {
    /// The current header.
    pub header: SessionHeader,
    /// The records, oldest first. An error is the last item: the records after it cannot be read.
    pub records: BoxStream<'static, Result<RawJson, StoreError>>,
}

impl StoredSession {
    /// Returns a session with a header and records.
    pub fn new(header: SessionHeader, records: BoxStream<'static, Result<RawJson, StoreError>>) -> Self {
        Self { header, records }
    }
}

impl fmt::Debug for StoredSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredSession").field("header", &self.header).finish_non_exhaustive()
    }
}
