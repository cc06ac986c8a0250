//! A node's memory of a session whose id carries all that another node needs to continue it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::server::nodes::record::readiness::Readiness;

/// A node's memory of a session whose id is sealed.
#[derive(Debug)]
pub(crate) struct SealedSession {
    /// The end of its life, since 1970.
    expires: Duration,
    /// The tick at which it was looked up whether the session has ended at another node.
    looked: AtomicU32,
    pub(in crate::server::nodes) readiness: Readiness,
}

impl SealedSession {
    pub(crate) fn new(expires: Duration, now: u32) -> Box<Self> {
        Box::new(Self { expires, looked: AtomicU32::new(now), readiness: Readiness::default() })
    }

    /// The end of its life, since 1970.
    pub(crate) fn expires(&self) -> Duration {
        self.expires
    }

    /// Whether it should be looked up at tick `now` whether the session has ended at another node.
    pub(crate) fn is_due(&self, now: u32, every: u32) -> bool {
        let is_due = now.wrapping_sub(self.looked.load(Ordering::Relaxed)) >= every;
        if is_due {
            self.looked.store(now, Ordering::Relaxed);
        }
        is_due
    }
}
