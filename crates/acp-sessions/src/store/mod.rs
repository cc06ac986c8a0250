//! Where sessions are kept.

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
use futures::future::{self, BoxFuture};
use futures::stream::BoxStream;

pub use self::claim::{Claim, Claims};
pub use self::error::{StoreError, StoreWarning};
#[cfg(feature = "file")]
pub use self::file::{Damage, FileStore, Fsync, Repair, SessionCheck};
pub use self::header::{ListQuery, Position, SessionHeader};
pub use self::memory::{DEFAULT_MEMORY_LIMIT, MemoryStore};
pub use self::timestamp::Timestamp;

/// Keeps sessions: for each a [header](SessionHeader), which can be replaced, and a journal of JSON records, which
/// only grows.
///
/// A store knows nothing of what the records mean. [`MemoryStore`] forgets them with the process, `FileStore`
/// (feature `file`) keeps them in a directory; a database is another implementation away.
///
/// # What an implementation promises
///
/// - When [`append`](Self::append) has returned `Ok`, the records are kept as durably as the store is configured to,
///   behind all that was appended before them. When it returns an error, none of them is read back later. Where the
///   store was cut off before it returned, or could not take back what it had written, the first of them may be.
/// - [`read`](Self::read) gives exactly the records that were appended, byte by byte and in order, or says what it
///   could not give.
/// - A future that is dropped half-way leaves the store sound; whether its work was done is open.
///
/// Calls may run at the same time, also for one session. Records of one `append` stay together; which of two
/// `append`s at the same time comes first is open, so whoever needs an order awaits the first.
///
/// The futures are `Send`, so that one store can serve connections on many threads.
pub trait SessionStore: Send + Sync {
    /// Adds a session without records.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] where there is one with this id; [`StoreError::Id`] where the store cannot keep one
    /// under this id; others as the store has them.
    fn create<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Adds records to the end of a session's journal.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where there is no such session; [`StoreError::Corrupt`] where its journal cannot be
    /// gone on with; others as the store has them.
    fn append<'a>(
        &'a self,
        session_id: &'a SessionId,
        records: &'a [RawJson],
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Says that a turn is over, or whatever else was appended in one go: a good time to make it durable and to
    /// close what was opened for it. Does nothing by default.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where there is no such session; others as the store has them, when what was
    /// appended may not be durable.
    fn sync<'a>(&'a self, _session_id: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(future::ready(Ok(())))
    }

    /// Reads a session: its header and all records that it has now. `None` where there is no such session.
    ///
    /// # Errors
    ///
    /// As the store has them. What is wrong with a single record is told by the stream of records, as its last item.
    fn read<'a>(
        &'a self,
        session_id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>>;

    /// The headers of the sessions that `query` asks for, in the order of [`ListQuery`]. Reads no journals.
    ///
    /// # Errors
    ///
    /// As the store has them.
    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, Result<Vec<SessionHeader>, StoreError>>;

    /// Replaces the header of the session that it names.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where there is no such session; others as the store has them, when the header is
    /// still what it was.
    fn update_header<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Removes a session and all its records. `false` where there is no such session.
    ///
    /// # Errors
    ///
    /// As the store has them.
    fn delete<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Takes a session for whoever is about to open, create or delete it, whether there is one with this id or not, until
    /// the claim is dropped. So of the connections that share a store one at a time has a session open. Calls of the other
    /// methods need no claim. [`Claims`] does it within a process; a database has its own way to.
    ///
    /// By default nobody is kept out: the records of a session that two connections have open mingle.
    ///
    /// # Errors
    ///
    /// [`StoreError::InUse`] where somebody else has it; others as the store has them.
    fn claim<'a>(&'a self, _session_id: &'a SessionId) -> BoxFuture<'a, Result<Claim, StoreError>> {
        Box::pin(future::ready(Ok(Claim::default())))
    }

    /// Takes what the store has found wrong, and got over, since it was last asked. Nothing by default.
    fn take_warnings(&self) -> Vec<StoreWarning> {
        Vec::new()
    }
}

/// A session as a [`SessionStore`] read it.
#[non_exhaustive]
pub struct StoredSession {
    /// Its header as it is now.
    pub header: SessionHeader,
    /// Its records, oldest first. An error is the last item: what comes behind it cannot be read.
    pub records: BoxStream<'static, Result<RawJson, StoreError>>,
}

impl StoredSession {
    /// A session with this header and these records.
    pub fn new(header: SessionHeader, records: BoxStream<'static, Result<RawJson, StoreError>>) -> Self {
        Self { header, records }
    }
}

impl fmt::Debug for StoredSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredSession").field("header", &self.header).finish_non_exhaustive()
    }
}
