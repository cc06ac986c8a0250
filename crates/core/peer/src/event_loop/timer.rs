//! One timer for an event loop's earliest deadline. It starts a new sleep only for an earlier deadline.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use std::time::Instant;

use crate::clock::Clock;

/// A timer for the earliest of several deadlines.
///
/// A new sleep is started only for an earlier deadline. If the deadline moves later, the timer completes too early.
#[derive(Default)]
pub struct Timer {
    alarm: Option<Alarm>,
}

struct Alarm {
    at: Instant,
    sleep: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Timer {
    /// Returns whether the timer has completed; otherwise it wakes the task of `cx` at the deadline or before.
    pub fn poll(&mut self, cx: &mut Context<'_>, clock: &dyn Clock, deadline: Instant) -> bool {
        if self.alarm.as_ref().is_none_or(|alarm| alarm.at > deadline) {
            self.alarm = Some(Alarm { at: deadline, sleep: clock.sleep_until(deadline) });
        }
        let has_rung = self.alarm.as_mut().is_some_and(|alarm| alarm.sleep.as_mut().poll(cx).is_ready());
        if has_rung {
            self.alarm = None;
        }
        has_rung
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").field("at", &self.alarm.as_ref().map(|alarm| alarm.at)).finish()
    }
}
