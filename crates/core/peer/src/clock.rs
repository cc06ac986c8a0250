//! The trait through which a driver reads the time and sleeps, and its implementation for tokio.

use std::future::{Future, pending};
use std::pin::Pin;
use std::time::{Duration, Instant};

/// The source of time for a driver: a runtime's timer, or a virtual one in a test.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Instant;

    /// Returns a future that completes at `deadline`, or at once if that is past.
    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// Returns a future that completes after `time`. It never completes if the clock cannot represent that time.
    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.now().checked_add(time).map_or_else(|| Box::pin(pending()) as _, |end| self.sleep_until(end))
    }
}

/// The clock of the tokio runtime. Tests can pause it.
#[cfg(feature = "tokio")]
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TokioClock;

#[cfg(feature = "tokio")]
impl Clock for TokioClock {
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(tokio::time::sleep_until(deadline.into()))
    }
}
