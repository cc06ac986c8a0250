use std::future::Future;
use std::pin::Pin;
use std::time::Instant;

/// Where a driver takes the time from. A runtime's timer, or a pretended one in a test.
pub trait Clock: Send + Sync {
    /// The time.
    fn now(&self) -> Instant;

    /// Completes at `deadline`, or at once if that is past.
    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// The clock of the tokio runtime, which tests can pause.
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
