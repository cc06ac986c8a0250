use std::collections::HashMap;
use std::fmt;

use agentwire_acp_schema::v1::SessionId;
use agentwire_jsonrpc::RawJson;
use agentwire_sync::{Mutex, MutexGuard};
use futures::future::BoxFuture;
use futures::stream;

use super::{Claim, Claims, ListQuery, SessionHeader, SessionStore, StoreError, StoreWarning, StoredSession};

/// How many bytes of memory the sessions of a [`MemoryStore`] may take unless [`MemoryStore::limit`] says otherwise:
/// 128 MiB.
pub const DEFAULT_MEMORY_LIMIT: usize = 128 << 20;

/// What a record takes beside its text, and a session beside its header's, in bytes.
const RECORD: usize = 80;
const SESSION: usize = 512;

/// Keeps sessions as long as it lives, as far as they fit into its memory.
///
/// When they take more than [`limit`](Self::limit), those are forgotten that nobody has [claimed](SessionStore::claim), the
/// ones first in which nothing has happened for longest, and [`take_warnings`](SessionStore::take_warnings) tells how many.
/// What does not fit even so is refused with [`StoreError::Full`].
pub struct MemoryStore {
    state: Mutex<State>,
    claims: Claims,
    limit: usize,
}

#[derive(Default)]
struct State {
    sessions: HashMap<SessionId, Kept>,
    /// How much memory they take, in bytes.
    bytes: usize,
    /// How many were forgotten since that was last told.
    forgotten: usize,
}

struct Kept {
    header: SessionHeader,
    records: Vec<RawJson>,
    /// How much memory the records take, in bytes.
    bytes: usize,
}

impl MemoryStore {
    /// A store without sessions.
    pub fn new() -> Self {
        Self { state: Mutex::default(), claims: Claims::new(), limit: DEFAULT_MEMORY_LIMIT }
    }

    /// Sets how many bytes of memory the sessions may take together (default [`DEFAULT_MEMORY_LIMIT`], 128 MiB).
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// The sessions. A panic elsewhere cannot leave them half changed, so they are used after one, too.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Sees to it that there is room for so many bytes more, in this session.
    fn make_room(&self, state: &mut State, session_id: &SessionId, more: usize) -> Result<(), StoreError> {
        let fits = |state: &State| state.bytes.saturating_add(more) <= self.limit;
        if fits(state) {
            return Ok(());
        }
        // With some room for those who come next, so that few of them have to look for it.
        let wanted = self.limit - self.limit / 16;
        let mut idle: Vec<_> = state
            .sessions
            .values()
            .filter(|kept| kept.header.session_id != *session_id)
            .filter(|kept| !self.claims.is_claimed(&kept.header.session_id))
            .map(|kept| kept.header.position())
            .collect();
        idle.sort_unstable();
        while state.bytes.saturating_add(more) > wanted
            && let Some(oldest) = idle.pop()
        {
            state.remove(&oldest.session_id);
            state.forgotten += 1;
        }
        if fits(state) { Ok(()) } else { Err(StoreError::full(self.limit)) }
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl State {
    fn get(&mut self, session_id: &SessionId) -> Result<&mut Kept, StoreError> {
        self.sessions.get_mut(session_id).ok_or_else(|| StoreError::not_found(session_id))
    }

    fn remove(&mut self, session_id: &SessionId) -> bool {
        let removed = self.sessions.remove(session_id);
        self.bytes -= removed.as_ref().map_or(0, |kept| kept.bytes + size(&kept.header));
        removed.is_some()
    }
}

/// How much memory a session takes without its records, in bytes.
fn size(header: &SessionHeader) -> usize {
    let directories = header.additional_directories.iter().map(|directory| directory.as_os_str().len() + 24);
    let title = header.title.as_ref().map_or(0, String::len);
    // The id is there twice.
    let id = 2 * header.session_id.as_str().len();
    SESSION + id + header.cwd.as_os_str().len() + title + directories.sum::<usize>()
}

impl SessionStore for MemoryStore {
    fn create<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut state = self.state();
            if state.sessions.contains_key(&header.session_id) {
                return Err(StoreError::exists(&header.session_id));
            }
            let size = size(header);
            self.make_room(&mut state, &header.session_id, size)?;
            state.bytes += size;
            let kept = Kept { header: header.clone(), records: Vec::new(), bytes: 0 };
            state.sessions.insert(header.session_id.clone(), kept);
            Ok(())
        })
    }

    fn append<'a>(
        &'a self,
        session_id: &'a SessionId,
        records: &'a [RawJson],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut state = self.state();
            state.get(session_id)?;
            let size = records.iter().map(|record| RECORD + record.len()).sum();
            self.make_room(&mut state, session_id, size)?;
            state.bytes += size;
            let kept = state.get(session_id)?;
            kept.bytes += size;
            kept.records.extend_from_slice(records);
            Ok(())
        })
    }

    fn sync<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.state().get(session_id).map(|_| ()) })
    }

    fn read<'a>(
        &'a self,
        session_id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(async move {
            Ok(self.state().sessions.get(session_id).map(|kept| {
                let records = stream::iter(kept.records.clone().into_iter().map(Ok));
                StoredSession::new(kept.header.clone(), Box::pin(records))
            }))
        })
    }

    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, Result<Vec<SessionHeader>, StoreError>> {
        Box::pin(async move { Ok(query.select(self.state().sessions.values().map(|kept| &kept.header))) })
    }

    fn update_header<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut state = self.state();
            let before = size(&state.get(&header.session_id)?.header);
            let after = size(header);
            self.make_room(&mut state, &header.session_id, after.saturating_sub(before))?;
            state.bytes = state.bytes - before + after;
            state.get(&header.session_id)?.header = header.clone();
            Ok(())
        })
    }

    fn delete<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { Ok(self.state().remove(session_id)) })
    }

    fn claim<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<Claim, StoreError>> {
        Box::pin(async move { self.claims.claim(session_id) })
    }

    fn take_warnings(&self) -> Vec<StoreWarning> {
        match std::mem::take(&mut self.state().forgotten) {
            0 => Vec::new(),
            sessions => vec![StoreWarning::Forgotten { sessions, limit: self.limit }],
        }
    }
}

/// Says how many sessions there are, not what is in them.
impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("sessions", &self.state().sessions.len()).finish()
    }
}
