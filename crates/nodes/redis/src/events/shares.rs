//! Divides the room of the event queue among callers.

use std::collections::HashMap;
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
    /// That of the sessions that are not known, and of the callers without a name.
    unknown: SessionShare,
    callers: HashMap<Arc<str>, Arc<Share>>,
    /// The shares of sessions, and when each session was last used.
    sessions: HashMap<SessionId, (SessionShare, Instant)>,
    /// With so many sessions or callers, those that are not used are looked for.
    sweep_at: usize,
}

/// A session's part of the queue.
#[derive(Clone, Debug, Default)]
struct SessionShare {
    of_caller: Arc<Share>,
    /// How many events. Changed while `used` is locked.
    events: Arc<AtomicUsize>,
}

/// A caller's part of the queue.
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
    share: SessionShare,
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

    /// The caller of a session that is used.
    pub(crate) fn caller(&self, session: SessionId) -> Option<Arc<str>> {
        self.used.lock().share_of(session, Instant::now()).of_caller.caller.clone()
    }

    /// A session has ended.
    pub(crate) fn forget(&self, session: SessionId) {
        self.used.lock().sessions.remove(&session);
    }

    /// Returns whether events of a session are in the queue, or of sessions that are not known.
    pub(crate) fn has_queued(&self, session: SessionId) -> bool {
        let used = &mut *self.used.lock();
        let own = used.share_of(session, Instant::now()).events.load(Relaxed);
        own > 0 || used.unknown.events.load(Relaxed) > 0
    }

    /// Takes room for an event of a session; `None` if its caller has its share.
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
        assert_eq!(has_queued(), [true, true, true, false]);
        let third = take(3, 125).unwrap();
        drop(first);
        assert!(take(0, 312).is_some(), "what is left free is there again");
        assert_eq!(has_queued(), [true; 4], "one of an unknown session may be of any");
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
