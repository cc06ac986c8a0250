//! Divides the room of the event queue among callers.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use agentwire_store::SessionId;
use agentwire_sync::Mutex;

/// How many sessions are known at least before those that are not used are looked for.
const FEW: usize = 1024;

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
    /// That of the callers without a name.
    unnamed: Arc<Share>,
    callers: HashMap<Arc<str>, Arc<Share>>,
    /// The shares of sessions, and when each session was last used.
    sessions: HashMap<SessionId, (Arc<Share>, Instant)>,
    /// How many events of each session are in the queue.
    queued: HashMap<SessionId, usize>,
    /// With so many sessions or callers, those that are not used are looked for.
    sweep_at: usize,
}

/// What a caller has in the queue.
#[derive(Debug, Default)]
struct Share {
    caller: Option<Arc<str>>,
    /// Changed while `used` is locked.
    bytes: AtomicUsize,
}

/// Room that is taken, until this is dropped.
#[derive(Debug)]
pub(crate) struct Room {
    shares: Arc<Shares>,
    share: Arc<Share>,
    session: SessionId,
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
    pub(crate) fn open(&self, session: SessionId, caller: Option<&str>) {
        let Some(caller) = caller else { return };
        let now = Instant::now();
        let used = &mut *self.used.lock();
        let share = used.share(caller);
        used.sessions.insert(session, (share, now));
        if used.sessions.len().max(used.callers.len()) >= used.sweep_at.max(FEW) {
            used.sessions.retain(|_, (_, at)| now.duration_since(*at) <= self.time);
            used.callers.retain(|_, share| Arc::strong_count(share) > 1);
            used.sweep_at = 2 * used.sessions.len().max(used.callers.len());
        }
    }

    /// The caller of a session that is used.
    pub(crate) fn caller(&self, session: SessionId) -> Option<Arc<str>> {
        self.used.lock().share_of(session, Instant::now()).caller.clone()
    }

    /// A session has ended.
    pub(crate) fn forget(&self, session: SessionId) {
        self.used.lock().sessions.remove(&session);
    }

    /// Returns whether events of a session are in the queue.
    pub(crate) fn has_queued(&self, session: SessionId) -> bool {
        self.used.lock().queued.contains_key(&session)
    }

    /// Takes room for an event of a session; none where its caller has its share.
    pub(crate) fn take(self: &Arc<Self>, session: SessionId, bytes: usize, now: Instant) -> Option<Room> {
        let used = &mut *self.used.lock();
        let share = used.share_of(session, now).clone();
        let of_caller = share.bytes.load(Relaxed) + bytes;
        if of_caller > self.limit.saturating_sub(used.bytes + bytes) {
            return None;
        }
        used.bytes += bytes;
        share.bytes.store(of_caller, Relaxed);
        *used.queued.entry(session).or_default() += 1;
        Some(Room { shares: self.clone(), share, session, bytes })
    }
}

impl Used {
    fn share(&mut self, caller: &str) -> Arc<Share> {
        if let Some(share) = self.callers.get(caller) {
            return share.clone();
        }
        let caller = Arc::<str>::from(caller);
        let share = Arc::new(Share { caller: Some(caller.clone()), bytes: AtomicUsize::new(0) });
        self.callers.insert(caller, share.clone());
        share
    }

    fn share_of(&mut self, session: SessionId, now: Instant) -> &Arc<Share> {
        match self.sessions.get_mut(&session) {
            Some((share, at)) => {
                *at = now;
                share
            }
            None => &self.unnamed,
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let used = &mut *self.shares.used.lock();
        used.bytes -= self.bytes;
        self.share.bytes.fetch_sub(self.bytes, Relaxed);
        if let Entry::Occupied(mut queued) = used.queued.entry(self.session) {
            *queued.get_mut() -= 1;
            if *queued.get() == 0 {
                queued.remove();
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
        let take = |index: usize, bytes| shares.take(sessions[index], bytes, Instant::now());
        let first: Vec<_> = (0..10).map_while(|number| take(number % 2, 100)).collect();
        assert_eq!(first.len(), 5, "two sessions of one caller have one share");
        assert!(take(2, 251).is_none() && take(3, 251).is_none());
        let has_queued = || sessions.map(|session| shares.has_queued(session));
        assert_eq!(has_queued(), [true, true, false, false]);
        shares.open(sessions[0], Some("b"));
        assert_eq!(has_queued(), [true, true, false, false], "whoever its caller is now");
        shares.open(sessions[0], Some("a"));
        let second = take(2, 250).unwrap();
        assert!(take(0, 1).is_none() && take(2, 1).is_none());
        let third = take(3, 125).unwrap();
        drop(first);
        assert!(take(0, 312).is_some(), "what is left free is there again");
        assert_eq!(has_queued(), [false, false, true, true]);
        drop((second, third));
        assert_eq!(has_queued(), [false; 4]);
        let used = shares.used.lock();
        assert_eq!((used.bytes, used.callers.len(), used.sessions.len(), used.queued.len()), (0, 2, 3, 0));
        assert!(used.callers.values().chain([&used.unnamed]).all(|share| share.bytes.load(Relaxed) == 0));
    }

    #[test]
    fn sessions_that_are_not_used_are_forgotten() {
        let shares = Shares::new(1000, Duration::ZERO);
        for _ in 0..10 * FEW {
            shares.open(SessionId::random().unwrap(), Some("a"));
        }
        assert!(shares.used.lock().sessions.len() <= 2 * FEW);
        // Callers whose sessions have ended are forgotten as well.
        for number in 0..10 * FEW {
            let session = SessionId::random().unwrap();
            shares.open(session, Some(&number.to_string()));
            shares.forget(session);
        }
        assert!(shares.used.lock().callers.len() <= 4 * FEW);
        let session = SessionId::random().unwrap();
        shares.open(session, Some("b"));
        shares.forget(session);
        assert_eq!(shares.caller(session), None);
    }
}
