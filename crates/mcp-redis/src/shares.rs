//! Divides the room of the event queue among callers.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_store::SessionId;
use agentwire_sync::Mutex;

/// How many sessions are known at least before those that are not used are looked for.
const FEW: usize = 1024;

/// A caller. Those without a name have one share.
type Owner = Option<Arc<str>>;

/// The room of the queue. A caller may have as many bytes in it as are free, so it has half of the room at most, and leaves some to
/// any other.
#[derive(Debug)]
pub(crate) struct Shares {
    limit: usize,
    /// How long a session is known that is not used.
    time: Duration,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    bytes: usize,
    /// The callers that have bytes in the queue.
    owners: HashMap<Owner, usize>,
    /// The callers of sessions, and when each session was last used.
    sessions: HashMap<SessionId, (Arc<str>, Instant)>,
    /// With so many sessions, those that are not used are looked for.
    sweep_at: usize,
}

/// Room that is taken, until this is dropped.
#[derive(Debug)]
pub(crate) struct Room {
    shares: Arc<Shares>,
    owner: Owner,
    bytes: usize,
}

impl Shares {
    pub(crate) fn new(limit: usize, time: Duration) -> Arc<Self> {
        Arc::new(Self { limit, time, used: Mutex::default() })
    }

    /// The most bytes.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// A session of a caller is used at this node.
    pub(crate) fn open(&self, session: SessionId, owner: Option<&str>) {
        let Some(owner) = owner else { return };
        let now = Instant::now();
        let used = &mut *self.used.lock();
        used.sessions.insert(session, (owner.into(), now));
        if used.sessions.len() >= used.sweep_at.max(FEW) {
            used.sessions.retain(|_, (_, at)| now.duration_since(*at) <= self.time);
            used.sweep_at = 2 * used.sessions.len();
        }
    }

    /// The caller of a session that is used.
    pub(crate) fn owner(&self, session: SessionId) -> Owner {
        self.used.lock().owner(session)
    }

    /// A session has ended.
    pub(crate) fn forget(&self, session: SessionId) {
        self.used.lock().sessions.remove(&session);
    }

    /// Takes room for an event of a session; none where its caller has its share.
    pub(crate) fn take(self: &Arc<Self>, session: SessionId, bytes: usize) -> Option<Room> {
        let used = &mut *self.used.lock();
        let owner = used.owner(session);
        let of_owner = used.owners.get(&owner).map_or(bytes, |of_owner| of_owner + bytes);
        if of_owner > self.limit.saturating_sub(used.bytes + bytes) {
            return None;
        }
        used.bytes += bytes;
        used.owners.insert(owner.clone(), of_owner);
        Some(Room { shares: self.clone(), owner, bytes })
    }
}

impl Used {
    fn owner(&mut self, session: SessionId) -> Owner {
        let (owner, at) = self.sessions.get_mut(&session)?;
        *at = Instant::now();
        Some(owner.clone())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let used = &mut *self.shares.used.lock();
        used.bytes -= self.bytes;
        if let Entry::Occupied(mut of_owner) = used.owners.entry(self.owner.take()) {
            *of_owner.get_mut() -= self.bytes;
            if *of_owner.get() == 0 {
                of_owner.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_has_as_much_as_is_free() {
        let shares = Shares::new(1000, Duration::from_secs(60));
        let session = |owner: Option<&str>| {
            let session = SessionId::random().unwrap();
            shares.open(session, owner);
            session
        };
        let sessions = [Some("a"), Some("a"), Some("b"), None].map(session);
        let take = |index: usize, bytes| shares.take(sessions[index], bytes);
        let first: Vec<_> = (0..10).map_while(|number| take(number % 2, 100)).collect();
        assert_eq!(first.len(), 5, "two sessions of one caller have one share");
        assert!(take(2, 251).is_none() && take(3, 251).is_none());
        let second = take(2, 250).unwrap();
        assert!(take(0, 1).is_none() && take(2, 1).is_none());
        let third = take(3, 125).unwrap();
        drop(first);
        assert!(take(0, 312).is_some(), "what is left free is there again");
        drop((second, third));
        let used = shares.used.lock();
        assert_eq!((used.bytes, used.owners.len(), used.sessions.len()), (0, 0, 3));
    }

    #[test]
    fn sessions_that_are_not_used_are_forgotten() {
        let shares = Shares::new(1000, Duration::ZERO);
        for _ in 0..10 * FEW {
            shares.open(SessionId::random().unwrap(), Some("a"));
        }
        assert!(shares.used.lock().sessions.len() <= 2 * FEW);
        let session = SessionId::random().unwrap();
        shares.open(session, Some("b"));
        shares.forget(session);
        assert_eq!(shares.owner(session), None);
    }
}
