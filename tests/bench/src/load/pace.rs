//! The sizes of a run, and the median.

use std::time::Duration;

use super::stdio::wire::Window;

/// The sizes of a run: full for numbers to publish, quick to notice a regression.
pub(crate) struct Pace {
    /// Samples of each subject and scenario, each from a new process; the table shows the median.
    pub(crate) repetitions: usize,
    pub(crate) window: Window,
    /// Notifications in a burst.
    pub(crate) burst: u64,
    /// Bursts for each program; their median is one sample.
    pub(crate) bursts: u64,
    /// The number of idle sessions.
    pub(crate) sessions: usize,
}

impl Pace {
    pub(crate) fn full() -> Self {
        let window = Window { warm_up: Duration::from_millis(300), measured: Duration::from_millis(1000) };
        Self { repetitions: 5, window, burst: 100_000, bursts: 3, sessions: 10_000 }
    }

    pub(crate) fn quick() -> Self {
        let window = Window { warm_up: Duration::from_millis(100), measured: Duration::from_millis(300) };
        Self { repetitions: 3, window, burst: 100_000, bursts: 1, sessions: 2_000 }
    }
}

/// The median; of an even number of values the upper of the two in the middle. 0 without values.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
