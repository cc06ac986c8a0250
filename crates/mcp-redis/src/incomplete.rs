//! Streams of which an event could not be stored.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_store::SessionId;
use agentwire_sync::Mutex;

/// Streams that take no further events until they end: a client that resumed one would miss an event. They are deleted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Incomplete {
    /// When an event of each was refused last.
    streams: Arc<Mutex<HashMap<(SessionId, u64), Instant>>>,
}

impl Incomplete {
    pub(crate) fn add(&self, session: SessionId, stream: u64, now: Instant) {
        self.streams.lock().insert((session, stream), now);
    }

    /// Returns whether an event of a stream is refused `now`, because one before it was.
    pub(crate) fn refuses(&self, session: SessionId, stream: u64, now: Instant) -> bool {
        let mut streams = self.streams.lock();
        !streams.is_empty() && streams.get_mut(&(session, stream)).map(|at| *at = now).is_some()
    }

    /// The stream has ended. Returns whether it was among them.
    pub(crate) fn remove(&self, session: SessionId, stream: u64) -> bool {
        let mut streams = self.streams.lock();
        !streams.is_empty() && streams.remove(&(session, stream)).is_some()
    }

    /// The session has ended.
    pub(crate) fn forget(&self, session: SessionId) {
        self.streams.lock().retain(|(other, _), _| *other != session);
    }

    /// Forgets those of which no event was refused for `time`: not every stream ends. Called when what was stored of them is deleted.
    pub(crate) fn sweep(&self, now: Instant, time: Duration) {
        self.streams.lock().retain(|_, at| now.duration_since(*at) <= time);
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
        assert!(incomplete.remove(session, 3));
        incomplete.sweep(started + time + time / 2, time);
        let left: Vec<_> = incomplete.streams.lock().keys().copied().collect();
        assert_eq!(left, [(session, 2)]);
        incomplete.forget(session);
        assert!(!incomplete.refuses(session, 2, started));
    }
}
