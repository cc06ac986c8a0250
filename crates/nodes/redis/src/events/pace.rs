//! How much the writer of events sends at once, so that each attempt makes progress on a slow connection.

use std::time::Duration;

/// The most bytes of one pipeline.
const MOST: usize = 1 << 20;
/// The bytes of one pipeline below which smaller ones do not help.
const LEAST: usize = 64 << 10;
/// How many times the time-out of a command a pipeline may take at most.
const PATIENCE: u32 = 8;

/// The bytes of the next pipeline and its time-out. Fewer bytes after one that had no answer, then a longer time-out.
#[derive(Debug)]
pub(crate) struct Pace {
    bytes: usize,
    patience: u32,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self { bytes: MOST, patience: 1 }
    }

    /// How many messages of these sizes are sent next: one at least.
    pub(crate) fn count(&self, sizes: impl Iterator<Item = usize>) -> usize {
        let mut bytes = 0_usize;
        let fits = |size: &usize| {
            bytes = bytes.saturating_add(*size);
            bytes <= self.bytes
        };
        sizes.take_while(fits).count().max(1)
    }

    /// The time-out of a pipeline, where that of a command is `timeout`, and whether it grows no more.
    pub(crate) fn next_timeout(&self, timeout: Duration) -> (Duration, bool) {
        (timeout * self.patience, self.patience == PATIENCE)
    }

    /// The longest of these.
    pub(crate) fn longest(timeout: Duration) -> Duration {
        timeout * PATIENCE
    }

    /// A pipeline was answered. Grows slowly, so that few attempts are too large.
    pub(crate) fn succeed(&mut self, is_quick: bool) {
        self.bytes = (self.bytes + LEAST).min(MOST);
        if is_quick {
            self.patience = 1;
        }
    }

    /// A pipeline had no answer in its time.
    pub(crate) fn fail(&mut self, is_single: bool) {
        if is_single || self.bytes == LEAST {
            self.patience = (self.patience * 2).min(PATIENCE);
        } else {
            self.bytes = (self.bytes / 2).max(LEAST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sends_less_at_once_and_then_waits_longer() {
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
