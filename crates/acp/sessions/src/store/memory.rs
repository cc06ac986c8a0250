//! A store in memory, with a limit.

use std::collections::HashMap;
use std::fmt;

use agentwire_acp_schema::v1::SessionId;
use agentwire_jsonrpc::RawJson;
use agentwire_sync::{Mutex, MutexGuard};
use agentwire_wire_derive::Build;
use futures_util::future::BoxFuture;
use futures_util::stream;

use super::{Claim, Claims, ListQuery, SessionHeader, SessionStore, StoreError, StoreWarning, StoredSession};

/// The default of [`MemoryStore::limit`]: 128 MiB.
pub const DEFAULT_MEMORY_LIMIT: usize = 128 << 20;

/// The memory of a record in addition to its text, in bytes.
const RECORD_OVERHEAD: usize = 80;

/// The memory of a session in addition to its texts, in bytes.
const SESSION_OVERHEAD: usize = 512;

/// Stores sessions in memory, up to a limit.
///
/// When all sessions together exceed the [limit](Self::limit), those that are not [claimed](SessionStore::claim) are deleted,
/// the ones with the oldest change first, and [`take_warnings`](SessionStore::take_warnings) returns how many. A write that
/// does not fit even then is refused with [`StoreError::Full`].
///
/// ```
/// use std::sync::Arc;
///
/// use agentwire_acp_sessions::{MemoryStore, Turn, agent, schema::StopReason};
///
/// // Two connections see the same sessions, and each opens its own.
/// let store = Arc::new(MemoryStore::new().limit(16 << 20));
/// let agents = [store.clone(), store].map(|store| {
///     agent(async |_turn: Turn| Ok(StopReason::EndTurn)).shared_store(store)
/// });
/// ```
#[derive(Build)]
pub struct MemoryStore {
    sessions: Mutex<Sessions>,
    claims: Claims,
    /// Sets the limit of all sessions together, in bytes of memory (default [`DEFAULT_MEMORY_LIMIT`], 128 MiB).
    limit: usize,
}

#[derive(Default)]
struct Sessions {
    by_id: HashMap<SessionId, MemorySession>,
    /// The memory of all sessions, in bytes.
    bytes: usize,
    /// How many were deleted for lack of memory since the last warning.
    forgotten: usize,
}

struct MemorySession {
    header: SessionHeader,
    records: Vec<RawJson>,
    /// The memory of the records, in bytes.
    bytes: usize,
}

impl MemoryStore {
    /// Returns an empty store.
    pub fn new() -> Self {
        Self { sessions: Mutex::default(), claims: Claims::new(), limit: DEFAULT_MEMORY_LIMIT }
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock()
    }

    /// Deletes idle sessions until this session fits with `bytes` more.
    fn make_room(
        &self,
        sessions: &mut Sessions,
        session_id: &SessionId,
        more: usize,
    ) -> Result<(), StoreError> {
        let fits = |sessions: &Sessions| sessions.bytes.saturating_add(more) <= self.limit;
        if fits(sessions) {
            return Ok(());
        }
        // Frees more than is needed, so that not every write has to free memory.
        let wanted = self.limit - self.limit / 16;
        let mut idle: Vec<_> = sessions
            .by_id
            .values()
            .filter(|session| session.header.session_id != *session_id)
            .filter(|session| !self.claims.is_claimed(&session.header.session_id))
            .map(|session| session.header.position())
            .collect();
        idle.sort_unstable();
        while sessions.bytes.saturating_add(more) > wanted
            && let Some(oldest) = idle.pop()
        {
            sessions.remove(&oldest.session_id);
            sessions.forgotten += 1;
        }
        if fits(sessions) { Ok(()) } else { Err(StoreError::full(self.limit)) }
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Sessions {
    fn get(&mut self, session_id: &SessionId) -> Result<&mut MemorySession, StoreError> {
        self.by_id.get_mut(session_id).ok_or_else(|| StoreError::not_found(session_id))
    }

    fn remove(&mut self, session_id: &SessionId) -> bool {
        let removed = self.by_id.remove(session_id);
        self.bytes -= removed.as_ref().map_or(0, |session| session.bytes + size(&session.header));
        removed.is_some()
    }
}

/// Returns the memory of a session without its records, in bytes.
fn size(header: &SessionHeader) -> usize {
    let directories = header.additional_directories.iter().map(|directory| directory.as_os_str().len() + 24);
    let title = header.title.as_ref().map_or(0, String::len);
    // The id is stored twice.
    let id = 2 * header.session_id.as_str().len();
    SESSION_OVERHEAD + id + header.cwd.as_os_str().len() + title + directories.sum::<usize>()
}

impl SessionStore for MemoryStore {
    fn create<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut sessions = self.sessions();
            if sessions.by_id.contains_key(&header.session_id) {
                return Err(StoreError::exists(&header.session_id));
            }
            let size = size(header);
            self.make_room(&mut sessions, &header.session_id, size)?;
            sessions.bytes += size;
            let session = MemorySession { header: header.clone(), records: Vec::new(), bytes: 0 };
            sessions.by_id.insert(header.session_id.clone(), session);
            Ok(())
        })
    }

    fn append<'a>(
        &'a self,
        session_id: &'a SessionId,
        records: &'a [RawJson],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut sessions = self.sessions();
            sessions.get(session_id)?;
            let size = records.iter().map(|record| RECORD_OVERHEAD + record.len()).sum();
            self.make_room(&mut sessions, session_id, size)?;
            sessions.bytes += size;
            let session = sessions.get(session_id)?;
            session.bytes += size;
            session.records.extend_from_slice(records);
            Ok(())
        })
    }

    fn sync<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.sessions().get(session_id).map(|_| ()) })
    }

    fn read<'a>(
        &'a self,
        session_id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(async move {
            Ok(self.sessions().by_id.get(session_id).map(|session| {
                let records = stream::iter(session.records.clone().into_iter().map(Ok));
                StoredSession::new(session.header.clone(), Box::pin(records))
            }))
        })
    }

    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, Result<Vec<SessionHeader>, StoreError>> {
        Box::pin(
            async move { Ok(query.select(self.sessions().by_id.values().map(|session| &session.header))) },
        )
    }

    fn update_header<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut sessions = self.sessions();
            let before = size(&sessions.get(&header.session_id)?.header);
            let after = size(header);
            self.make_room(&mut sessions, &header.session_id, after.saturating_sub(before))?;
            sessions.bytes = sessions.bytes - before + after;
            sessions.get(&header.session_id)?.header = header.clone();
            Ok(())
        })
    }

    fn delete<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { Ok(self.sessions().remove(session_id)) })
    }

    fn claim<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<Claim, StoreError>> {
        Box::pin(async move { self.claims.claim(session_id) })
    }

    fn take_warnings(&self) -> Vec<StoreWarning> {
        match std::mem::take(&mut self.sessions().forgotten) {
            0 => Vec::new(),
            sessions => vec![StoreWarning::Forgotten { sessions, limit: self.limit }],
        }
    }
}

/// Shows the number of sessions, and not their content.
impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("sessions", &self.sessions().by_id.len()).finish()
    }
}
