//! Stores open sessions by id within a quota. At the limit, a caller's new session replaces its oldest unused one.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use agentwire_sync::{Mutex, MutexGuard};

use crate::server::Caller;
use crate::server::admission::quota::{Quota, QuotaExceeded, Reservation};

/// How many sessions one caller may have where the configuration names no number.
pub(crate) const CALLER_SESSIONS: usize = 1000;

/// The sessions of an endpoint by their ids, within the limits of a [`Quota`].
///
/// At its limit, a caller's new session replaces the oldest one that its client has not used yet. So a client that opens
/// sessions and does not use them locks no other client out.
pub struct SessionTable<I, S> {
    quota: Quota,
    sessions: Mutex<Sessions<I, S>>,
}

struct Sessions<I, S> {
    /// A tree, because a hash table for many sessions is one large allocation, which keeps the heap from shrinking.
    open: BTreeMap<I, Entry<S>>,
    /// The sessions that are not used yet, by their caller and the order in which they were opened.
    unused: BTreeMap<(Caller, u64), I>,
    /// How many have been opened.
    opened: u64,
    closed: bool,
}

struct Entry<S> {
    session: Arc<S>,
    reservation: Reservation,
    /// Its number among all that have been opened.
    number: u64,
}

/// Why a session is not added to a [`SessionTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoSession {
    /// A limit of the quota is reached.
    #[error("too many sessions: {0}")]
    TooMany(QuotaExceeded),
    /// The table is closed.
    #[error("no more sessions are taken")]
    Closed,
}

impl<I: Ord + Copy, S> SessionTable<I, S> {
    /// A table without sessions.
    pub fn new(quota: Quota) -> Self {
        let sessions = Sessions { open: BTreeMap::new(), unused: BTreeMap::new(), opened: 0, closed: false };
        Self { quota, sessions: Mutex::new(sessions) }
    }

    /// The session with an id.
    pub fn get(&self, id: I) -> Option<Arc<S>> {
        self.lock().open.get(&id).map(|entry| entry.session.clone())
    }

    /// Adds a session that its client has not used. Returns the session that it replaces, which the caller of this ends.
    ///
    /// # Errors
    ///
    /// When a limit is reached and the same client has no unused session; when the table is closed.
    pub fn insert(&self, id: I, session: Arc<S>, caller: &Caller) -> Result<Option<Arc<S>>, NoSession> {
        let sessions = &mut *self.lock();
        if sessions.closed {
            return Err(NoSession::Closed);
        }
        let (reservation, replaced) = match self.quota.reserve(caller, 1) {
            Ok(reservation) => (reservation, None),
            Err(full) => {
                let oldest = sessions.oldest_unused(caller).ok_or(NoSession::TooMany(full))?;
                let Entry { session, .. } = sessions.remove(oldest).ok_or(NoSession::TooMany(full))?;
                (self.quota.reserve(caller, 1).map_err(NoSession::TooMany)?, Some(session))
            }
        };
        let number = sessions.opened;
        sessions.opened += 1;
        sessions.unused.insert((caller.clone(), number), id);
        sessions.open.insert(id, Entry { session, reservation, number });
        Ok(replaced)
    }

    /// Notes that the client has used a session, so it knows the session's id.
    pub fn mark_used(&self, id: I) {
        let sessions = &mut *self.lock();
        if let Some(Entry { reservation, number, .. }) = sessions.open.get(&id) {
            sessions.unused.remove(&(reservation.caller(), *number));
        }
    }

    /// Takes a session out.
    pub fn remove(&self, id: I) -> Option<Arc<S>> {
        self.lock().remove(id).map(|entry| entry.session)
    }

    /// Takes a session out, unless another has its id by now. Returns whether it was there.
    pub fn remove_same(&self, id: I, session: &S) -> bool {
        let mut sessions = self.lock();
        let is_same = sessions.open.get(&id).is_some_and(|entry| std::ptr::eq(&*entry.session, session));
        let removed = is_same.then(|| sessions.remove(id));
        drop(sessions);
        removed.is_some()
    }

    /// Takes no more sessions. Those that are there stay.
    pub fn refuse_more(&self) {
        self.lock().closed = true;
    }

    /// Takes all sessions out, and takes no more.
    pub fn close(&self) -> Vec<Arc<S>> {
        let sessions = &mut *self.lock();
        sessions.closed = true;
        sessions.unused = BTreeMap::new();
        std::mem::take(&mut sessions.open).into_values().map(|entry| entry.session).collect()
    }

    /// All sessions.
    pub fn all(&self) -> Vec<Arc<S>> {
        self.lock().open.values().map(|entry| entry.session.clone()).collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.lock().open.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Sessions<I, S>> {
        self.sessions.lock()
    }
}

impl<I: Ord + Copy, S> Sessions<I, S> {
    fn oldest_unused(&self, caller: &Caller) -> Option<I> {
        let of_caller = (caller.clone(), 0)..=(caller.clone(), u64::MAX);
        self.unused.range(of_caller).next().map(|(_, id)| *id)
    }

    fn remove(&mut self, id: I) -> Option<Entry<S>> {
        let entry = self.open.remove(&id)?;
        self.unused.remove(&(entry.reservation.caller(), entry.number));
        if self.open.is_empty() {
            // An empty tree keeps its last node, which would pin the heap behind the nodes of many sessions.
            self.open = BTreeMap::new();
            self.unused = BTreeMap::new();
        }
        Some(entry)
    }
}

impl<I, S> fmt::Debug for SessionTable<I, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionTable").field("quota", &self.quota).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(table: &SessionTable<u8, u8>, id: u8, caller: &Caller) -> Result<Option<u8>, NoSession> {
        table.insert(id, Arc::new(id), caller).map(|replaced| replaced.map(|session| *session))
    }

    #[test]
    fn unused_sessions_make_room_and_used_ones_stay() {
        let table = SessionTable::new(Quota::new(4, 3));
        let (hostile, polite) = (Caller::at([127, 0, 0, 1].into()), Caller::at([127, 0, 0, 2].into()));
        for id in 1..=3 {
            assert_eq!(insert(&table, id, &hostile), Ok(None));
        }
        table.mark_used(1);
        assert_eq!(insert(&table, 4, &hostile), Ok(Some(2)), "the oldest that is not used");
        assert_eq!(insert(&table, 5, &polite), Ok(None));
        assert!(
            matches!(insert(&table, 6, &Caller::UNKNOWN), Err(NoSession::TooMany(full)) if full.limit == 4)
        );
        [3, 4].iter().for_each(|id| table.mark_used(*id));
        assert!(matches!(insert(&table, 7, &hostile), Err(NoSession::TooMany(full)) if full.is_callers));
        let first = table.get(1).unwrap();
        assert!(!table.remove_same(1, &1) && table.remove_same(1, &first) && !table.remove_same(1, &first));
        assert_eq!(insert(&table, 8, &hostile), Ok(None));
        assert_eq!((table.close().len(), table.len()), (4, 0));
        assert_eq!(insert(&table, 9, &hostile), Err(NoSession::Closed));
    }
}
