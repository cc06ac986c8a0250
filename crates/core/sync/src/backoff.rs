//! The pauses between failed attempts: they double, have jitter, and the attempts in a row are limited.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

/// How often to retry after a failure, and how long to pause before each attempt.
///
/// The pause doubles with each consecutive failure, up to the longest. Each pause is shortened by a random part of at most
/// half, so that programs that failed together do not try again together. A success that lasts resets the count.
///
/// ```
/// use std::time::Duration;
///
/// use agentwire_sync::Backoff;
///
/// let backoff = Backoff::new(2).pauses(Duration::from_secs(1), Duration::from_secs(30));
/// let mut failures = 0;
/// let short = Duration::from_millis(20);
/// assert!(backoff.after_failure(&mut failures, short).is_some_and(|pause| pause <= Duration::from_secs(1)));
/// assert!(backoff.after_failure(&mut failures, short).is_some_and(|pause| pause >= Duration::from_secs(1)));
/// assert_eq!(backoff.after_failure(&mut failures, short), None, "two attempts are the limit");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    limit: u32,
    first: Duration,
    longest: Duration,
    reset_after: Duration,
}

impl Default for Backoff {
    /// Tries again up to 5 times.
    fn default() -> Self {
        Self::new(5)
    }
}

impl Backoff {
    /// Tries again up to `limit` times in a row, after pauses of up to 500 ms, 1 s, 2 s and so on up to 30 s.
    pub const fn new(limit: u32) -> Self {
        Self {
            limit,
            first: Duration::from_millis(500),
            longest: Duration::from_secs(30),
            reset_after: Duration::from_secs(60),
        }
    }

    /// Sets the longest first pause (default 500 ms) and the longest pause of all (default 30 s). A pause lasts between half
    /// of its length and all of it, at random.
    #[must_use]
    pub const fn pauses(mut self, first: Duration, longest: Duration) -> Self {
        (self.first, self.longest) = (first, longest);
        self
    }

    /// Sets how long a success lasts before the count of failures starts again (default 1 min).
    #[must_use]
    pub const fn reset_after(mut self, time: Duration) -> Self {
        self.reset_after = time;
        self
    }

    /// Returns the pause before the next attempt, after `failures` consecutive failures before this one. `None` if the limit
    /// is reached.
    pub fn pause(&self, failures: u32) -> Option<Duration> {
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(failures)).min(self.longest);
        (failures < self.limit).then(|| jittered(doubled))
    }

    /// Counts a failure. `success` is how long the attempt worked before it failed; zero if it never did. Returns the pause
    /// before the next attempt, or `None` if the limit is reached.
    pub fn after_failure(&self, failures: &mut u32, success: Duration) -> Option<Duration> {
        if success >= self.reset_after && !success.is_zero() {
            *failures = 0;
        }
        let pause = self.pause(*failures)?;
        *failures += 1;
        Some(pause)
    }
}

/// Shortens a pause by a random part of at most half.
fn jittered(pause: Duration) -> Duration {
    // Halved before it is scaled, because a float of `Duration::MAX` overflows.
    pause - (pause / 2).mul_f64(random_fraction())
}

/// Returns a random number from 0 up to 1, to spread programs that would act at the same time. Not for secrets.
pub fn random_fraction() -> f64 {
    // The keys of a hash map are random enough for jitter, and need no further crate.
    let random = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(1);

    #[test]
    fn pauses_double_with_jitter_up_to_the_longest() {
        let backoff = Backoff::new(u32::MAX).pauses(Duration::from_secs(1), Duration::from_secs(5));
        for (failures, longest) in [(0, 1), (1, 2), (2, 4), (3, 5), (40, 5)] {
            let longest = Duration::from_secs(longest);
            let pauses: Vec<_> = (0..50).map(|_| backoff.pause(failures).unwrap()).collect();
            assert!(pauses.iter().all(|pause| (longest / 2..=longest).contains(pause)), "{pauses:?}");
            assert!(pauses.iter().any(|pause| *pause != pauses[0]), "{pauses:?} are all the same");
        }
    }

    #[test]
    fn limit_counts_consecutive_failures_and_a_lasting_success_resets_it() {
        let backoff = Backoff::new(2).reset_after(Duration::from_secs(10));
        let mut failures = 0;
        assert!(backoff.after_failure(&mut failures, SHORT).is_some());
        assert!(backoff.after_failure(&mut failures, SHORT).is_some());
        assert!(backoff.after_failure(&mut failures, SHORT).is_none());
        assert!(backoff.after_failure(&mut failures, Duration::from_secs(10)).is_some());
        assert_eq!(failures, 1);
        assert_eq!(Backoff::new(0).pause(0), None);

        // An attempt that never succeeded resets no count.
        let backoff = Backoff::new(1).reset_after(Duration::ZERO);
        let mut failures = 0;
        assert!(backoff.after_failure(&mut failures, Duration::ZERO).is_some());
        assert!(backoff.after_failure(&mut failures, Duration::ZERO).is_none());
    }

    #[test]
    fn no_setting_overflows() {
        let backoff = Backoff::new(u32::MAX).pauses(Duration::MAX, Duration::MAX);
        assert!(backoff.pause(u32::MAX - 1).unwrap() >= Duration::MAX / 2 - Duration::from_secs(1));
    }
}
