//! This node's state of a session with a sealed id: when it expires, and when its end was last looked up.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::server::nodes::record::readiness::Readiness;

/// This node's state of a session with a sealed id.
#[derive(Debug)]
pub(crate) struct SealedSession {
    /// The time at which the session expires, since 1970.
    expires: Duration,
    /// The tick of the last look-up of the session's end at other nodes.
    looked: AtomicU32,
    pub(in crate::server::nodes) readiness: Readiness,
}

impl SealedSession {
    pub(crate) fn new(expires: Duration, now: u32) -> Box<Self> {
        Box::new(Self { expires, looked: AtomicU32::new(now), readiness: Readiness::default() })
    }

    /// The time at which the session expires, since 1970.
    pub(crate) fn expires(&self) -> Duration {
        self.expires
    }

    /// Returns whether to look up at tick `now` that the session has ended at another node, and notes the look-up.
    pub(crate) fn is_due(&self, now: u32, every: u32) -> bool {
        let is_due = now.wrapping_sub(self.looked.load(Ordering::Relaxed)) >= every;
        if is_due {
            self.looked.store(now, Ordering::Relaxed);
        }
        is_due
    }
}
