//! The clock by which a store of one process expires records and names.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The clock by which a store of one process expires records and names. Clones are one clock.
///
/// It begins with the time of the system, and counts on its own from there: a change of the system's time expires nothing until
/// the process starts again.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Milliseconds since 1970 at `began`.
    base: u64,
    /// `None` if only [`Clock::advance`] moves the clock.
    began: Option<Instant>,
    advanced: AtomicU64,
}

impl Clock {
    /// The clock of the system.
    pub fn system() -> Self {
        Self::new(Some(Instant::now()))
    }

    /// A clock that stands still between calls of [`advance`](Self::advance), for tests.
    pub fn manual() -> Self {
        Self::new(None)
    }

    fn new(began: Option<Instant>) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(Arc::new(Inner { base: millis(since), began, advanced: AtomicU64::new(0) }))
    }

    /// Moves the clock forward, in addition to the time that passes.
    pub fn advance(&self, time: Duration) {
        self.0.advanced.fetch_add(millis(time), Ordering::Relaxed);
    }

    /// Milliseconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        let passed = self.0.began.map_or(0, |began| millis(began.elapsed()));
        self.0.base + passed + self.0.advanced.load(Ordering::Relaxed)
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

/// Whole milliseconds, at most half of what the type holds, so that sums of two do not overflow.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).min(u64::MAX >> 2)
}
