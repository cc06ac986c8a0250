//! The streams that have lost an event because it could not be stored.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_store::SessionId;
use agentwire_sync::Mutex;

/// Streams that have lost an event. Their stored events are deleted, and further events are refused until the stream ends, because a
/// client that resumed it would miss an event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Incomplete {
    /// The time at which an event of each stream was last refused.
    sessions: Arc<Mutex<HashMap<SessionId, HashMap<u64, Instant>>>>,
}

impl Incomplete {
    pub(crate) fn is_empty(&self) -> bool {
        self.sessions.lock().is_empty()
    }

    pub(crate) fn add(&self, session: SessionId, stream: u64, now: Instant) {
        self.sessions.lock().entry(session).or_default().insert(stream, now);
    }

    /// Returns whether an event of a stream is refused at `now`, because the stream has lost an event.
    pub(crate) fn refuses(&self, session: SessionId, stream: u64, now: Instant) -> bool {
        let mut sessions = self.sessions.lock();
        let refused = sessions.get_mut(&session).and_then(|streams| streams.get_mut(&stream));
        refused.map(|at| *at = now).is_some()
    }

    /// Called when a stream has ended and all its writes are finished.
    pub(crate) fn remove(&self, session: SessionId, stream: u64) {
        let mut sessions = self.sessions.lock();
        if let Some(streams) = sessions.get_mut(&session) {
            streams.remove(&stream);
            if streams.is_empty() {
                sessions.remove(&session);
            }
        }
    }

    /// Called when a session has ended.
    pub(crate) fn forget(&self, session: SessionId) {
        self.sessions.lock().remove(&session);
    }

    /// Forgets streams of which no event was refused for `time`, because not every stream ends. Called once their deletions are done.
    pub(crate) fn sweep(&self, now: Instant, time: Duration) {
        self.sessions.lock().retain(|_, streams| {
            streams.retain(|_, at| now.duration_since(*at) <= time);
            !streams.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_do_not_end_are_forgotten() {
        let (incomplete, session) = (Incomplete::default(), SessionId::random().unwrap());
        let (started, time) = (Instant::now(), Duration::from_secs(60));
        (1..=3).for_each(|stream| incomplete.add(session, stream, started));
        assert!(incomplete.refuses(session, 2, started + time / 2));
        incomplete.sweep(started + time, time);
        incomplete.remove(session, 3);
        incomplete.sweep(started + time + time / 2, time);
        let left = [1, 2, 3].map(|stream| incomplete.refuses(session, stream, started));
        assert_eq!(left, [false, true, false]);
        incomplete.forget(session);
        assert!(!incomplete.refuses(session, 2, started) && incomplete.is_empty());
    }
}
