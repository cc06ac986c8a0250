//! What a node remembers of a session whose id carries what another node needs to go on with it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// What a node remembers of a session whose id is sealed.
#[derive(Debug)]
pub(crate) struct SealedSession {
    /// The end of its life, since 1970.
    expires: Duration,
    /// Whether its service has been told that the client is ready.
    initialized: AtomicBool,
    /// The tick at which it was looked up whether the session has ended at another node.
    looked: AtomicU32,
}

impl SealedSession {
    /// `is_initialized` says whether its service has been told that the client is ready.
    pub(super) fn new(expires: Duration, is_initialized: bool, now: u32) -> Box<Self> {
        let (initialized, looked) = (AtomicBool::new(is_initialized), AtomicU32::new(now));
        Box::new(Self { expires, initialized, looked })
    }

    /// The end of its life, since 1970.
    pub(crate) fn expires(&self) -> Duration {
        self.expires
    }

    /// Notes that the service is told that the client is ready. Returns whether it had been told.
    pub(super) fn set_initialized(&self) -> bool {
        self.initialized.load(Ordering::Relaxed) || self.initialized.swap(true, Ordering::SeqCst)
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
