//! Streams of which an event could not be stored.

use std::collections::HashSet;
use std::sync::Arc;

use agentwire_store::SessionId;
use agentwire_sync::Mutex;

/// Streams that take no further events until they end: a client that resumed one would miss an event. They are deleted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Incomplete(Arc<Mutex<HashSet<(SessionId, u64)>>>);

impl Incomplete {
    /// Returns whether it was not among them.
    pub(crate) fn add(&self, session: SessionId, stream: u64) -> bool {
        self.0.lock().insert((session, stream))
    }

    pub(crate) fn contains(&self, session: SessionId, stream: u64) -> bool {
        self.0.lock().contains(&(session, stream))
    }

    /// The stream has ended. Returns whether it was among them.
    pub(crate) fn remove(&self, session: SessionId, stream: u64) -> bool {
        let mut streams = self.0.lock();
        !streams.is_empty() && streams.remove(&(session, stream))
    }

    /// The session has ended.
    pub(crate) fn forget(&self, session: SessionId) {
        self.0.lock().retain(|(other, _)| *other != session);
    }
}
