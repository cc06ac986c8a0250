//! How long and how often to measure.

use std::time::Duration;

use super::wire::Window;

/// The sizes of a run: a full one for numbers to keep, a quick one to see a regression.
pub(crate) struct Pace {
    /// Fresh programs for each subject and scenario; the table shows the median.
    pub(crate) repetitions: usize,
    pub(crate) window: Window,
    /// Notifications in a burst.
    pub(crate) burst: u64,
    /// Bursts for each program; their median is one sample.
    pub(crate) bursts: u64,
    /// How long the client stops reading.
    pub(crate) stall: Duration,
    /// Idle sessions at once.
    pub(crate) sessions: usize,
}

impl Pace {
    pub(crate) fn full() -> Self {
        let window = Window { warm_up: Duration::from_millis(300), measured: Duration::from_millis(1000) };
        Self {
            repetitions: 5,
            window,
            burst: 100_000,
            bursts: 3,
            stall: Duration::from_secs(5),
            sessions: 10_000,
        }
    }

    pub(crate) fn quick() -> Self {
        let window = Window { warm_up: Duration::from_millis(100), measured: Duration::from_millis(300) };
        Self {
            repetitions: 3,
            window,
            burst: 100_000,
            bursts: 1,
            stall: Duration::from_secs(2),
            sessions: 2_000,
        }
    }
}

/// The middle value; of an even number, the upper of the two in the middle. Zero when there is none.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
