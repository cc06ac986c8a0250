use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agentwire_acp_schema::v1::SessionId;
use agentwire_jsonrpc::RawJson;
use futures::future::BoxFuture;
use futures::stream;

use super::{Claim, Claims, ListQuery, SessionHeader, SessionStore, StoreError, StoredSession};

/// Keeps sessions as long as it lives.
#[derive(Default)]
pub struct MemoryStore {
    sessions: Mutex<HashMap<SessionId, Kept>>,
    claims: Claims,
}

struct Kept {
    header: SessionHeader,
    records: Vec<RawJson>,
}

impl MemoryStore {
    /// A store without sessions.
    pub fn new() -> Self {
        Self::default()
    }

    /// The sessions. A panic elsewhere cannot leave them half changed, so they are used after one, too.
    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Kept>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, session_id: &SessionId, change: impl FnOnce(&mut Kept)) -> Result<(), StoreError> {
        let mut sessions = self.sessions();
        sessions.get_mut(session_id).map(change).ok_or_else(|| StoreError::not_found(session_id))
    }
}

impl SessionStore for MemoryStore {
    fn create<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut sessions = self.sessions();
            if sessions.contains_key(&header.session_id) {
                return Err(StoreError::exists(&header.session_id));
            }
            sessions.insert(header.session_id.clone(), Kept { header: header.clone(), records: Vec::new() });
            Ok(())
        })
    }

    fn append<'a>(
        &'a self,
        session_id: &'a SessionId,
        records: &'a [RawJson],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.change(session_id, |kept| kept.records.extend_from_slice(records)) })
    }

    fn sync<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.change(session_id, |_| ()) })
    }

    fn read<'a>(
        &'a self,
        session_id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(async move {
            Ok(self.sessions().get(session_id).map(|kept| {
                let records = stream::iter(kept.records.clone().into_iter().map(Ok));
                StoredSession::new(kept.header.clone(), Box::pin(records))
            }))
        })
    }

    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, Result<Vec<SessionHeader>, StoreError>> {
        Box::pin(async move { Ok(query.select(self.sessions().values().map(|kept| &kept.header))) })
    }

    fn update_header<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.change(&header.session_id, |kept| kept.header = header.clone()) })
    }

    fn delete<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { Ok(self.sessions().remove(session_id).is_some()) })
    }

    fn claim<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<Claim, StoreError>> {
        Box::pin(async move { self.claims.claim(session_id) })
    }
}

/// Says how many sessions there are, not what is in them.
impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("sessions", &self.sessions().len()).finish()
    }
}
