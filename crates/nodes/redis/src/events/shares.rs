//! Divides the room of the event queue among callers.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use agentwire_store::SessionId;
use agentwire_sync::Mutex;

/// The number of sessions or callers from which unused ones are removed.
const FEW: usize = 1024;

/// The room of the queue. A caller may use as many bytes as are left free, so at most half of the room. The others always have some.
#[derive(Debug)]
pub(crate) struct Shares {
    limit: usize,
    /// The time after which an unused session is removed.
    time: Duration,
    used: Mutex<Usage>,
}

/// The use of the room.
#[derive(Debug, Default)]
struct Usage {
    bytes: usize,
    /// The share of all unknown sessions, and of sessions without a caller.
    unknown: SessionShare,
    callers: HashMap<Arc<str>, Arc<Share>>,
    /// The shares of sessions, each with the time of its last use.
    sessions: HashMap<SessionId, (SessionShare, Instant)>,
    /// The number of sessions or callers at which unused ones are removed next.
    sweep_at: usize,
}

/// A session's part of the queue.
#[derive(Clone, Debug, Default)]
struct SessionShare {
    of_caller: Arc<Share>,
    /// The number of events in the queue. Changed while `used` is locked.
    events: Arc<AtomicUsize>,
}

/// A caller's part of the queue.
#[derive(Debug, Default)]
struct Share {
    caller: Option<Arc<str>>,
    /// The bytes in the queue. Changed while `used` is locked.
    bytes: AtomicUsize,
}

/// Room of one event in the queue. Dropping it frees the room.
#[derive(Debug)]
pub(crate) struct Room {
    shares: Arc<Shares>,
    share: SessionShare,
    bytes: usize,
}

impl Shares {
    pub(crate) fn new(limit: usize, time: Duration) -> Arc<Self> {
        Arc::new(Self { limit, time, used: Mutex::default() })
    }

    /// The size of the room, in bytes.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Called when this node uses a session of a caller.
    pub(crate) fn open(&self, session: SessionId, caller: Option<&str>) {
        let Some(caller) = caller else { return };
        let now = Instant::now();
        let used = &mut *self.used.lock();
        let of_caller = used.share(caller);
        let (share, at) = used.sessions.entry(session).or_insert_with(|| (SessionShare::default(), now));
        (share.of_caller, *at) = (of_caller, now);
        if used.sessions.len().max(used.callers.len()) >= used.sweep_at.max(FEW) {
            used.sessions.retain(|_, (share, at)| {
                now.duration_since(*at) <= self.time || share.events.load(Relaxed) > 0
            });
            used.callers.retain(|_, share| Arc::strong_count(share) > 1);
            used.sweep_at = 2 * used.sessions.len().max(used.callers.len());
        }
    }

    /// The caller of a session. `None` if the session is unknown.
    pub(crate) fn caller(&self, session: SessionId) -> Option<Arc<str>> {
        self.used.lock().share_of(session, Instant::now()).of_caller.caller.clone()
    }

    /// Called when a session has ended.
    pub(crate) fn forget(&self, session: SessionId) {
        self.used.lock().sessions.remove(&session);
    }

    /// Returns whether events of a session, or of any unknown session, are in the queue.
    pub(crate) fn has_queued(&self, session: SessionId) -> bool {
        let used = &mut *self.used.lock();
        let own = used.share_of(session, Instant::now()).events.load(Relaxed);
        own > 0 || used.unknown.events.load(Relaxed) > 0
    }

    /// Takes room for an event of a session. `None` if its caller's share is used up.
    pub(crate) fn take(self: &Arc<Self>, session: SessionId, bytes: usize, now: Instant) -> Option<Room> {
        let used = &mut *self.used.lock();
        let share = used.share_of(session, now).clone();
        let of_caller = share.of_caller.bytes.load(Relaxed) + bytes;
        if of_caller > self.limit.saturating_sub(used.bytes + bytes) {
            return None;
        }
        used.bytes += bytes;
        share.of_caller.bytes.store(of_caller, Relaxed);
        share.events.fetch_add(1, Relaxed);
        Some(Room { shares: self.clone(), share, bytes })
    }
}

impl Usage {
    fn share(&mut self, caller: &str) -> Arc<Share> {
        if let Some(share) = self.callers.get(caller) {
            return share.clone();
        }
        let caller = Arc::<str>::from(caller);
        let share = Arc::new(Share { caller: Some(caller.clone()), bytes: AtomicUsize::new(0) });
        self.callers.insert(caller, share.clone());
        share
    }

    fn share_of(&mut self, session: SessionId, now: Instant) -> &SessionShare {
        match self.sessions.get_mut(&session) {
            Some((share, at)) => {
                *at = now;
                share
            }
            None => &self.unknown,
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let used = &mut *self.shares.used.lock();
        used.bytes -= self.bytes;
        self.share.of_caller.bytes.fetch_sub(self.bytes, Relaxed);
        self.share.events.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_may_use_as_much_as_is_left_free() {
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
        assert_eq!(has_queued(), [true, true, false, false], "the caller of the session does not matter");
        shares.open(sessions[0], Some("a"));
        let second = take(2, 250).unwrap();
        assert!(take(0, 1).is_none() && take(2, 1).is_none());
        assert_eq!(has_queued(), [true, true, true, false]);
        let third = take(3, 125).unwrap();
        drop(first);
        assert!(take(0, 312).is_some(), "the freed room can be used again");
        assert_eq!(has_queued(), [true; 4], "an event of an unknown session may be of any session");
        drop(third);
        assert_eq!(has_queued(), [false, false, true, false]);
        drop(second);
        assert_eq!(has_queued(), [false; 4]);
        let used = shares.used.lock();
        assert_eq!((used.bytes, used.callers.len(), used.sessions.len()), (0, 2, 3));
        assert!(
            used.callers
                .values()
                .chain([&used.unknown.of_caller])
                .all(|share| share.bytes.load(Relaxed) == 0)
        );
    }

    #[test]
    fn unused_sessions_and_callers_are_removed() {
        let shares = Shares::new(1000, Duration::ZERO);
        for _ in 0..10 * FEW {
            shares.open(SessionId::random().unwrap(), Some("a"));
        }
        assert!(shares.used.lock().sessions.len() <= 2 * FEW);
        // Callers without sessions are removed as well.
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
