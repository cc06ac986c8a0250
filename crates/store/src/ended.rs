//! The sessions that have ended of late. A store that fails over may lose its last writes, and a deletion with them.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use crate::SessionId;

/// How long the end of a session is remembered: longer than a failover takes.
const REMEMBERED: Duration = Duration::from_secs(10 * 60);

/// How many ends are remembered, at most. Each takes about 64 bytes.
const LIMIT: usize = 65_536;

/// The sessions that have ended of late.
#[derive(Debug, Default)]
pub(crate) struct EndedSessions {
    ids: HashSet<SessionId>,
    /// The same in the order of their ends.
    order: VecDeque<(Instant, SessionId)>,
}

impl EndedSessions {
    /// Remembers a session that has ended now.
    pub(crate) fn add(&mut self, session: SessionId, now: Instant) {
        self.remove_old(now);
        if self.ids.insert(session) {
            self.order.push_back((now, session));
        }
    }

    /// Returns whether a session has ended of late.
    pub(crate) fn contains(&mut self, session: SessionId, now: Instant) -> bool {
        self.remove_old(now);
        self.ids.contains(&session)
    }

    /// Forgets the ends that are too old, and the oldest ones at the limit.
    fn remove_old(&mut self, now: Instant) {
        while let Some((at, session)) = self.order.front()
            && (now.duration_since(*at) >= REMEMBERED || self.order.len() >= LIMIT)
        {
            self.ids.remove(session);
            self.order.pop_front();
        }
        if self.order.is_empty() {
            (self.ids, self.order) = Default::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_is_remembered_for_a_time() {
        let (mut ended, start) = (EndedSessions::default(), Instant::now());
        let [first, second] = [(); 2].map(|()| SessionId::random().unwrap());
        ended.add(first, start);
        ended.add(second, start + REMEMBERED / 2);
        ended.add(first, start + REMEMBERED / 2);
        let mut at = |time| [first, second].map(|session| ended.contains(session, start + time));
        assert_eq!(at(REMEMBERED - Duration::from_secs(1)), [true, true]);
        assert_eq!(at(REMEMBERED), [false, true]);
        assert_eq!(at(REMEMBERED * 2), [false, false]);
        assert_eq!(ended.ids.capacity(), 0);
    }

    #[test]
    fn oldest_end_gives_way_at_the_limit() {
        let (mut ended, now) = (EndedSessions::default(), Instant::now());
        let first = SessionId::random().unwrap();
        ended.add(first, now);
        (1..LIMIT * 2).for_each(|_| ended.add(SessionId::random().unwrap(), now));
        assert!(!ended.contains(first, now));
        assert!(ended.ids.len() <= LIMIT && ended.order.len() == ended.ids.len());
    }
}
