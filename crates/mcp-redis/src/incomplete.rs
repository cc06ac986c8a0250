//! Streams of which an event could not be stored.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_store::SessionId;
use agentwire_sync::Mutex;

/// How many streams are among them at least before old ones are looked for.
const FEW: usize = 1024;

/// Streams that take no further events until they end: a client that resumed one would miss an event. They are deleted.
#[derive(Clone, Debug)]
pub(crate) struct Incomplete {
    /// How long a stream is one of them at least after an event of it was refused. By then a client cannot resume what was before.
    time: Duration,
    streams: Arc<Mutex<Streams>>,
}

#[derive(Debug, Default)]
struct Streams {
    /// When an event of each was refused last.
    refused: HashMap<(SessionId, u64), Instant>,
    /// With so many, old ones are looked for: not every stream ends.
    sweep_at: usize,
}

impl Incomplete {
    pub(crate) fn new(time: Duration) -> Self {
        Self { time, streams: Arc::default() }
    }

    /// Returns whether it was not among them.
    pub(crate) fn add(&self, session: SessionId, stream: u64, now: Instant) -> bool {
        let streams = &mut *self.streams.lock();
        if streams.refused.len() >= streams.sweep_at.max(FEW) {
            streams.refused.retain(|_, at| now.duration_since(*at) <= self.time);
            streams.sweep_at = 2 * streams.refused.len();
        }
        streams.refused.insert((session, stream), now).is_none()
    }

    /// Returns whether an event of a stream is refused `now`, because one before it was.
    pub(crate) fn refuses(&self, session: SessionId, stream: u64, now: Instant) -> bool {
        let refused = &mut self.streams.lock().refused;
        if refused.is_empty() {
            return false;
        }
        refused.get_mut(&(session, stream)).map(|at| *at = now).is_some()
    }

    /// The stream has ended. Returns whether it was among them.
    pub(crate) fn remove(&self, session: SessionId, stream: u64) -> bool {
        let refused = &mut self.streams.lock().refused;
        !refused.is_empty() && refused.remove(&(session, stream)).is_some()
    }

    /// The session has ended.
    pub(crate) fn forget(&self, session: SessionId) {
        self.streams.lock().refused.retain(|(other, _), _| *other != session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_do_not_end_are_forgotten() {
        let (incomplete, time) = (Incomplete::new(Duration::from_secs(60)), Duration::from_secs(1));
        let session = SessionId::random().unwrap();
        let started = Instant::now();
        for (stream, seconds) in (0..10 * FEW as u64).zip(0..) {
            assert!(incomplete.add(session, stream, started + seconds * time));
            assert!(incomplete.refuses(session, 0, started + seconds * time), "it is in use");
        }
        assert!(incomplete.streams.lock().refused.len() <= 2 * FEW);
        assert!(incomplete.remove(session, 10 * FEW as u64 - 1));
        incomplete.forget(session);
        assert!(incomplete.streams.lock().refused.is_empty());
    }
}
