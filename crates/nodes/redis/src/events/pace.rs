//! Adapts the size and the time-out of the writer's pipelines, so that each attempt makes progress on a slow connection.

use std::time::Duration;

/// The most bytes of one pipeline.
const MAX_BYTES: usize = 1 << 20;
/// The bytes of one pipeline below which smaller ones do not help.
const MIN_BYTES: usize = 64 << 10;
/// The longest time-out of a pipeline, as a multiple of a command's time-out.
const MAX_FACTOR: u32 = 8;

/// The size of the next pipeline and its time-out. After a pipeline that timed out the size halves. At the smallest size the time-out
/// doubles.
#[derive(Debug)]
pub(crate) struct Pace {
    bytes: usize,
    factor: u32,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self { bytes: MAX_BYTES, factor: 1 }
    }

    /// The number of messages of these sizes that the next pipeline takes: at least one.
    pub(crate) fn count(&self, sizes: impl Iterator<Item = usize>) -> usize {
        let mut bytes = 0_usize;
        let fits = |size: &usize| {
            bytes = bytes.saturating_add(*size);
            bytes <= self.bytes
        };
        sizes.take_while(fits).count().max(1)
    }

    /// The time-out of the next pipeline, for a command's time-out of `timeout`, and whether it is the longest.
    pub(crate) fn next_timeout(&self, timeout: Duration) -> (Duration, bool) {
        (timeout * self.factor, self.factor == MAX_FACTOR)
    }

    /// The longest time-out of a pipeline.
    pub(crate) fn longest(timeout: Duration) -> Duration {
        timeout * MAX_FACTOR
    }

    /// Called when a pipeline was answered. The size grows slowly, so that few attempts are too large.
    pub(crate) fn succeed(&mut self, is_quick: bool) {
        self.bytes = (self.bytes + MIN_BYTES).min(MAX_BYTES);
        if is_quick {
            self.factor = 1;
        }
    }

    /// Called when a pipeline timed out. `is_single` is true if it had a single message.
    pub(crate) fn fail(&mut self, is_single: bool) {
        if is_single || self.bytes == MIN_BYTES {
            self.factor = (self.factor * 2).min(MAX_FACTOR);
        } else {
            self.bytes = (self.bytes / 2).max(MIN_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_shrinks_and_then_the_timeout_grows() {
        let mut pace = Pace::new();
        let count = |pace: &Pace, size| pace.count([size; 100].into_iter());
        assert_eq!((count(&pace, 100 << 10), count(&pace, 2 << 20)), (10, 1));
        for expected in [5, 2, 1, 1] {
            pace.fail(false);
            assert_eq!(count(&pace, 100 << 10), expected);
        }
        assert_eq!(count(&pace, 1 << 10), 64);
        let second = Duration::from_secs(1);
        for (factor, is_longest) in [(2, false), (4, false), (8, true), (8, true)] {
            pace.fail(true);
            assert_eq!(pace.next_timeout(second), (second * factor, is_longest));
        }
        assert_eq!(Pace::longest(second), second * 8);
        pace.succeed(false);
        assert_eq!((pace.next_timeout(second).0, count(&pace, 1 << 10)), (second * 8, 100));
        pace.succeed(true);
        assert_eq!(pace.next_timeout(second), (second, false));
    }
}
