use std::time::Duration;

use agentwire_peer::{Clock, TokioClock};
use futures_util::future::Either;

/// Completes after that time, or never where the clock cannot count so far.
pub(crate) fn sleep(time: Duration) -> impl Future<Output = ()> + Unpin + Send {
    let clock = TokioClock::default();
    match clock.now().checked_add(time) {
        Some(deadline) => Either::Left(clock.sleep_until(deadline)),
        None => Either::Right(std::future::pending()),
    }
}
