//! Computes the delay before an SSE stream is resumed from the server's `retry`, the configured limits and consecutive failures.
//! Adds up to a quarter of random delay.

use std::time::Duration;

use agentwire_sync::random_fraction;

use crate::client::Config;

/// The shortest wait, whatever the configuration.
const LEAST: Duration = Duration::from_millis(10);

/// The delay before a stream is resumed, and the number of attempts. [`agentwire_sync::Backoff`] has no floor that the server
/// sets, and its random part shortens a pause.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    /// The server's `retry`.
    retry: Option<Duration>,
    /// How many times in a row the stream could not be opened, or brought nothing.
    failures: u32,
    /// How many times in a row it could not be opened.
    refusals: u32,
    /// How many times in a row it ended without having brought a message.
    fruitless: u32,
}

impl Backoff {
    /// Whether the server has sent `retry`.
    pub(crate) fn has_retry(&self) -> bool {
        self.retry.is_some()
    }

    pub(crate) fn failures(&self) -> u32 {
        self.failures
    }

    /// The stream brought nothing.
    pub(crate) fn failed(&mut self) {
        self.failures += 1;
    }

    /// The stream could not be opened.
    pub(crate) fn refused(&mut self) {
        self.failures += 1;
        self.refusals += 1;
    }

    pub(crate) fn opened(&mut self) {
        self.refusals = 0;
    }

    /// The stream brought an event.
    pub(crate) fn event(&mut self, retry: Option<Duration>) {
        self.retry = retry.or(self.retry);
        (self.failures, self.refusals) = (0, 0);
    }

    /// An event had a message.
    pub(crate) fn message(&mut self) {
        self.fruitless = 0;
    }

    /// Returns how long to wait before the stream is resumed. `None` if the server's `retry` exceeds the longest wait, or if
    /// the failures exceed [`Config::retries`]. For a stream that `is_kept`, only consecutive refusals count as failures.
    pub(crate) fn delay(&mut self, config: &Config, is_kept: bool) -> Option<Duration> {
        let (failures, counted) = match is_kept {
            true => (self.failures.min(config.retries), self.refusals),
            false => (self.failures, self.failures),
        };
        let delay = delay(config, self.retry, failures, self.fruitless);
        self.fruitless += 1;
        delay.filter(|_| counted <= config.retries)
    }
}

/// Returns how long to wait after `failures` consecutive failures and `fruitless` consecutive streams without a message.
/// `retry` is that of the server. `None` if it exceeds the longest wait.
fn delay(config: &Config, retry: Option<Duration>, failures: u32, fruitless: u32) -> Option<Duration> {
    let longest = config.longest_retry_delay;
    // The server's `retry` has a floor: with `retry: 0` it would be polled as often as it can answer.
    let least = if retry.is_some() { config.shortest_retry_delay.max(LEAST) } else { LEAST };
    if retry.is_some_and(|retry| retry > longest) {
        return None;
    }
    let base = match (retry, failures) {
        // A server that asks for no wait and then sends nothing is polled as seldom as one that names no time.
        (Some(retry), 0) => retry.max(least.saturating_mul(1 << fruitless.min(16)).min(config.retry_delay)),
        (retry, _) => {
            let doubled = config.retry_delay.saturating_mul(1 << failures.saturating_sub(1).min(16));
            doubled.min(longest).max(retry.unwrap_or_default())
        }
    };
    // The server's `retry` is a minimum, so the random part is only added.
    let base = base.max(least);
    Some(base + base.mul_f64(random_fraction() / 4.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_and_never_undercut_the_server() {
        let config = Config::new("http://localhost/").unwrap().longest_retry_delay(Duration::from_secs(4));
        let millis = Duration::from_millis;
        let between = |delay: Duration, from: u64| {
            assert!(delay >= millis(from) && delay <= millis(from).mul_f64(1.26), "{delay:?} for {from} ms");
        };
        let within = |retry, failures, from| between(delay(&config, retry, failures, 0).unwrap(), from);
        within(Some(millis(150)), 0, 150);
        within(Some(Duration::ZERO), 0, 100);
        within(None, 0, 500);
        within(None, 1, 500);
        within(None, 2, 1000);
        within(None, 100, 4000);
        within(Some(millis(3000)), 1, 3000);
        assert_eq!(delay(&config, Some(millis(4001)), 0, 0), None);
        for (fruitless, from) in [(0, 100), (1, 200), (2, 400), (3, 500), (99, 500)] {
            between(delay(&config, Some(Duration::ZERO), 0, fruitless).unwrap(), from);
        }
        between(delay(&config, Some(millis(700)), 0, 99).unwrap(), 700);
    }
}
